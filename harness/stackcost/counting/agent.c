/* The first and only own program of a counting guest: it makes the guest ready, and then does what
   comes over a virtio port: shell scripts, marks of windows, and connections to programs in it.

   The guest sees the files of the machine that emulates it (9p, read only), below a file system in
   memory that takes what is written. Messages have a head of 8 bytes (type, channel, two bytes of
   zero, length) and a body. Towards the guest: 'x' script, 'm' mark (1 clears the counts, 2 writes
   them), 'o' open "namespace address port", 'd' data, 'c' close. From it: 'r' status (4 bytes) and
   output, of 'x', 'm' and 'o'; 'd' data, 'c' closed. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHANNELS = 256, CHUNK = 65536, MOST_TRIES = 2000 };
struct head {
  uint8_t type, channel;
  uint16_t zero;
  uint32_t length;
};
static int line, connections[CHANNELS];
static pid_t spinning;
static int in_window;

static void fail(const char *what) {
  fprintf(stderr, "counting guest: %s: %s\n", what, strerror(errno));
  sync();
  reboot(RB_POWER_OFF);
  _exit(1);
}

static void mounted(const char *source, const char *target, const char *type, unsigned long flags,
                    const char *options) {
  mkdir(target, 0755);
  if (mount(source, target, type, flags, options)) fail(target);
}

static int by_name(const struct dirent **a, const struct dirent **b) { return alphasort(a, b); }

static void insert_modules(void) {
  struct dirent **found;
  int count = scandir("/modules", &found, NULL, by_name);
  for (int i = 0; i < count; ++i) {
    char path[512];
    int module;
    if (found[i]->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/modules/%s", found[i]->d_name);
    module = open(path, O_RDONLY | O_CLOEXEC);
    if (syscall(SYS_finit_module, module, "", 0) && errno != EEXIST) fail(path);
    close(module);
  }
}

static void make_ready(void) {
  static const char *const share = "trans=virtio,version=9p2000.L,cache=loose,msize=512000";
  mounted("none", "/dev", "devtmpfs", 0, "");
  mounted("none", "/proc", "proc", 0, "");
  mounted("none", "/sys", "sysfs", 0, "");
  insert_modules();
  mounted("machine", "/machine", "9p", MS_RDONLY, share);
  mounted("none", "/memory", "tmpfs", 0, "mode=755");
  mkdir("/memory/upper", 0755);
  mkdir("/memory/work", 0755);
  mounted("none", "/root", "overlay", 0,
          "lowerdir=/machine,upperdir=/memory/upper,workdir=/memory/work");
  if (chdir("/root") || chroot(".")) fail("chroot");
  mounted("none", "/proc", "proc", 0, "");
  mounted("none", "/sys", "sysfs", 0, "");
  mounted("none", "/dev", "devtmpfs", 0, "");
  mounted("none", "/run", "tmpfs", 0, "mode=755");
  mkdir("/dev/shm", 01777);
  mounted("none", "/dev/shm", "tmpfs", 0, "");
  mounted("none", "/sys/fs/cgroup", "cgroup2", 0, "");
  mounted("run", "/run/counting", "9p", 0, share);
  sethostname("counting", 8);
  setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
  setenv("HOME", "/run", 1);
}

/* Its number is that of the virtio device, and it appears when QEMU has announced it. */
static void open_line(void) {
  glob_t found;
  for (int tries = 0; glob("/dev/vport*p1", 0, NULL, &found) && tries < MOST_TRIES; ++tries)
    usleep(10000);
  line = found.gl_pathc ? open(found.gl_pathv[0], O_RDWR | O_CLOEXEC) : -1;
  if (line < 0) fail("virtio port");
}

static void write_all(int to, const void *bytes, size_t length) {
  for (const char *at = bytes; length;) {
    ssize_t done = write(to, at, length);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return;
    at += done;
    length -= (size_t)done;
  }
}

static int read_all(void *bytes, size_t length) {
  for (char *at = bytes; length;) {
    ssize_t done = read(line, at, length);
    if (done <= 0) { /* nobody is at the other end yet */
      usleep(10000);
      continue;
    }
    at += done;
    length -= (size_t)done;
  }
  return 0;
}

static void send_message(char type, int channel, const void *body, size_t length) {
  struct head head = {(uint8_t)type, (uint8_t)channel, 0, (uint32_t)length};
  write_all(line, &head, sizeof head);
  write_all(line, body, length);
}

static void reply(int channel, int32_t status, const char *words, size_t length) {
  char *body = malloc(length + sizeof status);
  memcpy(body, &status, sizeof status);
  memcpy(body + sizeof status, words, length);
  send_message('r', channel, body, length + sizeof status);
  free(body);
}

