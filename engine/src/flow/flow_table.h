#pragma once
// From addresses and ports to a flow or a record of TIME_WAIT: linear hashing, which grows bucket
// by bucket, never all at once.

#include <cassert>
#include <cstdint>

#include "flow/flow.h"
#include "flow/ipv6_prefixes.h"
#include "flow/pool.h"
#include "flow/time_wait.h"

namespace engine {

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

  FlowTable(Pool<Flow>& flows, TimeWaits& waits, const Ipv6Prefixes& prefixes, uint32_t capacity,
            uint64_t seed);
  ~FlowTable();
  FlowTable(const FlowTable&) = delete;
  FlowTable& operator=(const FlowTable&) = delete;

  /// The entry of a record, and the record of an entry that is neither kNone nor a flow's.
  static uint32_t entry_of_wait(uint32_t record) { return record | kWait; }
  static uint32_t wait_of(uint32_t entry) { return entry & ~kWait; }
  static bool is_flow(uint32_t entry) { return entry < kWait; }

  /// The key of a TCP connection over IPv4; `addresses` and `ports` as FlowKey has them.
  FlowKey key_v4(uint64_t addresses, uint32_t ports) const {
    return {addresses, ports, hashed(mix(addresses ^ seed_, ports))};
  }
  /// The key of any flow; `remote` and `local` as the flow's owner sees them.
  FlowKey key(const IpAddress& remote, const IpAddress& local, uint16_t remote_port,
              uint16_t local_port, bool datagram) const {
    uint64_t addresses;
    uint32_t ports;
    store_be<uint64_t>(&addresses, uint64_t{remote.low32()} << 32 | local.low32());
    store_be<uint32_t>(&ports, uint32_t{remote_port} << 16 | local_port);
    FlowKey key = key_v4(addresses, ports);
    // An address of IPv4 in an IPv6 header (RFC 4291 section 2.5.5.2) is that address, if both are.
    if (!remote.is_v4() || !local.is_v4()) [[unlikely]]
      key.hash = hash_v6(remote, local, ports) | FlowKey::kIpv6;
    if (datagram) key.hash |= FlowKey::kDatagram;
    return key;
  }
  /// Where the first entry of a bucket stands, to prefetch; kNone: the bucket is empty. Once flows
  /// are inserted, it may be the place of others.
  const uint32_t* bucket(uint32_t hash) const { return &buckets_[bucket_of(hash)]; }
  void prefetch(uint32_t hash) const { __builtin_prefetch(bucket(hash)); }
  uint32_t first(uint32_t hash) const { return *bucket(hash); }
  /// The entry under a key over IPv4, or kNone.
  uint32_t find_v4(const FlowKey& key) const {
    uint32_t entry = first(key.hash);
    while (entry != kNone && !(identity(entry) == key)) entry = identity(entry).table_next;
    return entry;
  }
  /// The entry under any key, which is that of these addresses, or kNone.
  uint32_t find(const FlowKey& key, const IpAddress& remote, const IpAddress& local) const {
    return key.ipv6() ? find_v6(key, remote, local) : find_v4(key);
  }
  /// Of an entry that is not kNone.
  FlowIdentity& identity(uint32_t entry) const {
    if (is_flow(entry)) [[likely]]
      return flows_[entry];
    return waits_[wait_of(entry)];
  }
  /// Adds the flow of that number, whose key is set and not yet in the table.
  [[gnu::always_inline]] void insert(uint32_t number, Flow& flow) {
    if (crowded()) [[unlikely]]
      grow();
    uint32_t& head = buckets_[bucket_of(flow.hash)];
    flow.table_next = head;
    head = number;
    ++size_;
  }
  /// Puts an entry in the place of another one whose identity, `flow`, it has copied.
  void replace(uint32_t entry, uint32_t by, const FlowIdentity& flow) {
    *link_to(entry, flow.hash) = by;
  }
  /// `flow`: the identity of the entry.
  void erase(uint32_t entry, const FlowIdentity& flow) {
    *link_to(entry, flow.hash) = flow.table_next;
    --size_;
  }
  uint32_t size() const { return size_; }
  size_t touched_bytes() const { return size_t{bucket_count_} * sizeof(uint32_t); }

 private:
  /// What a key has of a hash.
  static uint32_t hashed(uint64_t hash) {
    return static_cast<uint32_t>(hash) & (FlowKey::kIpv6 - 1);
  }
  uint32_t hash_v6(const IpAddress& remote, const IpAddress& local, uint32_t ports) const;
  static uint64_t mix(uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * (b ^ 0xd1b5'4a32'd192'ed03ULL);
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  uint32_t bucket_of(uint32_t hash) const {
    const uint32_t bucket = hash & mask_;
    return bucket < bucket_count_ ? bucket : bucket & (mask_ >> 1);
  }
  uint32_t find_v6(const FlowKey& key, const IpAddress& remote, const IpAddress& local) const;
  /// Three buckets to a flow: what stands before it in its bucket would be a line of memory that is
  /// in no cache, where many are open, and costs more than 12 bytes do.
  bool crowded() const {
    return uint64_t{size_ + 1} * 3 > bucket_count_ && bucket_count_ < bucket_limit_;
  }
  /// What leads to an entry, which is in the table.
  uint32_t* link_to(uint32_t entry, uint32_t hash) {
    uint32_t* link = &buckets_[bucket_of(hash)];
    while (*link != entry) {
      assert(*link != kNone);
      link = &identity(*link).table_next;
    }
    return link;
  }
  /// Splits one bucket, or two, so that it is not crowded.
  void grow();
  void split();

  static constexpr uint32_t kWait = 1u << 31;

  Pool<Flow>& flows_;
  TimeWaits& waits_;
  const Ipv6Prefixes& prefixes_;
  uint64_t seed_;
  uint32_t* buckets_;
  size_t bytes_;
  uint32_t bucket_limit_;
  uint32_t bucket_count_;
  uint32_t mask_;  ///< smallest 2^n - 1 >= bucket_count_ - 1
  uint32_t size_ = 0;
};

}  // namespace engine
