// Loaded before a program's own libraries: what it opens as a socket of TCP is one of MPTCP.
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

int socket(int family, int type, int protocol) {
  int internet = family == AF_INET || family == AF_INET6;
  int stream = (type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) == SOCK_STREAM;
  int tcp = protocol == 0 || protocol == IPPROTO_TCP;
  return syscall(SYS_socket, family, type, internet && stream && tcp ? IPPROTO_MPTCP : protocol);
}
