// Counts which functions allocate slab objects, by cache and stack: how many are left, and how many
// were freed again.
//
// Of the allocations on some CPUs one in EVERY is followed, drawn at random, until the object is
// freed on any CPU. Objects that are freed in bulk have no tracepoint: they count as left until
// their address is allocated again.

// clang-format off
#include <linux/bpf.h>  // first: the others need its types
// clang-format on

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define EEXIST 17                // include/uapi/asm-generic/errno-base.h
#define LARGEST_OF_KMALLOC 8192  // what is larger comes from the page allocator, mm/slub.c

struct kmem_cache {
  const char* name;
} __attribute__((preserve_access_index));

// Laid out as `OwnerKey` in slab_owners.py. Of kmalloc the cache is known by size and flags.
struct OwnerKey {
  char cache[32];
  __u32 size;
  __u32 flags;
  __s32 stack;
};

// Laid out as `Counts` in slab_owners.py.
struct Counts {
  __u64 allocated;
  __u64 freed;
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, MAX_OWNERS);
  __type(key, struct OwnerKey);
  __type(value, struct Counts);
} owners SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, MAX_OBJECTS);
  __type(key, __u64);
  __type(value, struct OwnerKey);
} objects SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_STACK_TRACE);
  __uint(max_entries, MAX_OWNERS);
  __uint(key_size, sizeof(__u32));
  __uint(value_size, STACK_FRAMES * sizeof(__u64));
} stacks SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} unfollowed SEC(".maps");  // drawn, but there was no room

static const __u32 cpus[] = {CPUS};

static __always_inline int is_wanted(void) {
  __u32 cpu = bpf_get_smp_processor_id();
  for (__u32 at = 0; at < sizeof cpus / sizeof cpus[0]; ++at)
    if (cpus[at] == cpu) return bpf_get_prandom_u32() % EVERY == 0;
  return 0;
}

static __always_inline void end_object(__u64 object) {
  struct OwnerKey* owner = bpf_map_lookup_elem(&objects, &object);
  if (!owner) return;
  struct Counts* counts = bpf_map_lookup_elem(&owners, owner);
  if (counts) __sync_fetch_and_add(&counts->freed, 1);
  bpf_map_delete_elem(&objects, &object);
}

// A stack has one place in the map, by its hash. Where another stack has that, the same without its
// innermost frames has another: these are of the allocator, which is no owner.
static __always_inline long stack_of(void* context) {
  long stack = -EEXIST;
  for (__u64 skipped = 0; skipped < 4 && stack == -EEXIST; ++skipped)
    stack = bpf_get_stackid(context, &stacks, skipped);
  return stack;
}

static __always_inline void follow(void* context, __u64 object, struct OwnerKey* owner) {
  static const struct Counts none;
  __u32 first = 0;
  owner->stack = stack_of(context);
  if (owner->stack >= 0) {
    bpf_map_update_elem(&owners, owner, &none, BPF_NOEXIST);
    struct Counts* counts = bpf_map_lookup_elem(&owners, owner);
    if (counts && !bpf_map_update_elem(&objects, &object, owner, BPF_NOEXIST)) {
      __sync_fetch_and_add(&counts->allocated, 1);
      return;
    }
  }
  __u64* missed = bpf_map_lookup_elem(&unfollowed, &first);
  if (missed) ++*missed;
}

SEC("tp_btf/kmem_cache_alloc")
int BPF_PROG(allocate, unsigned long site, __u64 object, struct kmem_cache* cache) {
  end_object(object);
  if (!object || !is_wanted()) return 0;
  struct OwnerKey owner = {};
  bpf_probe_read_kernel_str(owner.cache, sizeof owner.cache, cache->name);
  follow(ctx, object, &owner);
  return 0;
}

SEC("tp_btf/kmalloc")
int BPF_PROG(allocate_unnamed, unsigned long site, __u64 object, __u64 asked, __u64 size,
             __u32 flags) {
  end_object(object);
  if (!object || size > LARGEST_OF_KMALLOC || !is_wanted()) return 0;
  struct OwnerKey owner = {.size = size, .flags = flags & (RECLAIMABLE | ACCOUNT)};
  follow(ctx, object, &owner);
  return 0;
}

SEC("tp_btf/kmem_cache_free")
int BPF_PROG(free_object, unsigned long site, __u64 object) {
  end_object(object);
  return 0;
}

SEC("tp_btf/kfree")
int BPF_PROG(free_unnamed, unsigned long site, __u64 object) {
  end_object(object);
  return 0;
}

char program_license[] SEC("license") = "GPL";  // bpf_get_stackid asks for it
