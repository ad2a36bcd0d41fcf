// An HTTP server whose cost is known: it burns a set amount of user time and makes a set number of
// system calls for each request, or for each handshake of a connection that begins with TLS, and
// holds a set amount of memory for each connection. For proving that the suite's figures are true.
//
// Usage: calibration_server ADDRESS PORT CONTROL CERTIFICATE RESPONSE_BYTES. CONTROL is a file that
// holds `struct Control`, shared with the harness, which changes the cost between two trials and
// reads what was burnt. CERTIFICATE has the certificate and its key.
//
// A burn is a chain of dependent multiplications, and then calls that do next to nothing. Its length
// in time is measured around each one by this thread's own CPU clock, which no time in other
// programs is in; softirqs that ran on top of a burn are in it, so the median of many burns is the
// cost.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BURNS 65536
#define MAX_FILES 20000
#define EVENTS 64
#define SLOT_BYTES 65536  // the most that a connection can hold
#define TLS_RECORD 22     // the first byte of a connection with TLS: a handshake's record

// Laid out as `Control` in calibration_server.py.
struct Control {
  uint64_t loops;             // of a burn; set by the harness
  uint64_t calls;             // of getppid(2) in a burn; set by the harness
  uint64_t hold_bytes;        // of each connection from now on, whole pages; set by the harness
  uint64_t leave_unread;      // from now on, answer at once and never read; set by the harness
  uint64_t requests;          // answered so far
  uint64_t burns;             // so far
  uint32_t burnt_ns[BURNS];   // of burn number i at i % BURNS
};

static volatile struct Control* control;
static char* response;
static size_t response_bytes;
static char* slots;  // one per connection
static SSL_CTX* tls;
static SSL* sessions[MAX_FILES];  // of connections with TLS
static volatile uint64_t sink;

static uint64_t thread_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void burn(void) {
  uint64_t loops = control->loops;
  uint64_t before = thread_ns();
  uint64_t value = sink | 1;
  for (uint64_t i = 0; i < loops; i++) value = value * 6364136223846793005u + 1442695040888963407u;
  sink = value;
  for (uint64_t calls = control->calls; calls; calls--) syscall(SYS_getppid);
  control->burnt_ns[control->burns++ % BURNS] = (uint32_t)(thread_ns() - before);
}

// Every handshake is in full.
static int make_tls(const char* certificate) {
  tls = SSL_CTX_new(TLS_server_method());
  SSL_CTX_set_session_cache_mode(tls, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(tls, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(tls, 0);
  return SSL_CTX_use_certificate_file(tls, certificate, SSL_FILETYPE_PEM) == 1 &&
         SSL_CTX_use_PrivateKey_file(tls, certificate, SSL_FILETYPE_PEM) == 1;
}

static void make_response(size_t size) {
  char head[128];
  size_t body = size;
  int length;
  do {
    length = snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", body);
  } while ((size_t)length + body > size && body-- > 0);
  response_bytes = (size_t)length + body;
  response = malloc(response_bytes);
  memset(response, 'x', response_bytes);
  memcpy(response, head, (size_t)length);
}

static void answer(int file) {
  burn();
  if (write(file, response, response_bytes) == (ssize_t)response_bytes) control->requests++;
}

// Neither an allocator's free lists nor huge pages: what a connection holds is resident while it is
// open and gone afterwards.
static int make_slots(void) {
  size_t size = (size_t)MAX_FILES * SLOT_BYTES;
  slots = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (slots == MAP_FAILED) return 0;
  madvise(slots, size, MADV_NOHUGEPAGE);
  return 1;
}

static void accept_all(int listener, int poll) {
  for (;;) {
    int file = accept4(listener, 0, 0, SOCK_NONBLOCK);
    if (file < 0) return;
    if (file >= MAX_FILES) {
      close(file);
      continue;
    }
    size_t size = control->hold_bytes;
    if (size > SLOT_BYTES) size = SLOT_BYTES;
    memset(slots + (size_t)file * SLOT_BYTES, 1, size);
    int unread = control->leave_unread != 0;
    struct epoll_event event = {.events = unread ? EPOLLRDHUP : EPOLLIN | EPOLLRDHUP, .data.fd = file};
    epoll_ctl(poll, EPOLL_CTL_ADD, file, &event);
    if (unread) answer(file);
  }
}

static void end(int file) {
  SSL_free(sessions[file]);
  sessions[file] = 0;
  if (control->hold_bytes) madvise(slots + (size_t)file * SLOT_BYTES, SLOT_BYTES, MADV_DONTNEED);
  close(file);
}

static int ends_request(const char* request, ssize_t length) {
  return length > 3 && !memcmp(request + length - 4, "\r\n\r\n", 4);
}

static int begins_tls(int file) {
  char first = 0;
  return recv(file, &first, 1, MSG_PEEK) == 1 && first == TLS_RECORD;
}

// Returns whether the connection goes on.
static int serve_tls(int file) {
  static char request[65536];
  SSL* session = sessions[file];
  if (!session) {
    session = sessions[file] = SSL_new(tls);
    SSL_set_fd(session, file);
  }
  if (!SSL_is_init_finished(session)) {
    int done = SSL_accept(session);
    if (done != 1) return SSL_get_error(session, done) == SSL_ERROR_WANT_READ;
    burn();
  }
  int length = SSL_read(session, request, sizeof request);
  if (length <= 0) return SSL_get_error(session, length) == SSL_ERROR_WANT_READ;
  if (ends_request(request, length) &&
      SSL_write(session, response, (int)response_bytes) == (int)response_bytes)
    control->requests++;
  return 1;
}

static void serve(struct epoll_event* event) {
  static char request[65536];
  int file = event->data.fd;
  if (event->events & (EPOLLERR | EPOLLHUP)) {
    end(file);
    return;
  }
  if (event->events & EPOLLIN && (sessions[file] || begins_tls(file))) {
    if (!serve_tls(file)) event->events |= EPOLLRDHUP;
  } else if (event->events & EPOLLIN) {
    ssize_t length = read(file, request, sizeof request);
    if (ends_request(request, length)) answer(file);
    if (length <= 0) event->events |= EPOLLRDHUP;
  }
  if (event->events & EPOLLRDHUP) end(file);
}

int main(int count, char** arguments) {
  if (count != 6) return 2;
  int file = open(arguments[3], O_RDWR);
  control = mmap(0, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (control == MAP_FAILED) return perror(arguments[3]), 1;
  if (!make_slots()) return perror("memory of connections"), 1;
  if (!make_tls(arguments[4])) return fprintf(stderr, "no certificate: %s\n", arguments[4]), 1;
  make_response(strtoul(arguments[5], 0, 10));
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(arguments[2]))};
  inet_pton(AF_INET, arguments[1], &address.sin_addr);
  if (bind(listener, (struct sockaddr*)&address, sizeof address) || listen(listener, 4096)) return perror("listen"), 1;
  int poll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
  epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    struct epoll_event events[EVENTS];
    int ready = epoll_wait(poll, events, EVENTS, -1);
    for (int i = 0; i < ready; i++) {
      if (events[i].data.fd == listener) accept_all(listener, poll);
      else serve(&events[i]);
    }
  }
}
