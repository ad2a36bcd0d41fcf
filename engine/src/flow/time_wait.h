#pragma once
// Connections in TIME_WAIT, of which one cache line is kept instead of a flow's three.

#include <cstddef>
#include <cstdint>
#include <span>

#include "flow/flow.h"
#include "flow/pool.h"
#include "flow/timer_kind.h"

namespace engine {

/// The records of one data core: the heads of flows that have ended, for an answer to a FIN that
/// comes again (RFC 9293) and for a new connection of the same addresses and ports (RFC 6191). They
/// are in the order in which they end: all of them last equally long. They stand in chunks, which
/// are filled and emptied from their first record on. So a record needs no links, and a chunk that
/// has become empty is filled again while it is in the cache.
class TimeWaits {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// `flows`: connections there may be at once, in TIME_WAIT or not.
  explicit TimeWaits(uint32_t flows) : chunks_(kSpare + flows / kRecords * 2) {}

  /// A record and its number; nullptr: none.
  struct Numbered {
    FlowHead* record;
    uint32_t number;
  };
  /// The number of a record of `flow`, which ends at `end`, not before the end of any other. kNone:
  /// there is no room, because many records were taken out before their time.
  uint32_t add(const FlowHead& flow, Tick end);
  /// Takes a record out of the order, whose time has come or not.
  void remove(FlowHead& record) {
    record.state = FlowState::free;
    --in_use_;
  }
  /// Records that end by `now`, at most as many as there is room for. They stay readable until the
  /// next `add`, and the caller removes each.
  std::span<Numbered> due(Tick now, std::span<Numbered> room);
  /// When a record ends.
  Tick end_of(uint32_t number) const {
    return chunks_[number / kRecords].begin + (*this)[number].delay;
  }

  FlowHead& operator[](uint32_t number) {
    return chunks_[number / kRecords].records[number % kRecords];
  }
  const FlowHead& operator[](uint32_t number) const {
    return chunks_[number / kRecords].records[number % kRecords];
  }

  uint32_t in_use() const { return in_use_; }
  /// One past the highest number ever used.
  uint32_t used() const { return chunks_.used() * kRecords; }
  size_t touched_bytes() const { return chunks_.touched_bytes(); }

 private:
  static constexpr uint32_t kRecords = 128;
  /// Chunks beyond twice of what the flows fill: the oldest and the newest are part empty.
  static constexpr uint32_t kSpare = 4;

  struct Chunk {
    FlowHead records[kRecords];
    uint32_t next = kNone;  ///< the next younger one, or in the pool's free list
    uint32_t filled = 0;
    Tick begin = 0;  ///< when its first record ends

    uint32_t& pool_next() { return next; }
  };

  /// Adds an empty chunk, whose first record ends at `begin`. False: there is none.
  bool begin_chunk(Tick begin);

  Pool<Chunk> chunks_;
  uint32_t oldest_ = kNone;
  uint32_t newest_ = kNone;
  uint32_t taken_ = 0;  ///< records of the oldest chunk whose time has come
  uint32_t in_use_ = 0;
};

}  // namespace engine
