#include "program/expected_stream.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace engine {

namespace {

constexpr size_t kMostSteps = 1 << 20;

uint64_t differing(const uint8_t* left, const uint8_t* right, size_t length) {
  if (std::memcmp(left, right, length) == 0) return 0;
  uint64_t count = 0;
  for (size_t i = 0; i < length; ++i) count += left[i] != right[i];
  return count;
}

}  // namespace

ExpectedStream::ExpectedStream(const Program& program, const std::vector<Buffer>& buffers)
    : buffers_(buffers) {
  if (program.stream)
    follow(program);
  else
    for (const Command& command : program.commands)
      if (command.operation == Operation::tx_msg) datagrams_.push_back(command.index);
  std::ranges::sort(datagrams_);
  datagrams_.erase(std::unique(datagrams_.begin(), datagrams_.end()), datagrams_.end());
}

void ExpectedStream::follow(const Program& program) {
  std::array<uint64_t, kVariables> variables{};
  size_t at = 0;
  for (size_t step = 0; step < kMostSteps; ++step) {
    const Command& command = program.commands[at];
    bool jumps = false;
    switch (command.operation) {
      case Operation::tx:
        if (pieces_.size() == kMostPieces) return;
        add(command.index);
        break;
      case Operation::set_var:
        variables[command.index] = command.amount;
        break;
      case Operation::add_var:
        variables[command.index] += command.amount;
        break;
      case Operation::jmp_nz:
        jumps = --variables[command.index] != 0;
        break;
      case Operation::jmp_cmp:
        jumps = holds(command.comparison,
                      command.comparison == Comparison::always ? 0 : variables[command.index],
                      command.amount);
        break;
      case Operation::jmp_dp:
        return;
      case Operation::reset:
      case Operation::nc:
      case Operation::end:
        complete_ = true;
        return;
      default:
        break;
    }
    at = jumps ? command.target : at + 1;
  }
}

void ExpectedStream::add(uint32_t buffer) {
  if (buffers_[buffer].size() == 0) return;
  pieces_.push_back({length_, buffer});
  length_ += buffers_[buffer].size();
}

ExpectedStream::Difference ExpectedStream::compare(uint64_t position,
                                                   std::span<const uint8_t> bytes) const {
  Difference difference;
  auto next = std::ranges::upper_bound(pieces_, position, {}, &Piece::begin);
  while (!bytes.empty() && position < length_) {
    if (next != pieces_.end() && next->begin == position) ++next;
    const Piece& piece = *std::prev(next);
    const Buffer& buffer = buffers_[piece.buffer];
    const auto offset = static_cast<uint32_t>(position - piece.begin);
    const auto length = static_cast<uint32_t>(
        std::min<size_t>({bytes.size(), buffer.size() - offset, Buffer::kMaxSpan}));
    difference.known += length;
    difference.differs += differing(bytes.data(), buffer.at(offset, length), length);
    bytes = bytes.subspan(length);
    position += length;
  }
  if (complete_) {
    difference.known += bytes.size();
    difference.differs += bytes.size();
  }
  return difference;
}

ExpectedStream::Difference ExpectedStream::compare_datagram(std::span<const uint8_t> bytes) const {
  Difference difference{bytes.size(), bytes.size()};
  for (const uint32_t datagram : datagrams_) {
    const Buffer& buffer = buffers_[datagram];
    if (buffer.size() != bytes.size()) continue;
    const auto length = static_cast<uint32_t>(bytes.size());
    difference.differs =
        std::min(difference.differs, differing(bytes.data(), buffer.at(0, length), length));
  }
  return difference;
}

}  // namespace engine
