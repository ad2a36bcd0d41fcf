/* Work of a known number of instructions: `known loop N` two in user mode N times, `known getppid N`
   the system call N times, `known copy N` a string instruction that moves N bytes. */

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = 1 << 20 };

int main(int argc, char **argv) {
  unsigned long count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
  if (argc != 3) return 2;
  if (strcmp(argv[1], "loop") == 0) {
    __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(count) : : "cc");
  } else if (strcmp(argv[1], "getppid") == 0) {
    while (count--) syscall(SYS_getppid);
  } else {
    static char source[MOST], target[MOST];
    char *from = source, *to = target;
    if (count > MOST) return 2;
    /* A repetition that has to wait for its page is executed once more. */
    memset(source, 1, MOST);
    memset(target, 1, MOST);
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
  }
  return 0;
}
