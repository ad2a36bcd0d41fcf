// Does the same three small pieces of work on one core every 50 ms and says how long they took.
// Usage: core_speed CPU DESCRIPTOR, with the descriptor of the memory in which `Speed` is kept.
//
// The first is six additions and shifts side by side that need nothing but the core's arithmetic
// units. A program on the other hardware thread of the core takes its part of these, so the work
// takes longer; caches and memory do not matter to it.
//
// The second are reads, each of an address that the one before told, from memory that was last
// touched some seconds ago: whatever runs on the core has pushed it out of the core's own caches
// and translation buffers by then. How long they take is up to the caches and the memory that the
// core shares with the rest of the host.
//
// The third are system calls: bytes through a pair of sockets, the kernel's code and memory as a
// server uses them, brought into the caches just before. A neighbour on the same core that takes its
// caches, or its decoders, makes them take longer, as it does a server. It ends with the program
// that reads it.

#define _GNU_SOURCE
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { kLoops = 6000, kRuns = 3, kLeastPause = 40, kMorePause = 20, kPriority = 2, kBlock = 8 };
enum { kLine = 64, kLines = (1 << 20) / kLine, kReads = 16 };
enum { kCalls = 2, kBytes = 100 };

// Laid out as `Speed` in core_speed.py. `version` is odd while it is being written.
struct Speed {
  uint64_t version;
  uint64_t count;
  uint64_t sum_ns;
  uint64_t least_ns;  // mean of a block of works in a row
  uint64_t sum_reads_ns;  // of kReads reads each time
  uint64_t sum_calls_ns;  // of kCalls pairs of calls each time
};

// A line says which one is read next: all of them, in an order that nothing guesses.
struct Line {
  uint32_t next;
  char rest[kLine - sizeof(uint32_t)];
};
static struct Line* lines;
static uint32_t at_line;
static int sockets[2];

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t work_ns(void) {
  uint64_t a = 1, b = 2, c = 3, d = 5, e = 7, f = 11;
  uint64_t began = now_ns();
  for (uint64_t i = 0; i < kLoops; ++i) {
    a += b ^ i;
    b += c << 1;
    c ^= d + i;
    d += e >> 1;
    e ^= f;
    f += a;
    // Keeps the compiler from doing several rounds at once, or none.
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
  }
  return now_ns() - began;
}

static uint64_t reads_ns(void) {
  uint64_t began = now_ns();
  for (int read = 0; read < kReads; ++read) at_line = lines[at_line].next;
  __asm__ volatile("" : : "r"(at_line));
  return now_ns() - began;
}

static uint64_t calls_ns(void) {
  char bytes[kBytes] = {0};
  uint64_t began = now_ns();
  for (int call = 0; call < kCalls; ++call)
    if (write(sockets[0], bytes, kBytes) != kBytes || read(sockets[1], bytes, kBytes) != kBytes)
      _exit(1);
  return now_ns() - began;
}

// Sattolo's shuffle makes one cycle of them all. Small pages, as most programs have.
static int make_lines(void) {
  size_t bytes = kLines * sizeof *lines;
  lines = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (lines == MAP_FAILED) return 0;
  madvise(lines, bytes, MADV_NOHUGEPAGE);
  for (uint32_t line = 0; line < kLines; ++line) lines[line].next = line;
  for (uint32_t line = kLines - 1; line > 0; --line) {
    uint32_t other = (uint32_t)rand() % line, next = lines[line].next;
    lines[line].next = lines[other].next;
    lines[other].next = next;
  }
  return 1;
}

// The middle one of three in a row: an interrupt makes one of them long, and is no slow core.
static uint64_t middle_ns(uint64_t (*measured_ns)(void)) {
  uint64_t least = UINT64_MAX, most = 0, sum = 0;
  for (int run = 0; run < kRuns; ++run) {
    uint64_t spent = measured_ns();
    least = spent < least ? spent : least;
    most = spent > most ? spent : most;
    sum += spent;
  }
  return sum - least - most;
}

int main(int count, char** arguments) {
  if (count != 3) return 2;
  struct Speed* speed =
      mmap(0, sizeof *speed, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(arguments[2]), 0);
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(atoi(arguments[1]), &cpus);
  struct sched_param priority = {.sched_priority = kPriority};
  if (speed == MAP_FAILED || !make_lines() || sched_setaffinity(0, sizeof cpus, &cpus) ||
      socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) ||
      sched_setscheduler(0, SCHED_FIFO, &priority))
    return 1;
  struct pollfd reader = {.fd = 0};  // a pipe that ends with the reader
  uint64_t block_ns = 0;
  // Pauses differ, so that they do not fall in with a timer of the machine.
  while (!poll(&reader, 1, kLeastPause + rand() % kMorePause)) {
    work_ns();  // brings the program back into the caches
    uint64_t spent = middle_ns(work_ns), reads = middle_ns(reads_ns);
    calls_ns();  // the same for the kernel's part
    uint64_t calls = middle_ns(calls_ns);
    __atomic_add_fetch(&speed->version, 1, __ATOMIC_SEQ_CST);
    speed->sum_ns += spent;
    speed->sum_reads_ns += reads;
    speed->sum_calls_ns += calls;
    block_ns += spent;
    if (++speed->count % kBlock == 0) {
      if (block_ns / kBlock < speed->least_ns) speed->least_ns = block_ns / kBlock;
      block_ns = 0;
    }
    __atomic_add_fetch(&speed->version, 1, __ATOMIC_SEQ_CST);
  }
  return 0;
}
