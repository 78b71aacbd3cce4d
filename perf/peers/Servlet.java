import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.MinimalPrettyPrinter;
import com.fasterxml.jackson.databind.ObjectMapper;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.OffsetDateTime;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

/**
 * The settlement lines of a PostgreSQL database as NDJSON, as a Java house would stream them: JDBC with a
 * cursor of 1,000 rows, Jackson, Tomcat. {@code /lines?flush=N} flushes after every N lines.
 *
 * <p>Arguments: the database's JDBC URL, a directory for what Tomcat puts down. Prints the port that it
 * listens on.
 */
public final class Servlet extends HttpServlet {
    private static final int FETCH = 1_000;
    private static final String LINES =
            "SELECT id, merchant_id, merchant_name, order_no, product, kind, method, status, gross, fee, vat,"
                    + " net, paid_at, settle_on FROM settlement_lines ORDER BY paid_at, id";

    private final transient ObjectMapper mapper = new ObjectMapper(new JsonFactory());
    private final String url;

    private Servlet(String url) {
        this.url = url;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        int flush = Integer.parseInt(request.getParameter("flush"));
        response.setContentType("application/x-ndjson");
        try (Connection database = DriverManager.getConnection(url)) {
            database.setAutoCommit(false);
            try (Statement statement = database.createStatement()) {
                statement.setFetchSize(FETCH);
                try (ResultSet rows = statement.executeQuery(LINES)) {
                    write(rows, response.getOutputStream(), flush);
                }
            }
        } catch (SQLException cause) {
            throw new IOException(cause);
        }
    }

    private void write(ResultSet rows, OutputStream out, int flush) throws SQLException, IOException {
        try (JsonGenerator json = mapper.getFactory().createGenerator(out)) {
            json.disable(JsonGenerator.Feature.FLUSH_PASSED_TO_STREAM);
            json.setPrettyPrinter(new MinimalPrettyPrinter("\n"));
            long lines = 0;
            while (rows.next()) {
                json.writeStartObject();
                json.writeNumberField("id", rows.getLong(1));
                json.writeNumberField("merchant_id", rows.getLong(2));
                json.writeStringField("merchant_name", rows.getString(3));
                json.writeStringField("order_no", rows.getString(4));
                json.writeStringField("product", rows.getString(5));
                json.writeStringField("kind", rows.getString(6));
                json.writeStringField("method", rows.getString(7));
                json.writeStringField("status", rows.getString(8));
                json.writeNumberField("gross", rows.getLong(9));
                json.writeNumberField("fee", rows.getLong(10));
                json.writeNumberField("vat", rows.getLong(11));
                json.writeNumberField("net", rows.getLong(12));
                json.writeStringField("paid_at", rows.getObject(13, OffsetDateTime.class).toString());
                json.writeStringField("settle_on", rows.getString(14));
                json.writeEndObject();
                lines += 1;
                if (lines % flush == 0) {
                    json.flush();
                    out.flush();
                }
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(arguments[1]);
        tomcat.setPort(0);
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        Context context = tomcat.addContext("", null);
        Tomcat.addServlet(context, "lines", new Servlet(arguments[0]));
        context.addServletMappingDecoded("/lines", "lines");
        tomcat.start();
        System.out.println(tomcat.getConnector().getLocalPort());
        // Until whoever started it lets go.
        while (System.in.read() >= 0) {
            Thread.onSpinWait();
        }
        System.exit(0);
    }
}
