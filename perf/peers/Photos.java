// Documents with pictures as large as those of a camera, the same every time.
//
// Usage: java Photos COUNT BYTES FILE. Writes rows for the table `documents` as CSV: COUNT documents with a
// JPEG of about BYTES each, and one with all of them.

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Base64;
import java.util.Random;
import javax.imageio.ImageIO;

public final class Photos {
    public static void main(String[] args) throws IOException {
        int count = Integer.parseInt(args[0]);
        int bytes = Integer.parseInt(args[1]);
        StringBuilder all = new StringBuilder();
        try (PrintWriter csv = new PrintWriter(args[2], "UTF-8")) {
            csv.print("id,project_id,number,title,kind,content,created_at\r\n");
            for (int number = 1; number <= count; number++) {
                Random random = new Random(number);
                // Noise takes about as many bytes for each pixel, so that one picture tells the size.
                double side = Math.sqrt(bytes / perPixel(random));
                byte[] jpeg = jpeg((int) (side * 1.15), (int) (side / 1.15), random);
                String photo = "\"\"" + Base64.getEncoder().encodeToString(jpeg) + "\"\"";
                row(csv, 9_000 + number, "photo", photo);
                all.append(number == 1 ? "" : ",").append(photo);
            }
            row(csv, 9_000 + count + 1, "photos", all.toString());
        }
    }

    private static void row(PrintWriter csv, int id, String kind, String photos) {
        csv.printf("%d,3,P-%d,사진,%s,", id, id, kind);
        csv.print("\"{\"\"photos\"\":[" + photos + "]}\",2026-01-05 00:00:00\r\n");
    }

    private static double perPixel(Random random) throws IOException {
        return jpeg(400, 300, random).length / (400.0 * 300.0);
    }

    private static byte[] jpeg(int width, int height, Random random) throws IOException {
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                int shade = 96 + (x * 64 / width) + random.nextInt(64);
                image.setRGB(x, y, shade << 16 | shade << 8 | (255 - shade));
            }
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ImageIO.write(image, "jpg", out);
        return out.toByteArray();
    }
}
