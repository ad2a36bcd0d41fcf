// wolfSSL as a peer of the engine's TLS. Debian has its library, and no program of it.
//
// wolfssl_peer server ADDRESS PORT CERTIFICATE KEY RESPONSE: serves the file RESPONSE to everyone.
// wolfssl_peer client ADDRESS PORT COUNT FILE: writes COUNT responses into FILE.0, FILE.1, ...; each
// connection continues the session of the one before it, where the server lets it.

#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <wolfssl/options.h>
#include <wolfssl/ssl.h>

static const char kRequest[] = "GET /body HTTP/1.1\r\nHost: 16.0.0.1\r\n\r\n";
static char buffer[1 << 20];

static struct sockaddr_in address_of(char** words) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(words[1]))};
  inet_pton(AF_INET, words[0], &address.sin_addr);
  return address;
}

static int read_file(const char* name) {
  int file = open(name, O_RDONLY);
  int length = file < 0 ? -1 : (int)read(file, buffer, sizeof buffer);
  if (length < 0) err(1, "%s", name);
  close(file);
  return length;
}

static void serve(char** words) {
  WOLFSSL_CTX* context = wolfSSL_CTX_new(wolfSSLv23_server_method());
  if (wolfSSL_CTX_use_certificate_file(context, words[2], SSL_FILETYPE_PEM) != SSL_SUCCESS ||
      wolfSSL_CTX_use_PrivateKey_file(context, words[3], SSL_FILETYPE_PEM) != SSL_SUCCESS)
    errx(1, "%s, %s: no certificate and key", words[2], words[3]);
  int length = read_file(words[4]);
  int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  struct sockaddr_in address = address_of(words);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener, (struct sockaddr*)&address, sizeof address) || listen(listener, 128))
    err(1, "%s:%s", words[0], words[1]);
  for (;;) {
    int connection = accept(listener, NULL, NULL);
    WOLFSSL* ssl = wolfSSL_new(context);
    wolfSSL_set_fd(ssl, connection);
    char request[4096];
    if (wolfSSL_read(ssl, request, sizeof request) > 0) {
      wolfSSL_write(ssl, buffer, length);
      wolfSSL_shutdown(ssl);
      while (wolfSSL_read(ssl, request, sizeof request) > 0) {
      }
    } else {
      fprintf(stderr, "wolfSSL: error %d\n", wolfSSL_get_error(ssl, 0));
    }
    wolfSSL_free(ssl);
    close(connection);
  }
}

static void fetch(char** words) {
  WOLFSSL_CTX* context = wolfSSL_CTX_new(wolfSSLv23_client_method());
  wolfSSL_CTX_set_verify(context, SSL_VERIFY_NONE, NULL);
  wolfSSL_CTX_UseSessionTicket(context);
  WOLFSSL_SESSION* session = NULL;
  for (int number = 0; number < atoi(words[2]); ++number) {
    struct sockaddr_in address = address_of(words);
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(connection, (struct sockaddr*)&address, sizeof address)) err(1, "connect");
    WOLFSSL* ssl = wolfSSL_new(context);
    wolfSSL_set_fd(ssl, connection);
    if (session) wolfSSL_set_session(ssl, session);
    if (wolfSSL_write(ssl, kRequest, sizeof kRequest - 1) <= 0)
      errx(1, "error %d", wolfSSL_get_error(ssl, 0));
    char name[256];
    snprintf(name, sizeof name, "%s.%d", words[3], number);
    FILE* file = fopen(name, "w");
    if (!file) err(1, "%s", name);
    for (int length; (length = wolfSSL_read(ssl, buffer, sizeof buffer)) > 0;)
      fwrite(buffer, 1, length, file);
    fclose(file);
    session = wolfSSL_get1_session(ssl);
    wolfSSL_shutdown(ssl);
    wolfSSL_free(ssl);
    close(connection);
  }
}

int main(int count, char** words) {
  if (count < 6) errx(2, "see the source");
  wolfSSL_Init();
  if (strcmp(words[1], "server") == 0)
    serve(words + 2);
  else
    fetch(words + 2);
}
