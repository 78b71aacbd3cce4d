// Ledgers as PDFs in a ZIP file, by PDFBox: the layout of the server's own ledger, with its fonts parsed
// once and kept.
//
// Usage: java Bundle REGULAR.ttf BOLD.ttf ROWS.ndjson. For every line on standard input, the name of a file,
// it writes the archive there and prints the milliseconds it took. It ends with its input.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.fontbox.ttf.TTFParser;
import org.apache.fontbox.ttf.TrueTypeFont;
import org.apache.pdfbox.pdmodel.PDDocument;
import org.apache.pdfbox.pdmodel.PDPage;
import org.apache.pdfbox.pdmodel.PDPageContentStream;
import org.apache.pdfbox.pdmodel.common.PDRectangle;
import org.apache.pdfbox.pdmodel.font.PDFont;
import org.apache.pdfbox.pdmodel.font.PDType0Font;

public final class Bundle {
    private static final float MARGIN = 42.52f;
    private static final float LEADING = 1.4f;
    private static final float PAD = 3f;
    private static final float ROOM = 2f;
    private static final DecimalFormat MONEY =
            new DecimalFormat("#,##0", DecimalFormatSymbols.getInstance(Locale.ROOT));

    private final TrueTypeFont regularFile;
    private final TrueTypeFont boldFile;

    private Bundle(File regular, File bold) throws IOException {
        regularFile = new TTFParser().parse(regular);
        boldFile = new TTFParser().parse(bold);
    }

    public static void main(String[] args) throws IOException {
        Bundle bundle = new Bundle(new File(args[0]), new File(args[1]));
        List<JsonNode> rows = new ArrayList<>();
        ObjectMapper mapper = new ObjectMapper();
        for (String line : Files.readAllLines(Path.of(args[2]), StandardCharsets.UTF_8)) {
            rows.add(mapper.readTree(line));
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String file = in.readLine(); file != null; file = in.readLine()) {
            long begun = System.nanoTime();
            bundle.write(new File(file), rows);
            System.out.println((System.nanoTime() - begun) / 1_000);
        }
    }

    private void write(File file, List<JsonNode> rows) throws IOException {
        try (ZipOutputStream zip =
                new ZipOutputStream(new BufferedOutputStream(new FileOutputStream(file)))) {
            // The PDFs are compressed already.
            zip.setLevel(0);
            for (JsonNode row : rows) {
                ByteArrayOutputStream pdf = new ByteArrayOutputStream();
                try (Ledger ledger = new Ledger(row)) {
                    ledger.write(pdf);
                }
                String name = row.get("number").asText() + " " + row.get("title").asText() + ".pdf";
                zip.putNextEntry(new ZipEntry(name));
                pdf.writeTo(zip);
                zip.closeEntry();
            }
        }
    }

    /** One document. */
    private final class Ledger implements AutoCloseable {
        private final PDDocument document = new PDDocument();
        private final JsonNode row;
        private final PDFont regular;
        private final PDFont bold;
        private final List<PDPage> pages = new ArrayList<>();
        private PDPageContentStream content;
        private float y;

        Ledger(JsonNode row) throws IOException {
            this.row = row;
            regular = PDType0Font.load(document, regularFile, true);
            bold = PDType0Font.load(document, boldFile, true);
            document.getDocumentInformation().setTitle(row.get("title").asText());
        }

        void write(ByteArrayOutputStream out) throws IOException {
            float width = PDRectangle.A4.getWidth() - 2 * MARGIN;
            nextPage();
            JsonNode said = row.get("content");
            float heading = 15.3f;
            String title = row.get("title").asText();
            text(title, bold, heading, MARGIN + (width - width(title, bold, heading)) / 2);
            y -= LEADING * heading + 8.5f;
            String[][] fields = {
                {"문서번호", row.get("number").asText(), "작성일", row.get("created_at").asText().substring(0, 10)},
                {"현장", said.get("site").asText(), "시공사", said.get("contractor").asText()},
                {"시작일", said.get("from").asText(), "종료일", said.get("to").asText()},
            };
            float half = width / 2;
            float[] sides = {half * 0.3f, half * 0.7f, half * 0.3f, half * 0.7f};
            for (String[] line : fields) {
                cells(line, sides, 8.5f, MARGIN, new boolean[] {true, false, true, false}, "lclc");
            }
            y -= 8.5f;
            float[] shares = {width * 0.16f, width * 0.52f, width * 0.14f, width * 0.18f};
            String[] header = {"일자", "적요", "수량", "금액"};
            boolean[] shaded = {true, true, true, true};
            cells(header, shares, 8, MARGIN, shaded, "cccc");
            long sum = 0;
            for (JsonNode line : said.get("rows")) {
                if (y - height(8) < MARGIN) {
                    nextPage();
                    cells(header, shares, 8, MARGIN, shaded, "cccc");
                }
                long amount = line.get("amount").asLong();
                sum += amount;
                String[] cells = {
                    line.get("date").asText(),
                    line.get("item").asText(),
                    line.get("quantity").asText(),
                    MONEY.format(amount),
                };
                cells(cells, shares, 8, MARGIN, new boolean[4], "clrr");
            }
            y -= 8.5f;
            float[] totals = {half * 0.3f, half * 0.7f};
            String[] total = {"합계", MONEY.format(sum) + "원"};
            cells(total, totals, 8.5f, MARGIN + half, new boolean[] {true, false}, "lr");
            y -= 8.5f;
            float third = width / 3;
            float[] thirds = {third, third, third};
            cells(new String[] {"작성", "검토", "승인"}, thirds, 8.5f, MARGIN, new boolean[] {true, true, true}, "ccc");
            for (int box = 0; box < 3; box++) {
                content.addRect(MARGIN + third * box, y - 51.6f, third, 51.6f);
            }
            content.stroke();
            content.close();
            number(width);
            document.save(out);
        }

