/* Counts the instructions that an emulated guest executes, by address and by task.

   A plugin of QEMU's code generator (QEMU, docs/devel/tcg-plugins.rst). Debian 12 has no header of
   that interface, so what is used is declared here; API_VERSION says whose. Each translated block
   counts its executions for each task. A program in the guest marks a window by two instructions
   that do nothing: the first clears all counts, the second writes them to a file.

   The current task is known from the kernel's own switch of stacks (__switch_to_asm): it stores
   and loads the stack pointer in the two tasks, and so tells their addresses. A task's name is read
   from the guest's memory, which QEMU has in a memory file that is found in /proc/self/maps.

   A section is a part of the kernel's work that any task may have to do, such as a softirq: it lasts
   from the entry of a function to the next instruction of the function that has called it, and of
   an interrupt to its end. Sections nest.

   Arguments: counts=PATH, of the counts; windows are numbered, and so are their files.
   sections=PATH: a line for each section: name, entry, and begin and end of where it is over, which
   is the caller; these are 0 of the function that a program begins with. */

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef API_VERSION
#define API_VERSION 1
#endif
#define EXPORT __attribute__((visibility("default")))

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef uint32_t meminfo;
enum { NO_REGISTERS = 0, LOADS_AND_STORES = 3 };
typedef void (*translated_cb)(plugin_id, struct qemu_plugin_tb *);
typedef void (*executed_cb)(unsigned, void *);
typedef void (*memory_cb)(unsigned, meminfo, uint64_t, void *);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, translated_cb);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, executed_cb, int, void *);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, executed_cb, int, void *);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, memory_cb, int, int, void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *);
#if API_VERSION >= 3
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *, void *, size_t);
#else
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
#endif

EXPORT int qemu_plugin_version = API_VERSION;

enum { TASKS = 96, SECTIONS = 64, DEPTH = 16, NAME = 16, BUCKETS = 1 << 16, TASK_BYTES = 16384 };
static const uint64_t DIRECT_MAP = 0xffff888000000000, IMAGE = 0xffffffff80000000;

/* A translated block. repeated: bytes that each execution moves, of a block that is a repetition of
   a string instruction; 0: of any other block. place: of its code in QEMU's memory. From QEMU 8 on a
   block of a shared library is one for all programs, and has the address of the first. */
struct block {
  struct block *next;
  uint64_t address, place;
  uint32_t instructions;
  uint32_t repeated;
  uint64_t count[TASKS];
};

static struct block *blocks[BUCKETS];
static char names[TASKS][48] = {"boot|"};
static unsigned tasks = 1, current, window;
static char task[NAME] = "boot"; /* of the current one */
static struct section {
  char name[32];
  uint64_t entry, caller, end;
} sections[SECTIONS];
static int known_sections, depth;
static const struct section *inside[DEPTH]; /* the innermost last */
static uint64_t current_task;
static const char *file;
static unsigned char *memory;
static uint64_t memory_bytes;
static uint32_t stack_field; /* offset of the stack pointer in a task */
static int name_field = -1;  /* offset of the name */
static uint64_t switches;

static void bytes_of(const struct qemu_plugin_insn *instruction, unsigned char *bytes) {
  size_t size = qemu_plugin_insn_size(instruction);
  memset(bytes, 0, 16);
#if API_VERSION >= 3
  qemu_plugin_insn_data(instruction, bytes, size < 16 ? size : 16);
#else
  memcpy(bytes, qemu_plugin_insn_data(instruction), size < 16 ? size : 16);
#endif
}

/* The guest's memory at an address of its kernel; NULL: it is neither in the direct map nor in the
   kernel's image, or there is no memory file. */
static const unsigned char *at(uint64_t address, uint64_t length) {
  uint64_t place = address >= IMAGE        ? address - IMAGE
                   : address >= DIRECT_MAP ? address - DIRECT_MAP
                                           : UINT64_MAX;
  return memory && place < memory_bytes - length ? memory + place : NULL;
}

static void find_memory(void) {
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[512];
  while (maps && fgets(line, sizeof line, maps)) {
    uint64_t from, to;
    if (strstr(line, "memory-backend") && sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) == 2 &&
        to - from > memory_bytes) {
      memory = (unsigned char *)from;
      memory_bytes = to - from;
    }
  }
  if (maps) fclose(maps);
}

