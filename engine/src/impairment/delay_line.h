#pragma once
// Frames on their way: each stays until its moment.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/record_ring.h"
#include "base/time.h"
#include "net/frame.h"

namespace engine {

/// Copies of frames in a ring of memory, handed out in order of the time they are due. Memory is
/// got when the line is made, and touched when it is used.
class DelayLine {
 public:
  /// Room for 100 ms of 2 Gbit/s in long frames; each takes up to 127 bytes beside its own.
  static constexpr size_t kBytes = size_t{32} << 20;

  /// `bytes`: room, a power of two, more than two of the longest frames.
  explicit DelayLine(size_t bytes = kBytes);

  /// Keeps a copy of `frame` until `due`: head and payload one behind the other, which may still be
  /// changed. nullptr: the line is full.
  Frame* put(const Frame& frame, Nanoseconds due);
  bool empty() const { return waiting_.empty(); }
  /// When the next frame is due; INT64_MAX: there is none.
  Nanoseconds next_due() const { return empty() ? INT64_MAX : waiting_.front().due; }
  /// Takes out the next frame due by `now`, of those due at the same time the one put first; it
  /// lives until `release`. nullptr: none is.
  const Frame* take(Nanoseconds now);
  /// Frames taken are needed no more.
  void release();

 private:
  struct Record {
    Frame frame;
    bool over = false;  ///< needed no more
  };
  struct Waiting {
    Nanoseconds due;
    uint64_t number;  ///< grows with each
    Record* record;
  };
  static constexpr size_t kLeastBytes = 128;  ///< that one takes

  static bool later(const Waiting& left, const Waiting& right);

  RecordRing<Record> ring_;
  std::vector<Waiting> waiting_;  ///< a heap, the earliest in front
  std::vector<Record*> taken_;
  uint64_t put_ = 0;
};

}  // namespace engine
