// Java's TLS (JSSE) as a peer of the TLS matrix.
// java JavaPeer.java server ADDRESS PORT CERTIFICATE KEY BODY: answers every request with a file.
// java JavaPeer.java client URL COUNT NAME: fetches a page so many times, into NAME.0, NAME.1, ...

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.net.InetSocketAddress;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

public class JavaPeer {
  public static void main(String[] words) throws Exception {
    if (words[0].equals("server")) {
      serve(new InetSocketAddress(words[1], Integer.parseInt(words[2])), words[3], words[4],
            Files.readAllBytes(Path.of(words[5])));
    } else {
      fetch(new URL(words[1]), Integer.parseInt(words[2]), words[3]);
    }
  }

  static void serve(InetSocketAddress address, String certificateFile, String keyFile, byte[] body)
      throws Exception {
    Certificate certificate;
    try (var file = Files.newInputStream(Path.of(certificateFile))) {
      certificate = CertificateFactory.getInstance("X.509").generateCertificate(file);
    }
    String pem = Files.readString(Path.of(keyFile)).replaceAll("-----[^-]*-----", "");
    var key = KeyFactory.getInstance(certificate.getPublicKey().getAlgorithm())
                  .generatePrivate(new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(pem)));
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    store.setKeyEntry("server", key, new char[0], new Certificate[] {certificate});
    KeyManagerFactory keys =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(store, new char[0]);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), null, null);
    HttpsServer server = HttpsServer.create(address, 0);
    server.setHttpsConfigurator(new HttpsConfigurator(context));
    server.createContext("/", exchange -> {
      exchange.sendResponseHeaders(200, body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    });
    server.start();
  }

  static void fetch(URL url, int count, String name) throws Exception {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, new TrustManager[] {new Anybody()}, null);
    HttpsURLConnection.setDefaultSSLSocketFactory(context.getSocketFactory());
    HttpsURLConnection.setDefaultHostnameVerifier((host, session) -> true);
    for (int number = 0; number < count; ++number) {
      try (var page = url.openStream()) {
        Files.write(Path.of(name + "." + number), page.readAllBytes());
      }
    }
  }

  /** Trusts everybody: the engine signs its certificate itself. */
  static class Anybody implements X509TrustManager {
    public void checkClientTrusted(X509Certificate[] chain, String kind) {}

    public void checkServerTrusted(X509Certificate[] chain, String kind) {}

    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