/* The first task of all, which is called swapper. */
static void find_name(uint64_t task) {
  const unsigned char *bytes;
  find_memory();
  bytes = at(task, TASK_BYTES);
  for (int offset = 0; bytes && offset < TASK_BYTES - NAME; ++offset)
    if (memcmp(bytes + offset, "swapper", 7) == 0) {
      name_field = offset;
      return;
    }
}

/* Counts from now on belong to the current task and section. */
static void choose(void) {
  char name[sizeof names[0]];
  snprintf(name, sizeof name, "%.*s|%s", NAME, task, depth ? inside[depth - 1]->name : "");
  for (current = 0; current < tasks; ++current)
    if (strcmp(names[current], name) == 0) return;
  if (tasks == TASKS) { /* many programs: those of the last name */
    current = TASKS - 1;
    return;
  }
  strcpy(names[tasks++], name);
}

static void left(unsigned cpu, meminfo info, uint64_t address, void *unused) {
  if (name_field < 0) find_name(address - stack_field);
}

static void read_name(void) {
  const unsigned char *name = at(current_task + name_field, NAME);
  if (name_field < 0 || !name) return;
  memcpy(task, name, NAME);
  choose();
}

static void entered(unsigned cpu, meminfo info, uint64_t address, void *unused) {
  current_task = address - stack_field;
  ++switches;
  depth = 0;
  read_name();
}

/* A program that begins has another name than the one that has started it. */
static void program_began(unsigned cpu, void *unused) { read_name(); }

static void section_entered(unsigned cpu, void *which) {
  if (depth == DEPTH) return;
  inside[depth++] = which;
  choose();
}

/* Its caller goes on, or has not come so far yet. */
static void section_left(unsigned cpu, void *which) {
  if (!depth || inside[depth - 1]->caller != ((struct section *)which)->caller) return;
  --depth;
  choose();
}

static void executed(unsigned cpu, void *block) { ((struct block *)block)->count[current]++; }

static void clear(unsigned cpu, void *unused) {
  tasks = 0;
  choose();
  for (unsigned bucket = 0; bucket < BUCKETS; ++bucket)
    for (struct block *block = blocks[bucket]; block; block = block->next)
      memset(block->count, 0, sizeof block->count);
  switches = 0;
}

static uint64_t physical(uint64_t place) {
  uint64_t offset = place - (uint64_t)memory;
  return memory && offset < memory_bytes ? offset : 0;
}

static void dump(unsigned cpu, void *unused) {
  char path[512], unfinished[520];
  FILE *out;
  snprintf(path, sizeof path, "%s.%u", file, window++);
  snprintf(unfinished, sizeof unfinished, "%s.new", path);
  out = fopen(unfinished, "w");
  if (!out) return;
  fprintf(out, "switches %" PRIu64 "\n", switches);
  for (unsigned slot = 0; slot < tasks; ++slot) fprintf(out, "task %s\n", names[slot]);
  for (unsigned bucket = 0; bucket < BUCKETS; ++bucket)
    for (struct block *block = blocks[bucket]; block; block = block->next)
      for (unsigned slot = 0; slot < tasks; ++slot)
        if (block->count[slot])
          fprintf(out, "%" PRIx64 " %" PRIx64 " %u %u %u %" PRIu64 "\n", block->address,
                  physical(block->place), block->instructions, block->repeated, slot,
                  block->count[slot]);
  fclose(out);
  rename(unfinished, path);
}

static struct block *block_of(uint64_t address, uint64_t place, uint32_t instructions,
                              uint32_t repeated) {
  unsigned bucket = (address ^ address >> 16 ^ place >> 12 ^ instructions * 0x9e37u) % BUCKETS;
  struct block *block;
  for (block = blocks[bucket]; block; block = block->next)
    if (block->address == address && block->place == place &&
        block->instructions == instructions && block->repeated == repeated)
      return block;
  block = calloc(1, sizeof *block);
  block->address = address;
  block->place = place;
  block->instructions = instructions;
  block->repeated = repeated;
  block->next = blocks[bucket];
  return blocks[bucket] = block;
}

