// A small HTTP server: one answer to every request, by epoll, or by io_uring with or without
// zero-copy sends; by epoll from a listener of MPTCP; or by epoll that polls the interface itself.
// All else is the same.
//
// Usage: web epoll|mptcp|busy|uring|uring-zc ADDRESS PORT ANSWER COUNTER WORKERS BACKLOG. ANSWER: a file with
// the whole response. COUNTER: a file of one uint64_t, to which each answered request adds 1.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVENTS 256
#define MAX_FILES 65536
#define BUFFERS 1024  // of receives of io_uring, all connections together; a power of two
#define BUFFER_BYTES 4096
#define GROUP 1

static const char* answer;
static size_t answer_bytes;
static _Atomic uint64_t* answered;

static void fail(const char* what, int error) {
  fprintf(stderr, "%s: %s\n", what, strerror(error));
  exit(1);
}

static void* mapped(const char* path, int flags, int protection, size_t* bytes) {
  struct stat found;
  int file = open(path, flags);
  if (file < 0 || fstat(file, &found)) fail(path, errno);
  void* at = mmap(0, found.st_size, protection, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) fail(path, errno);
  close(file);
  *bytes = found.st_size;
  return at;
}

static int listening(const char* address, int port, int backlog, int flags, int protocol) {
  struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons(port)};
  int listener = socket(AF_INET, SOCK_STREAM | flags, protocol), on = 1;
  if (listener < 0) fail("socket", errno);
  inet_pton(AF_INET, address, &own.sin_addr);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  setsockopt(listener, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);  // one for each worker
  setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (bind(listener, (struct sockaddr*)&own, sizeof own) || listen(listener, backlog))
    fail("listen", errno);
  return listener;
}

static int ends_request(const char* read, ssize_t length) {
  return length >= 4 && !memcmp(read + length - 4, "\r\n\r\n", 4);
}

// -- epoll

static size_t left[MAX_FILES];  // of the answer of each connection

static void send_rest(int epoll, int file) {
  ssize_t sent = send(file, answer + answer_bytes - left[file], left[file], MSG_NOSIGNAL);
  int waited = left[file] < answer_bytes;
  if (sent > 0) left[file] -= sent;
  if (sent < 0 && errno != EAGAIN) left[file] = 0;  // the client has gone
  if (left[file] || waited) {
    struct epoll_event wanted = {.events = left[file] ? EPOLLOUT : EPOLLIN, .data.fd = file};
    epoll_ctl(epoll, EPOLL_CTL_MOD, file, &wanted);
  }
}

// struct epoll_params and EPIOCSPARAMS of linux/eventpoll.h, which Debian 12 has not yet: how long
// to poll before sleeping, packets at a time, and that the kernel holds its own polls back meanwhile.
struct Polling {
  uint32_t microseconds;
  uint16_t budget;
  uint8_t preferred, zero;
};
#define SET_POLLING _IOW(0x8A, 1, struct Polling)

static void by_epoll(int listener, int busy) {
  int epoll = epoll_create1(0);
  struct Polling polling = {.microseconds = 64, .budget = 64, .preferred = 1};
  if (busy && ioctl(epoll, SET_POLLING, &polling)) fail("busy polling (Linux 6.9)", errno);
  struct epoll_event events[EVENTS], wanted = {.events = EPOLLIN, .data.fd = listener};
  static char buffer[BUFFER_BYTES];
  epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &wanted);
  while (1) {
    int count = epoll_wait(epoll, events, EVENTS, -1);
    for (int at = 0; at < count; at++) {
      int file = events[at].data.fd;
      if (file == listener) {
        while ((file = accept4(listener, 0, 0, SOCK_NONBLOCK)) >= 0) {
          wanted.data.fd = file;
          epoll_ctl(epoll, EPOLL_CTL_ADD, file, &wanted);
        }
      } else if (events[at].events & EPOLLOUT) {
        send_rest(epoll, file);
      } else {
        ssize_t length = recv(file, buffer, sizeof buffer, 0);
        if (length == 0 || (length < 0 && errno != EAGAIN)) close(file);
        if (!ends_request(buffer, length)) continue;
        ++*answered;
        left[file] = answer_bytes;
        send_rest(epoll, file);
      }
    }
  }
}

// -- io_uring: accepts and receives are asked for once and go on; the kernel picks their buffers

enum Asked { ACCEPT, RECEIVE, SEND, CLOSE };

static struct io_uring ring;

static struct io_uring_sqe* entry(void) {
  struct io_uring_sqe* free;
  while (!(free = io_uring_get_sqe(&ring))) io_uring_submit(&ring);
  return free;
}