        private void number(float width) throws IOException {
            for (int page = 0; page < pages.size(); page++) {
                PDPageContentStream foot =
                        new PDPageContentStream(
                                document, pages.get(page), PDPageContentStream.AppendMode.APPEND, true);
                String said = (page + 1) + " / " + pages.size();
                foot.beginText();
                foot.setFont(regular, 7.65f);
                foot.newLineAtOffset(MARGIN + (width - width(said, regular, 7.65f)) / 2, MARGIN / 2);
                foot.showText(said);
                foot.endText();
                foot.close();
            }
        }

        private void nextPage() throws IOException {
            if (content != null) {
                content.close();
            }
            PDPage page = new PDPage(PDRectangle.A4);
            document.addPage(page);
            pages.add(page);
            content = new PDPageContentStream(document, page);
            content.setLineWidth(0.4f);
            y = PDRectangle.A4.getHeight() - MARGIN;
        }

        private void cells(
                String[] texts, float[] widths, float size, float left, boolean[] shaded, String aligns)
                throws IOException {
            List<List<String>> lines = new ArrayList<>();
            int most = 1;
            for (int cell = 0; cell < texts.length; cell++) {
                PDFont font = shaded[cell] ? bold : regular;
                lines.add(wrap(texts[cell], font, size, widths[cell] - 2 * PAD));
                most = Math.max(most, lines.get(cell).size());
            }
            float height = most * LEADING * size + 2 * ROOM;
            float x = left;
            for (int cell = 0; cell < texts.length; cell++) {
                if (shaded[cell]) {
                    content.setNonStrokingColor(238f / 255);
                    content.addRect(x, y - height, widths[cell], height);
                    content.fill();
                    content.setNonStrokingColor(0f);
                }
                content.addRect(x, y - height, widths[cell], height);
                content.stroke();
                PDFont font = shaded[cell] ? bold : regular;
                float top = y - ROOM;
                for (String line : lines.get(cell)) {
                    float space = widths[cell] - 2 * PAD - width(line, font, size);
                    float indent =
                            aligns.charAt(cell) == 'r' ? space : aligns.charAt(cell) == 'c' ? space / 2 : 0;
                    content.beginText();
                    content.setFont(font, size);
                    content.newLineAtOffset(x + PAD + indent, top - 1.05f * size);
                    content.showText(line);
                    content.endText();
                    top -= LEADING * size;
                }
                x += widths[cell];
            }
            y -= height;
        }

        private float height(float size) {
            return LEADING * size + 2 * ROOM;
        }

        private void text(String said, PDFont font, float size, float x) throws IOException {
            content.beginText();
            content.setFont(font, size);
            content.newLineAtOffset(x, y - 1.05f * size);
            content.showText(said);
            content.endText();
        }

        private List<String> wrap(String said, PDFont font, float size, float width)
                throws IOException {
            List<String> lines = new ArrayList<>();
            StringBuilder line = new StringBuilder();
            for (String word : said.split(" ")) {
                String longer = line.length() == 0 ? word : line + " " + word;
                if (line.length() > 0 && width(longer, font, size) > width) {
                    lines.add(line.toString());
                    line = new StringBuilder(word);
                } else {
                    line = new StringBuilder(longer);
                }
            }
            lines.add(line.toString());
            return lines;
        }

        private float width(String said, PDFont font, float size) throws IOException {
            return font.getStringWidth(said) / 1_000 * size;
        }

        @Override
        public void close() throws IOException {
            document.close();
        }
    }
}
