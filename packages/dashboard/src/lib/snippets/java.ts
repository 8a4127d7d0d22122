import { TIMESTAMP_TOLERANCE_S } from "@posthorn/protocol";
import { SECRET_VARIABLE, type SnippetParts } from "./parts.ts";

/** A receiver for Java 17 or later without dependencies. */
export const javaSnippet = ({ headers }: SnippetParts) => `import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.HexFormat;
import java.util.concurrent.Executors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import static java.nio.charset.StandardCharsets.UTF_8;

public class Receiver {
    static final String SECRET = System.getenv().getOrDefault("${SECRET_VARIABLE}", "");

    /** 200 for a genuine request, otherwise the status to refuse it with. */
    static int verify(byte[] body, String timestamp, String signature) throws GeneralSecurityException {
        if (!timestamp.matches("[0-9]{1,12}")) return 400;
        if (Math.abs(Instant.now().getEpochSecond() - Long.parseLong(timestamp)) > ${TIMESTAMP_TOLERANCE_S}) return 400;
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(SECRET.getBytes(UTF_8), "HmacSHA256"));
        mac.update((timestamp + ".").getBytes(UTF_8));
        String expected = HexFormat.of().formatHex(mac.doFinal(body));
        return MessageDigest.isEqual(expected.getBytes(UTF_8), signature.getBytes(UTF_8)) ? 200 : 401;
    }

    static String header(HttpExchange exchange, String name) {
        String value = exchange.getRequestHeaders().getFirst(name);
        return value == null ? "" : value;
    }

    static void receive(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        int status;
        try {
            status = verify(body, header(exchange, "${headers.timestamp}"), header(exchange, "${headers.signature}"));
            // Here, handle the event, or store it for later: parse body, which is JSON in UTF-8. A 2xx ends the retries.
            // The same event may come again: skip an id that you have already handled.
            if (status == 200) System.out.println(body.length + " bytes");
        } catch (Exception error) {
            error.printStackTrace();
            status = 500; // The event will come again.
        }
        exchange.sendResponseHeaders(status, -1);
        exchange.close();
    }

    public static void main(String[] args) throws IOException {
        if (SECRET.isEmpty()) throw new IllegalStateException("Set ${SECRET_VARIABLE} to the webhook's signing secret.");
        int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "3000"));
        HttpServer server = HttpServer.create(new InetSocketAddress(port), 0);
        server.createContext("/", Receiver::receive);
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
        System.out.println("Listening on port " + port);
    }
}
`;
