#pragma once
// From addresses and ports to a flow or a record of TIME_WAIT: linear hashing, which grows bucket
// by bucket, never all at once.

#include <bit>
#include <cstdint>

#include "flow/flow.h"
#include "flow/pool.h"
#include "flow/time_wait.h"

namespace engine {

/// What tells flows of one side apart; `remote` and `local` as the flow's owner sees them.
struct FlowKey {
  IpAddress remote;
  IpAddress local;
  uint16_t remote_port;
  uint16_t local_port;
  bool datagram;

  bool is_of(const FlowIdentity& flow) const {
    return flow.remote_port == remote_port && flow.local_port == local_port &&
           flow.remote == remote && flow.local == local;
  }
};

/// Litwin's linear hashing: an insertion beyond the load factor splits a bucket or two, so that no
/// packet ever pays for rehashing millions of flows. Buckets are numbers of 4 bytes; entries are
/// chained through FlowIdentity::table_next. Memory is touched only as far as the table has grown.
/// What a look-up reads of the table is one cache line.
/// An entry is a flow, by its number, or a record of a connection in TIME_WAIT.
class alignas(64) FlowTable {
 public:
  /// No entry.
  static constexpr uint32_t kNone = UINT32_MAX;
  /// Flows there may be, so that their numbers and those of records, which are up to twice as many,
  /// differ from each other's entries and from kNone.
  static constexpr uint32_t kMostFlows = 1u << 29;

  FlowTable(Pool<Flow>& flows, TimeWaits& waits, uint32_t capacity, uint64_t seed);
  ~FlowTable();
  FlowTable(const FlowTable&) = delete;
  FlowTable& operator=(const FlowTable&) = delete;

  /// The entry of a record, and the record of an entry that is neither kNone nor a flow's.
  static uint32_t entry_of_wait(uint32_t record) { return record | kWait; }
  static uint32_t wait_of(uint32_t entry) { return entry & ~kWait; }
  static bool is_flow(uint32_t entry) { return entry < kWait; }

  uint32_t hash(const FlowKey& key) const {
    return hash(key.remote, key.local, uint32_t{key.remote_port} << 16 | key.local_port,
                key.datagram);
  }
  uint32_t hash(const FlowIdentity& flow, bool datagram) const {
    return hash(flow.remote, flow.local, uint32_t{flow.remote_port} << 16 | flow.local_port,
                datagram);
  }
  /// The same of addresses of IPv4; in `addresses` and `ports` the remote's stand in the upper
  /// half.
  uint32_t hash_v4(uint64_t addresses, uint32_t ports, bool datagram) const {
    return static_cast<uint32_t>(mix(addresses ^ seed_, of(ports, datagram)));
  }
  /// Where the first entry of a bucket stands, to prefetch; kNone: the bucket is empty. Valid until
  /// the next insertion.
  const uint32_t* bucket(uint32_t hash) const { return &buckets_[bucket_of(hash)]; }
  void prefetch(uint32_t hash) const { __builtin_prefetch(bucket(hash)); }
  uint32_t first(uint32_t hash) const { return *bucket(hash); }
  /// What stands behind it.
  uint32_t second(uint32_t hash) const {
    const uint32_t entry = first(hash);
    return entry == kNone ? kNone : identity(entry).table_next;
  }
  /// The entry under `key`, or kNone.
  uint32_t find(const FlowKey& key, uint32_t hash) const {
    uint32_t entry = first(hash);
    while (entry != kNone && !holds(entry, key)) entry = identity(entry).table_next;
    return entry;
  }
  /// The entry of a TCP flow over IPv4, or kNone; `addresses` and `ports` as for hash_v4.
  uint32_t find_v4(uint64_t addresses, uint32_t ports, uint32_t hash) const {
    uint32_t entry = first(hash);
    while (entry != kNone && !holds_v4(entry, addresses, ports)) entry = identity(entry).table_next;
    return entry;
  }
  /// Of an entry that is not kNone.
  FlowIdentity& identity(uint32_t entry) const {
    if (is_flow(entry)) [[likely]]
      return flows_[entry];
    return waits_[wait_of(entry)];
  }
  /// Adds a flow whose identity is set and not yet in the table; `hash`: of that.
  void insert(Flow& flow, uint32_t hash) { insert(flows_.number_of(flow), hash); }
  [[gnu::always_inline]] void insert(uint32_t number, uint32_t hash) {
    if (crowded()) [[unlikely]]
      grow();
    uint32_t& head = buckets_[bucket_of(hash)];
    flows_[number].table_next = head;
    head = number;
    ++size_;
  }
  /// Puts an entry in the place of another one whose FlowIdentity it has copied. `hash` as for
  /// `erase`.
  void replace(uint32_t entry, uint32_t by, uint32_t hash) {
    if (uint32_t* const link = link_to(entry, hash)) [[likely]]
      *link = by;
  }
  /// `flow`: what the entry stands for. `hash`: of that; another one costs time, and nothing else.
  void erase(uint32_t entry, const FlowIdentity& flow, uint32_t hash) {
    uint32_t* const link = link_to(entry, hash);
    if (link == nullptr) [[unlikely]]
      return;
    *link = flow.table_next;
    --size_;
  }
  uint32_t size() const { return size_; }
  /// What tells its entries has left the caches: a line of each takes 32 MB and more.
  bool is_large() const { return size_ >= 1u << 19; }
  size_t touched_bytes() const { return size_t{bucket_count_} * sizeof(uint32_t); }

