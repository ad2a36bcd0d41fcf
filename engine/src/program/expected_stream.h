#pragma once
// What a program is going to send, told beforehand: what the other end of a flow is to receive.

#include <cstdint>
#include <span>
#include <vector>

#include "flow/buffer.h"
#include "program/program.h"

namespace engine {

/// The bytes that a program sends over one connection. Loops that count are followed; from a jump
/// that depends on time on, or beyond kMostPieces buffers, what comes is not known.
class ExpectedStream {
 public:
  static constexpr size_t kMostPieces = 1 << 16;

  /// `buffers`: the profile's; they outlive this.
  ExpectedStream(const Program& program, const std::vector<Buffer>& buffers);

  struct Difference {
    uint64_t known = 0;    ///< bytes that were compared
    uint64_t differs = 0;  ///< of those, other than expected; beyond the stream's end: all
  };
  /// Compares `bytes` received at `position`, bytes from the connection's first.
  Difference compare(uint64_t position, std::span<const uint8_t> bytes) const;
  /// Compares a datagram with those of its length that the program may send, in whichever order;
  /// tells the difference from the likest one. None of its length: all bytes differ.
  Difference compare_datagram(std::span<const uint8_t> bytes) const;

 private:
  struct Piece {
    uint64_t begin;  ///< position in the stream
    uint32_t buffer;
  };

  void follow(const Program& program);
  void add(uint32_t buffer);

  const std::vector<Buffer>& buffers_;
  std::vector<Piece> pieces_;
  uint64_t length_ = 0;              ///< of what is known
  bool complete_ = false;            ///< there is nothing behind it
  std::vector<uint32_t> datagrams_;  ///< buffers that leave as such
};

}  // namespace engine