static void ask(struct io_uring_sqe* prepared, enum Asked asked, int file) {
  io_uring_sqe_set_data64(prepared, (uint64_t)asked << 32 | (uint32_t)file);
}

static void ask_accept(int listener) {
  struct io_uring_sqe* accept = entry();
  io_uring_prep_multishot_accept(accept, listener, 0, 0, 0);
  ask(accept, ACCEPT, listener);
}

static void ask_receive(int file) {
  struct io_uring_sqe* receive = entry();
  io_uring_prep_recv_multishot(receive, file, 0, 0, 0);
  receive->flags |= IOSQE_BUFFER_SELECT;
  receive->buf_group = GROUP;
  ask(receive, RECEIVE, file);
}

static void ask_send(int file, int zero_copy) {
  struct io_uring_sqe* send = entry();
  int flags = MSG_WAITALL | MSG_NOSIGNAL;
  if (zero_copy) {
    io_uring_prep_send_zc(send, file, answer, answer_bytes, flags, 0);
  } else {
    io_uring_prep_send(send, file, answer, answer_bytes, flags);
  }
  ask(send, SEND, file);
}

static void ask_close(int file) {
  struct io_uring_sqe* close = entry();
  io_uring_prep_close(close, file);
  ask(close, CLOSE, file);
}

static void by_uring(int listener, int zero_copy) {
  struct io_uring_params wanted = {
      .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE,
      .cq_entries = 16 * EVENTS,
  };
  int failed = io_uring_queue_init_params(2 * EVENTS, &ring, &wanted);
  if (failed) fail("io_uring", -failed);
  static char buffers[BUFFERS][BUFFER_BYTES];
  struct io_uring_buf_ring* given = mmap(0, BUFFERS * sizeof(struct io_uring_buf),
                                         PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);
  struct io_uring_buf_reg at = {
      .ring_addr = (uintptr_t)given, .ring_entries = BUFFERS, .bgid = GROUP};
  int mask = io_uring_buf_ring_mask(BUFFERS);
  if ((failed = io_uring_register_buf_ring(&ring, &at, 0))) fail("io_uring: buffers", -failed);
  io_uring_buf_ring_init(given);
  for (int id = 0; id < BUFFERS; id++)
    io_uring_buf_ring_add(given, buffers[id], BUFFER_BYTES, id, mask, id);
  io_uring_buf_ring_advance(given, BUFFERS);
  ask_accept(listener);
  while (1) {
    struct io_uring_cqe* done;
    unsigned head, count = 0;
    io_uring_submit_and_wait(&ring, 1);
    io_uring_for_each_cqe(&ring, head, done) {
      enum Asked asked = done->user_data >> 32;
      int file = (uint32_t)done->user_data, goes_on = done->flags & IORING_CQE_F_MORE;
      count++;
      if (asked == ACCEPT) {
        if (done->res >= 0) ask_receive(done->res);
        if (!goes_on) ask_accept(file);
      } else if (asked == RECEIVE) {
        if (done->flags & IORING_CQE_F_BUFFER) {
          int id = done->flags >> IORING_CQE_BUFFER_SHIFT;
          if (ends_request(buffers[id], done->res)) {
            ++*answered;
            ask_send(file, zero_copy);
          }
          io_uring_buf_ring_add(given, buffers[id], BUFFER_BYTES, id, mask, 0);
          io_uring_buf_ring_advance(given, 1);
        }
        if (!goes_on && (done->res > 0 || done->res == -ENOBUFS)) {
          ask_receive(file);
        } else if (!goes_on) {
          ask_close(file);
        }
      }
    }
    io_uring_cq_advance(&ring, count);
  }
}

int main(int count, char** arguments) {
  if (count != 8) return 2;
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max < MAX_FILES ? files.rlim_max : MAX_FILES;
  setrlimit(RLIMIT_NOFILE, &files);  // the usual soft limit is 1,024
  const char* how = arguments[1];
  size_t bytes;
  answer = mapped(arguments[4], O_RDONLY, PROT_READ, &answer_bytes);
  answered = mapped(arguments[5], O_RDWR, PROT_READ | PROT_WRITE, &bytes);
  for (int worker = atoi(arguments[6]); worker > 1; worker--) {
    if (fork()) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    break;
  }
  int port = atoi(arguments[3]), backlog = atoi(arguments[7]);
  int by_ring = !strncmp(how, "uring", 5), protocol = strcmp(how, "mptcp") ? 0 : IPPROTO_MPTCP;
  int flags = by_ring ? 0 : SOCK_NONBLOCK;
  int listener = listening(arguments[2], port, backlog, flags, protocol);
  if (!by_ring) by_epoll(listener, !strcmp(how, "busy"));
  by_uring(listener, !strcmp(how, "uring-zc"));
}
