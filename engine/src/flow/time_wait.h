#pragma once
// What is kept of a connection in TIME_WAIT: one cache line instead of a flow's three.

#include <cstddef>
#include <cstdint>
#include <span>

#include "flow/flow_identity.h"
#include "flow/pool.h"
#include "flow/timer_kind.h"

namespace engine {

/// What RFC 9293 (an answer to a FIN that comes again) and RFC 6191 (a new connection of the same
/// addresses and ports) need of a TCP connection that is over.
struct alignas(64) TimeWait : FlowIdentity {
  static constexpr uint32_t kUnused = UINT32_MAX;

  uint32_t flow_class;  ///< number of its FlowClass; kUnused: the record holds no connection
  uint32_t snd_nxt;
  uint32_t rcv_nxt;
  uint32_t ts_recent;
  uint16_t window;     ///< the peer's last, as on the wire
  uint16_t l2_header;  ///< number in the side's L2HeaderTable
  uint16_t delay;      ///< ticks from the beginning of its chunk to its end
  uint8_t scales;      ///< window scales, as in Flow
  uint8_t options;     ///< what both ends agreed on; TCP's own bits
};

static_assert(sizeof(TimeWait) == 64, "a connection in TIME_WAIT has one cache line");

/// The records of one data core, in the order in which they end: all of them last equally long.
/// They stand in chunks, which are filled and emptied from their first record on. So a record needs
/// no links, and a chunk that has become empty is filled again while it is in the cache.
class TimeWaits {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// `flows`: connections there may be at once, in TIME_WAIT or not.
  explicit TimeWaits(uint32_t flows) : chunks_(kSpare + flows / kRecords * 2) {}

  /// A record and its number; nullptr: none.
  struct Numbered {
    TimeWait* record;
    uint32_t number;
  };
  /// A record for a connection that ends at `end`, which is not before the end of any other. Its
  /// fields except `delay` are to be set. None: there is no room, because many records were taken
  /// out before their time.
  Numbered add(Tick end);
  /// Takes a record out of the order, whose time has come or not.
  void remove(TimeWait& record) {
    record.flow_class = TimeWait::kUnused;
    --in_use_;
  }
  /// Records that end by `now`, at most as many as there is room for. They stay readable until the
  /// next `add`, and the caller removes each.
  std::span<Numbered> due(Tick now, std::span<Numbered> room);
  /// When a record ends.
  Tick end_of(uint32_t number) const {
    return chunks_[number / kRecords].begin + (*this)[number].delay;
  }

  TimeWait& operator[](uint32_t number) {
    return chunks_[number / kRecords].records[number % kRecords];
  }
  const TimeWait& operator[](uint32_t number) const {
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
    Chunk() {
      for (TimeWait& record : records) record.flow_class = TimeWait::kUnused;
    }
    TimeWait records[kRecords];
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