/* What the script leaves running has to redirect its output. */
static void execute(int channel, const char *script) {
  int output = open("/run", O_TMPFILE | O_RDWR, 0600), status;
  struct stat told;
  char *words;
  pid_t shell = fork();
  if (shell == 0) {
    setsid();
    dup2(open("/dev/null", O_RDONLY), 0);
    dup2(output, 1);
    dup2(output, 2);
    execl("/bin/sh", "sh", "-c", script, NULL);
    _exit(127);
  }
  while (waitpid(shell, &status, 0) != shell && errno != ECHILD) {}
  fstat(output, &told);
  words = malloc((size_t)told.st_size + 1);
  if (pread(output, words, (size_t)told.st_size, 0) != told.st_size) told.st_size = 0;
  close(output);
  reply(channel, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), words,
        (size_t)told.st_size);
  free(words);
}

/* The time of a guest that waits for its machine goes on to the next timer at once, and every limit
   of time in it is soon over. So while there are connections to the machine, and no window, a
   process is busy whenever no other is. */
static void start_spinning(void) {
  struct sched_param none = {0};
  spinning = fork();
  if (spinning) return;
  prctl(PR_SET_NAME, "spin");
  sched_setscheduler(0, SCHED_IDLE, &none);
  raise(SIGSTOP);
  /* A block of 32 instructions, by which the guest's clock goes about as fast as the machine's. */
  for (;;) __asm__ volatile(".rept 31\n\tnop\n\t.endr");
}

static void spin(void) {
  int open = 0;
  for (int channel = 0; channel < CHANNELS; ++channel) open += connections[channel] >= 0;
  kill(spinning, open && !in_window ? SIGCONT : SIGSTOP);
}

static void enter(int namespace) {
  if (namespace >= 0) {
    if (setns(namespace, CLONE_NEWNET)) perror("setns");
    close(namespace);
  }
}

static int connected(const char *namespace, const char *address, int port) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  char path[128];
  int own, there, connection;
  snprintf(path, sizeof path, "/run/netns/%s", namespace);
  own = open("/proc/self/ns/net", O_RDONLY);
  there = open(path, O_RDONLY);
  enter(there);
  inet_pton(AF_INET, address, &to.sin_addr);
  connection = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(connection, (struct sockaddr *)&to, sizeof to)) {
    int reason = errno;
    close(connection);
    connection = -reason;
  }
  enter(own);
  return connection;
}

static void open_connection(int channel, const char *where) {
  char namespace[64], address[64];
  int port, connection = -EINVAL;
  if (sscanf(where, "%63s %63s %d", namespace, address, &port) == 3)
    connection = connected(namespace, address, port);
  if (connection >= 0) connections[channel] = connection;
  spin();
  const char *words = connection < 0 ? strerror(-connection) : "";
  reply(channel, connection < 0 ? 1 : 0, words, strlen(words));
}

static void close_connection(int channel) {
  if (connections[channel] >= 0) close(connections[channel]);
  connections[channel] = -1;
  spin();
}

/* nopl X(%rax,%rax,1), which the plugin knows by X. Before it all that is under way ends, also the
   callbacks of RCU, which come after some ticks. */
static void mark(int what) {
  if (what == 1) {
    in_window = 1;
    spin();
  }
  usleep(100000);
  if (what == 1) {
    __asm__ volatile(".byte 0x0f,0x1f,0x84,0x00,0xc5,0x5c,0x01,0x00");
  } else {
    __asm__ volatile(".byte 0x0f,0x1f,0x84,0x00,0xc5,0x5c,0x02,0x00");
    in_window = 0;
    spin();
  }
}

static void take_message(void) {
  struct head head;
  char *body;
  read_all(&head, sizeof head);
  body = calloc(1, head.length + 1);
  read_all(body, head.length);
  switch (head.type) {
    case 'x': execute(head.channel, body); break;
    case 'm':
      mark(body[0]);
      reply(head.channel, 0, "", 0);
      break;
    case 'o': open_connection(head.channel, body); break;
    case 'd':
      if (connections[head.channel] >= 0) write_all(connections[head.channel], body, head.length);
      break;
    case 'c': close_connection(head.channel); break;
    case 'q': reboot(RB_POWER_OFF);
  }
  free(body);
}

static void pass_on(int channel) {
  static char data[CHUNK];
  ssize_t length = read(connections[channel], data, sizeof data);
  if (length > 0) {
    send_message('d', channel, data, (size_t)length);
    return;
  }
  close_connection(channel);
  send_message('c', channel, "", 0);
}

int main(void) {
  signal(SIGPIPE, SIG_IGN);
  make_ready();
  start_spinning();
  open_line();
  for (int channel = 0; channel < CHANNELS; ++channel) connections[channel] = -1;
  reply(0, 0, "ready", 5);
  for (;;) {
    struct pollfd waiting[CHANNELS + 1] = {{.fd = line, .events = POLLIN}};
    for (int channel = 0; channel < CHANNELS; ++channel)
      waiting[channel + 1] = (struct pollfd){.fd = connections[channel], .events = POLLIN};
    if (poll(waiting, CHANNELS + 1, 1000) < 0) continue;
    while (waitpid(-1, NULL, WNOHANG) > 0) {}
    if (waiting[0].revents & POLLIN) take_message();
    for (int channel = 0; channel < CHANNELS; ++channel)
      if (waiting[channel + 1].revents && connections[channel] >= 0) pass_on(channel);
  }
}