/* Bytes of an element of a string instruction with a prefix that repeats it (Intel SDM, volume 2B,
   REP); 0: it is another instruction. */
static uint32_t repeats(const unsigned char *bytes) {
  bool prefixed = false, wide = false, half = false;
  for (int i = 0; i < 5; ++i) {
    unsigned char byte = bytes[i];
    if (byte == 0xf2 || byte == 0xf3) prefixed = true;
    else if (byte == 0x66) half = true;
    else if (byte == 0x67) continue;
    else if ((byte & 0xf8) == 0x48) wide = true;
    else if ((byte & 0xf0) == 0x40) continue;
    else if (prefixed && ((byte >= 0xa4 && byte <= 0xa7) || (byte >= 0xaa && byte <= 0xaf)))
      return !(byte & 1) ? 1 : wide ? 8 : half ? 2 : 4;
    else return 0;
  }
  return 0;
}

/* Each repetition of a string instruction is an execution of a block of this instruction alone.
   The instruction itself is counted by the block that it ends. */
static void translated(plugin_id id, struct qemu_plugin_tb *tb) {
  static const unsigned char mark[6] = {0x0f, 0x1f, 0x84, 0x00, 0xc5, 0x5c};
  size_t count = qemu_plugin_tb_n_insns(tb);
  uint64_t address = qemu_plugin_tb_vaddr(tb);
  unsigned char bytes[16], before[16] = {0};
  uint32_t repeated = 0;
  for (size_t i = 0; i < count; ++i) {
    struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(tb, i);
    bytes_of(instruction, bytes);
    if (count == 1) repeated = repeats(bytes);
    if (memcmp(bytes, mark, sizeof mark) == 0)
      qemu_plugin_register_vcpu_insn_exec_cb(instruction, bytes[6] == 1 ? clear : dump,
                                             NO_REGISTERS, NULL);
    /* mov %rsp,X(%rdi); mov X(%rsi),%rsp */
    if (address >= IMAGE && memcmp(before, "\x48\x89\xa7", 3) == 0 &&
        memcmp(bytes, "\x48\x8b\xa6", 3) == 0 && memcmp(before + 3, bytes + 3, 4) == 0) {
      memcpy(&stack_field, bytes + 3, 4);
      qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i - 1), left, NO_REGISTERS,
                                       LOADS_AND_STORES, NULL);
      qemu_plugin_register_vcpu_mem_cb(instruction, entered, NO_REGISTERS, LOADS_AND_STORES, NULL);
    }
    memcpy(before, bytes, sizeof before);
  }
  for (int i = 0; i < known_sections; ++i) {
    if (address == sections[i].entry && sections[i].caller == 0)
      qemu_plugin_register_vcpu_tb_exec_cb(tb, program_began, NO_REGISTERS, NULL);
    else if (address == sections[i].entry)
      qemu_plugin_register_vcpu_tb_exec_cb(tb, section_entered, NO_REGISTERS, sections + i);
    else if (address >= sections[i].caller && address < sections[i].end)
      qemu_plugin_register_vcpu_tb_exec_cb(tb, section_left, NO_REGISTERS, sections + i);
  }
  uint64_t place = (uint64_t)qemu_plugin_insn_haddr(qemu_plugin_tb_get_insn(tb, 0));
  qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, NO_REGISTERS,
                                       block_of(address, place, (uint32_t)count, repeated));
}

static void read_sections(const char *path) {
  FILE *in = fopen(path, "r");
  struct section *next = sections;
  while (in && known_sections < SECTIONS &&
         fscanf(in, "%31s %" SCNx64 " %" SCNx64 " %" SCNx64, next->name, &next->entry,
                &next->caller, &next->end) == 4)
    next = sections + ++known_sections;
  if (in) fclose(in);
}

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv) {
  for (int i = 0; i < argc; ++i) {
    if (strncmp(argv[i], "counts=", 7) == 0) file = strdup(argv[i] + 7);
    if (strncmp(argv[i], "sections=", 9) == 0) read_sections(argv[i] + 9);
  }
  if (!file) {
    fprintf(stderr, "the plugin needs counts=PATH\n");
    return -1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  return 0;
}