 private:
  uint32_t hash(const IpAddress& remote, const IpAddress& local, uint32_t ports,
                bool datagram) const {
    if (remote.is_v4()) [[likely]]
      return hash_v4(uint64_t{remote.low32()} << 32 | local.low32(), ports, datagram);
    const uint64_t addresses = mix(remote.low ^ seed_, local.low);
    return static_cast<uint32_t>(
        mix(mix(addresses ^ remote.high, local.high), of(ports, datagram)));
  }
  static uint64_t of(uint32_t ports, bool datagram) { return uint64_t{datagram} << 32 | ports; }
  static uint64_t mix(uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * (b ^ 0xd1b5'4a32'd192'ed03ULL);
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  uint32_t bucket_of(uint32_t hash) const {
    const uint32_t bucket = hash & mask_;
    return bucket < bucket_count_ ? bucket : bucket & (mask_ >> 1);
  }
  bool holds(uint32_t entry, const FlowKey& key) const {
    const bool datagram = is_flow(entry) && flows_[entry].state == FlowState::datagram;
    return key.is_of(identity(entry)) && datagram == key.datagram;
  }
  bool holds_v4(uint32_t entry, uint64_t addresses, uint32_t ports) const {
    const FlowIdentity& flow = identity(entry);
    return flow.ports() == std::rotl(ports, 16) &&
           flow.remote == IpAddress::v4(static_cast<uint32_t>(addresses >> 32)) &&
           flow.local == IpAddress::v4(static_cast<uint32_t>(addresses)) &&
           !(is_flow(entry) && flows_[entry].state == FlowState::datagram);
  }
  /// Two flows to three buckets: short chains for little memory.
  bool crowded() const {
    return uint64_t{size_ + 1} * 3 > uint64_t{bucket_count_} * 2 && bucket_count_ < bucket_limit_;
  }
  /// What leads to an entry in the bucket of `hash`, or to kNone at the bucket's end.
  uint32_t* search(uint32_t entry, uint32_t hash) {
    uint32_t* link = &buckets_[bucket_of(hash)];
    while (*link != entry && *link != kNone) link = &identity(*link).table_next;
    return link;
  }
  /// What leads to an entry; nullptr: it is not in the table.
  uint32_t* link_to(uint32_t entry, uint32_t hash) {
    uint32_t* const link = search(entry, hash);
    return *link == entry ? link : link_by_identity(entry);
  }
  uint32_t* link_by_identity(uint32_t entry);
  /// Splits one bucket, or two, so that it is not crowded.
  void grow();
  void split();

  static constexpr uint32_t kWait = 1u << 31;

  Pool<Flow>& flows_;
  TimeWaits& waits_;
  uint64_t seed_;
  uint32_t* buckets_;
  size_t bytes_;
  uint32_t bucket_limit_;
  uint32_t bucket_count_;
  uint32_t mask_;  ///< smallest 2^n - 1 >= bucket_count_ - 1
  uint32_t size_ = 0;
};

}  // namespace engine
