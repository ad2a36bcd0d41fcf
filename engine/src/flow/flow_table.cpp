#include "flow/flow_table.h"

#include <sys/mman.h>

#include <bit>
#include <new>

namespace engine {

namespace {

constexpr uint32_t kFirstBuckets = 1024;
/// How many splits before its own a bucket's first entry is prefetched.
constexpr uint32_t kSplitAhead = 16;

}  // namespace

FlowTable::FlowTable(Pool<Flow>& flows, TimeWaits& waits, const Ipv6Prefixes& prefixes,
                     uint32_t capacity, uint64_t seed)
    : flows_(flows),
      waits_(waits),
      prefixes_(prefixes),
      seed_((seed | 1) ^ 0x9e37'79b9'7f4a'7c15ULL),
      bucket_limit_(std::bit_ceil(capacity < kFirstBuckets ? kFirstBuckets : capacity) * 4),
      bucket_count_(kFirstBuckets),
      mask_(kFirstBuckets - 1) {
  bytes_ = size_t{bucket_limit_} * sizeof(uint32_t);
  void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  madvise(memory, bytes_, MADV_HUGEPAGE);  // as in Pool: they are looked at in no order
  buckets_ = static_cast<uint32_t*>(memory);
  for (uint32_t i = 0; i < bucket_count_; ++i) buckets_[i] = kNone;
}

FlowTable::~FlowTable() {
  munmap(buckets_, bytes_);
}

uint32_t FlowTable::hash_v6(const IpAddress& remote, const IpAddress& local, uint32_t ports) const {
  const uint64_t addresses = mix(remote.low ^ seed_, local.low);
  return hashed(mix(mix(addresses ^ remote.high, local.high), ports));
}

uint32_t FlowTable::find_v6(const FlowKey& key, const IpAddress& remote,
                            const IpAddress& local) const {
  uint32_t entry = first(key.hash);
  while (entry != kNone &&
         !(identity(entry) == key && prefixes_.are_of(identity(entry).prefixes, remote, local)))
    entry = identity(entry).table_next;
  return entry;
}

void FlowTable::grow() {
  while (crowded()) split();
}

void FlowTable::split() {
  const uint32_t added = bucket_count_++;
  if (added > mask_) mask_ = mask_ * 2 + 1;
  buckets_[added] = kNone;
  const uint32_t old = added & (mask_ >> 1);
  // Buckets are split in turn, so what the next ones hold can be on its way to the cache. Where all
  // are split and the first one is next, others are prefetched, for nothing.
  const uint32_t far = buckets_[old + kSplitAhead];
  if (far != kNone) __builtin_prefetch(&identity(far));
  const uint32_t near = buckets_[old + kSplitAhead / 2];
  const uint32_t second = near == kNone ? kNone : identity(near).table_next;
  if (second != kNone) __builtin_prefetch(&identity(second));
  uint32_t number = buckets_[old];
  buckets_[old] = kNone;
  while (number != kNone) {
    FlowIdentity& entry = identity(number);
    const uint32_t next = entry.table_next;
    uint32_t& head = buckets_[bucket_of(entry.hash)];
    entry.table_next = head;
    head = number;
    number = next;
  }
}

}  // namespace engine
