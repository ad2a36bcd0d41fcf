#include "io/memif/queue.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <cstring>

#include "io/clock.h"
#include "io/copied_frames.h"

namespace engine::memif {
namespace {

/// Frames have at most so many bytes: what a frame's length can say.
constexpr uint32_t kLongest = UINT16_MAX;

/// How many bytes of headers are copied at once: longer ones take another such piece. Memory of
/// heads and of copied frames comes in such pieces.
constexpr size_t kPiece = 64;
static_assert(kHeadRoom % kPiece == 0);

/// How many frames ahead their room is fetched, and twice as many their descriptors.
constexpr uint16_t kAhead = 8;

uint16_t acquire(const uint16_t& position) {
  return __atomic_load_n(&position, __ATOMIC_ACQUIRE);
}
void release(uint16_t& position, uint16_t value) {
  __atomic_store_n(&position, value, __ATOMIC_RELEASE);
}

}  // namespace

Queue::Queue(const Link& link, uint32_t number)
    : PortQueue({}),
      link_(link),
      number_(number),
      server_(link.settings().server),
      buffer_bytes_(link.settings().buffer_bytes) {}

// A client's rings begin with nothing, and the server sets them to that again before it tells that
// it is connected: so room is posted only now.
void Queue::follow() {
  version_ = link_.version();
  memory_ = link_.memory();
  rx_ = tx_ = {};
  if (waiting_count_ != 0) {
    lose(Drop::link_down, std::exchange(waiting_count_, 0));
    while (waiting_.next(waiting_.end()) != nullptr) {
    }
    waiting_.release();
  }
  if (memory_ == nullptr) return;
  const auto place = [](const Ring& ring) -> Place {
    return {.ring = ring,
            .descriptors = ring.header->descriptors,
            .mask = static_cast<uint16_t>(ring.size - 1)};
  };
  rx_ = place(memory_->ring(server_ ? Way::to_server : Way::to_client, number_));
  tx_ = place(memory_->ring(server_ ? Way::to_client : Way::to_server, number_));
  if (!server_) release();
}

/// Reads the next frame and goes on behind it. False: it is no frame, or not yet there whole; in
/// that case it stays the next one.
[[gnu::always_inline]] inline bool Queue::read(Frame& frame) {
  Descriptor descriptor;
  std::memcpy(&descriptor, &rx_.descriptors[rx_.next & rx_.mask], sizeof descriptor);
  uint32_t slots = 1;
  bool good;
  if ((descriptor.flags & Descriptor::kNext) == 0) [[likely]] {
    frame.head = memory_->at(descriptor.region, descriptor.offset, descriptor.length);
    frame.head_length = static_cast<uint16_t>(descriptor.length);
    good = frame.head != nullptr && descriptor.length <= kLongest;
  } else {
    good = join(frame, slots);
    if (slots == 0) return false;
  }
  rx_.next = static_cast<uint16_t>(rx_.next + slots);
  if (!good) [[unlikely]] {
    ++counters_.ipackets;
    ++counters_.ierrors;
    ++drops_[Drop::bad_descriptor];
  }
  return good;
}

std::span<const Frame> Queue::receive() {
  if (version_ != link_.version()) [[unlikely]]
    follow();
  if (memory_ == nullptr) [[unlikely]]
    return {};
  RingHeader& header = *rx_.ring.header;
  rx_.seen = acquire(server_ ? header.head : header.tail);
  joins_ = 0;
  size_t count = 0;
  while (rx_.next != rx_.seen && count < frames_.size()) {
    Frame& frame = frames_[count];
    const uint16_t before = rx_.next;
    const bool whole = read(frame);
    if (rx_.next == before) break;
    if (whole) {
      __builtin_prefetch(frame.head);
      ++count;
    }
  }
  size_t passed = 0;
  for (size_t i = 0; i < count; ++i) {
    const Frame& frame = frames_[i];
    counters_.ibytes += frame.head_length;
    const bool too_short = frame.head_length < kEthernetLength;
    if (too_short || !filter_.passes(frame.head)) [[unlikely]]
      ++drops_[too_short ? Drop::too_short : Drop::not_ours];
    else
      frames_[passed++] = frame;
  }
  counters_.ipackets += count;
  return {frames_.data(), passed};
}

/// Puts a frame of several buffers together. `slots`: how many it takes; 0: more are to come. False
/// when it is none.
[[gnu::noinline]] bool Queue::join(Frame& frame, uint32_t& slots) {
  if (joins_ == joined_.size()) joined_.emplace_back(kLongest);
  RawBytes& bytes = joined_[joins_++];
  const uint32_t there =
      std::min<uint32_t>(static_cast<uint16_t>(rx_.seen - rx_.next), rx_.ring.size);
  uint32_t length = 0;
  bool good = true;
  for (slots = 0; slots < there;) {
    Descriptor part;
    std::memcpy(&part, &rx_.descriptors[(rx_.next + slots++) & rx_.mask], sizeof part);
    const uint8_t* const from = memory_->at(part.region, part.offset, part.length);
    good = good && from != nullptr && part.length <= kLongest - length;
    if (good) {
      std::memcpy(bytes.data() + length, from, part.length);
      length += part.length;
    }
    if ((part.flags & Descriptor::kNext) != 0) continue;
    frame.head = bytes.data();
    frame.head_length = static_cast<uint16_t>(length);
    return good;
  }
  if (there < rx_.ring.size) slots = 0;
  return false;
}

// A server gives its client's buffers back; a client makes them room again.
void Queue::release() {
  if (memory_ == nullptr) [[unlikely]]
    return;
  RingHeader& header = *rx_.ring.header;
  if (server_) {
    if (rx_.told == rx_.next) return;
    memif::release(header.tail, rx_.next);
    rx_.told = rx_.next;
    return;
  }
  const auto end = static_cast<uint16_t>(rx_.next + rx_.ring.size);
  if (rx_.told == end) return;
  for (; rx_.told != end; ++rx_.told) {
    Descriptor& room = rx_.descriptors[rx_.told & rx_.mask];
    room.flags = 0;
    room.region = 0;
    room.length = buffer_bytes_;
  }
  memif::release(header.head, end);
}

/// Descriptors that may be written, by the peer's position as it was read last.
[[gnu::always_inline]] inline uint32_t Queue::known_slots() const {
  const uint32_t size = server_ ? 0 : tx_.ring.size;
  return std::min<uint32_t>(static_cast<uint16_t>(tx_.seen - tx_.next + size), tx_.ring.size);
}

/// The same; reads the position again where fewer than `wanted` are known of.
[[gnu::always_inline]] inline uint32_t Queue::free_slots(uint32_t wanted) {
  if (const uint32_t known = known_slots(); known >= wanted) [[likely]]
    return known;
  tx_.seen = acquire(server_ ? tx_.ring.header->head : tx_.ring.header->tail);
  return known_slots();
}

/// Where the frame at `position` of the ring may be written, and how much of it. A client's buffers
/// are its own; where a server's are, the client says: `to` is nullptr when that is not in the
/// memory.
[[gnu::always_inline]] inline Queue::Room Queue::room_at(uint16_t position) const {
  const uint32_t slot = position & tx_.mask;
  if (!server_) return {tx_.ring.buffers + size_t{slot} * buffer_bytes_, buffer_bytes_};
  Descriptor descriptor;
  std::memcpy(&descriptor, &tx_.descriptors[slot], sizeof descriptor);
  return {memory_->at(descriptor.region, descriptor.offset, descriptor.length), descriptor.length};
}

/// The peer's core had the ring and its buffers last.
[[gnu::always_inline]] inline void Queue::fetch_ahead() const {
  __builtin_prefetch(&tx_.descriptors[(tx_.next + 2 * kAhead) & tx_.mask], 1);
  __builtin_prefetch(room_at(static_cast<uint16_t>(tx_.next + kAhead)).to, 1);
}

/// Writes a frame to the ring; the peer is not told. False: there is no room for it now.
[[gnu::always_inline]] inline bool Queue::write(const Frame& frame) {
  if (free_slots(1) == 0) return false;
  fetch_ahead();
  const auto [to, size] = room_at(tx_.next);
  // What fits into the head of a slot is copied in whole pieces, of which the last may be longer.
  const size_t length = frame.length();
  const size_t pieces = (frame.head_length + kPiece - 1) / kPiece * kPiece;
  if (std::max(length, pieces) > size || to == nullptr) [[unlikely]]
    return write_in_parts(frame);
  if (pieces <= kHeadRoom) [[likely]]
    for (size_t at = 0; at < pieces; at += kPiece) std::memcpy(to + at, frame.head + at, kPiece);
  else
    std::memcpy(to, frame.head, frame.head_length);
  if (frame.payload_length != 0)
    std::memcpy(to + frame.head_length, frame.payload, frame.payload_length);
  tell(tx_.next, length, 0);
  ++tx_.next;
  ++counters_.opackets;
  counters_.obytes += length;
  return true;
}

[[gnu::always_inline]] inline void Queue::tell(uint16_t position, size_t length, uint16_t flags) {
  Descriptor& slot = tx_.descriptors[position & tx_.mask];
  slot.flags = flags;
  slot.length = static_cast<uint32_t>(length);
}

[[gnu::noinline]] bool Queue::write_in_parts(const Frame& frame) {
  const uint32_t free = free_slots(tx_.ring.size);
  std::array<std::span<const uint8_t>, 2> parts{
      std::span<const uint8_t>{frame.head, frame.head_length},
      std::span<const uint8_t>{frame.payload, frame.payload_length}};
  size_t left = frame.length();
  uint16_t position = tx_.next;
  for (uint32_t slots = 0; slots < free; ++slots, ++position) {
    auto [to, size] = room_at(position);
    if (to == nullptr) return false;
    const size_t here = std::min<size_t>(left, size);
    left -= here;
    tell(position, here, left == 0 ? 0 : Descriptor::kNext);
    for (size_t room = here; auto& part : parts) {
      const size_t bytes = std::min(room, part.size());
      if (bytes != 0) std::memcpy(to, part.data(), bytes);
      part = part.subspan(bytes);
      to += bytes;
      room -= bytes;
    }
    if (left != 0) continue;
    tx_.next = static_cast<uint16_t>(position + 1);
    ++counters_.opackets;
    counters_.obytes += frame.length();
    return true;
  }
  if (free < tx_.ring.size) return false;
  lose(Drop::frame_refused, 1);
  return true;
}

void Queue::send(std::span<Frame> frames) {
  if (memory_ == nullptr) [[unlikely]]
    return lose(Drop::link_down, frames.size());
  const size_t sent = send_waiting() != 0 ? 0 : hand_over(frames);
  if (sent < frames.size()) [[unlikely]]
    hold(frames.subspan(sent));
}

size_t Queue::hand_over(std::span<const Frame> frames) {
  const uint64_t from = Clock::read();
  size_t sent = 0;
  while (sent < frames.size() && write(frames[sent])) ++sent;
  if (tx_.told != tx_.next) publish();
  sending_ += Clock::read() - from;
  return sent;
}

void Queue::publish() {
  RingHeader& header = *tx_.ring.header;
  memif::release(server_ ? header.tail : header.head, tx_.next);
  tx_.told = tx_.next;
  if ((header.flags & RingHeader::kNoInterrupt) == 0) eventfd_write(tx_.ring.event, 1);
}

size_t Queue::send_waiting() {
  if (waiting_count_ == 0) [[likely]]
    return 0;
  const uint64_t from = Clock::read();
  const uint64_t end = waiting_.end();
  while (const Frame* const frame = waiting_.peek(end)) {
    if (!write(*frame)) break;
    waiting_.next(end);
    --waiting_count_;
  }
  waiting_.release();
  if (tx_.told != tx_.next) publish();
  sending_ += Clock::read() - from;
  return waiting_count_;
}

void Queue::hold(std::span<const Frame> frames) {
  while (!frames.empty() && waiting_count_ < kWaiting && push_copy(waiting_, frames.front())) {
    ++waiting_count_;
    frames = frames.subspan(1);
  }
  lose(Drop::device_full, frames.size());
}

void Queue::lose(Drop reason, size_t frames) {
  counters_.oerrors += frames;
  drops_[reason] += frames;
}

BufferPool Queue::buffers() const {
  if (memory_ == nullptr) return {};
  uint64_t bytes = 0;
  for (const Memory::Region& region : memory_->regions()) bytes += region.bytes;
  return {.object_bytes = server_ ? 0 : buffer_bytes_,
          .count = tx_.ring.size,
          .free = known_slots(),
          .reserved_bytes = bytes};
}

}  // namespace engine::memif
