#pragma once
// From addresses and ports to a flow: linear hashing, which grows bucket by bucket, never all at
// once.

#include <cstdint>

#include "flow/flow.h"
#include "flow/pool.h"

namespace engine {

/// What tells flows of one side apart; `remote` and `local` as the flow's owner sees them.
struct FlowKey {
  IpAddress remote;
  IpAddress local;
  uint16_t remote_port;
  uint16_t local_port;
  bool datagram;

  bool is_of(const Flow& flow) const {
    return flow.remote_port == remote_port && flow.local_port == local_port &&
           flow.remote == remote && flow.local == local &&
           (flow.state == FlowState::datagram) == datagram;
  }
};

/// Litwin's linear hashing: each insertion beyond the load factor splits one bucket, so that no
/// packet ever pays for rehashing millions of flows. Buckets are numbers of 4 bytes; flows are
/// chained through Flow::table_next. Memory is touched only as far as the table has grown.
class FlowTable {
 public:
  FlowTable(Pool<Flow>& flows, uint32_t capacity, uint64_t seed);
  ~FlowTable();
  FlowTable(const FlowTable&) = delete;
  FlowTable& operator=(const FlowTable&) = delete;

  uint32_t hash(const FlowKey& key) const;
  void prefetch(uint32_t hash) const { __builtin_prefetch(&buckets_[bucket_of(hash)]); }
  void prefetch(const Flow& flow) const;
  /// The number of the first flow in the bucket, to prefetch; Flow::kNone: the bucket is empty.
  uint32_t first(uint32_t hash) const { return buckets_[bucket_of(hash)]; }
  /// The flow under `key`, or nullptr.
  Flow* find(const FlowKey& key, uint32_t hash) const {
    for (uint32_t number = first(hash); number != Flow::kNone; number = flows_[number].table_next)
      if (key.is_of(flows_[number])) return &flows_[number];
    return nullptr;
  }
  /// Adds a flow whose identity is set and not yet in the table; `hash`: of that.
  void insert(Flow& flow, uint32_t hash);
  void erase(Flow& flow);
  uint32_t size() const { return size_; }
  size_t touched_bytes() const { return size_t{bucket_count_} * sizeof(uint32_t); }

 private:
  uint32_t bucket_of(uint32_t hash) const {
    const uint32_t bucket = hash & mask_;
    return bucket < bucket_count_ ? bucket : bucket & (mask_ >> 1);
  }
  void split();

  Pool<Flow>& flows_;
  uint64_t seed_;
  uint32_t* buckets_;
  size_t bytes_;
  uint32_t bucket_limit_;
  uint32_t bucket_count_;
  uint32_t mask_;  ///< smallest 2^n - 1 >= bucket_count_ - 1
  uint32_t size_ = 0;
};

}  // namespace engine
