#include "io/memif/queue.h"

#include <algorithm>
#include <cstring>

#include "io/clock.h"
#include "net/copied_frame.h"
#include "net/rx_segment.h"

namespace engine::memif {
namespace {

/// Frames have at most so many bytes: what a frame's length can say.
constexpr uint32_t kLongest = UINT16_MAX;

/// How many bytes of headers are copied at once: longer ones take another such piece. Memory of
/// heads and of copied frames comes in such pieces.
constexpr size_t kPiece = 64;
static_assert(kHeadRoom % kPiece == 0);

/// Of a received frame, what is copied first: the headers of TCP without a tunnel fit.
constexpr size_t kHeaders = 2 * kPiece;

/// Room for a burst of copies, each of which begins at a cache line.
constexpr size_t kCopies = TransmitQueue::kBurst * (kLongest + 1 + kHeaders);

/// Parts that a frame may have: with more, of 64 bytes each, it would be longer than a frame may
/// be.
constexpr uint32_t kMostParts = (kLongest + 1) / kPiece;

/// How many frames ahead their room is fetched, and twice as many their descriptors.
constexpr uint16_t kAhead = 8;

uint16_t acquire(const uint16_t& position) {
  return __atomic_load_n(&position, __ATOMIC_ACQUIRE);
}
void release(uint16_t& position, uint16_t value) {
  __atomic_store_n(&position, value, __ATOMIC_RELEASE);
}

/// Where the payload of a usual frame begins, whose first kHeaders bytes are at `head`: untagged
/// IPv4 without options, TCP. 0: it is another one.
uint32_t usual_payload(const uint8_t* head) {
  constexpr uint32_t kTcp = kEthernetLength + kIpv4Length;
  if ((load_be<uint32_t>(head + kEthernetLength - 2) & 0xffff'ff00) != 0x0800'4500 ||
      head[kEthernetLength + 9] != kProtocolTcp)
    return 0;
  const uint32_t header = head[kTcp + 12] >> 2 & 0x3c;
  return header < tcp::kFixedHeader ? 0 : kTcp + header;
}

/// The same of any TCP segment.
[[gnu::noinline]] uint32_t unusual_payload(uint8_t* head, size_t length) {
  Frame begins;
  begins.head = head;
  begins.head_length = kHeaders;
  begins.payload_length = static_cast<uint32_t>(length - kHeaders);
  begins.checksums = Checksums::trusted;
  const RxSegment segment = parse(begins);
  if (segment.kind != PacketKind::tcp) return 0;
  return static_cast<uint32_t>(segment.header - head) + segment.header_length;
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
  copies_ = RawBytes();  // `= {}` would leave it its memory
  if (memory_ == nullptr) return;
  copies_.resize(kCopies);
  const auto begin = [](const Ring& ring) -> RingCursor {
    return {.ring = ring,
            .descriptors = ring.header->descriptors,
            .mask = static_cast<uint16_t>(ring.size - 1)};
  };
  rx_ = begin(memory_->ring(server_ ? Way::to_server : Way::to_client, number_));
  tx_ = begin(memory_->ring(server_ ? Way::to_client : Way::to_server, number_));
  if (!server_) release();
}

/// Finds the next frame and goes on behind it. `frame` has it where the peer wrote it, but one of
/// several buffers, which is copied. False: it is none, or not yet there whole; in that case it
/// stays the next one.
[[gnu::always_inline]] inline bool Queue::find(Frame& frame) {
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
  rx_.peer = acquire(server_ ? header.head : header.tail);
  copied_ = 0;
  size_t count = 0;
  // What is no frame counts, too: else a peer decides how long a core is here.
  for (size_t looked_at = 0; rx_.next != rx_.peer && looked_at < frames_.size(); ++looked_at) {
    Frame& frame = frames_[count];
    frame.payload = nullptr;
    frame.payload_length = 0;
    const uint16_t before = rx_.next;
    const bool whole = find(frame);
    if (rx_.next == before) break;
    if (whole) {
      __builtin_prefetch(frame.head);
      // Nobody has written to the second line of a short frame's buffer.
      if (frame.head_length > kPiece) __builtin_prefetch(frame.head + kPiece);
      ++count;
    }
  }
  const bool reads_payload = reads_payload_.load(std::memory_order_relaxed);
  size_t passed = 0;
  for (size_t i = 0; i < count; ++i) {
    Frame& frame = frames_[i];
    counters_.ibytes += frame.head_length;
    if (frame.head_length < kEthernetLength) [[unlikely]] {
      ++drops_[Drop::too_short];
      continue;
    }
    take_copy(frame, reads_payload);
    if (!filter_.passes(frame.head)) [[unlikely]]
      ++drops_[Drop::not_ours];
    else
      frames_[passed++] = frame;
  }
  counters_.ipackets += count;
  return {frames_.data(), passed};
}

/// Room for a frame of up to kLongest bytes, of which `length` are used.
[[gnu::always_inline]] inline uint8_t* Queue::use(size_t length) {
  uint8_t* const room = &copies_[copied_];
  copied_ += (length + kPiece - 1) / kPiece * kPiece;
  return room;
}

/// Copies what is parsed of a frame in the shared memory: all of it, but payload of TCP that nobody
/// reads. From here on a frame says what it said when it was copied.
[[gnu::always_inline]] inline void Queue::take_copy(Frame& frame, bool reads_payload) {
  const uint8_t* const from = frame.head;
  const size_t length = frame.head_length;
  if (from >= copies_.data() && from < copies_.data() + copies_.size()) [[unlikely]]
    return;
  // Memory goes on behind its end (memory.cpp), so whole pieces can be read there.
  uint8_t* const to = &copies_[copied_];
  frame.head = to;
  std::memcpy(to, from, kPiece);
  if (length > kPiece) std::memcpy(to + kPiece, from + kPiece, kPiece);
  if (length > kHeaders && !reads_payload) {
    uint32_t payload = usual_payload(to);
    if (payload == 0) [[unlikely]]
      payload = unusual_payload(to, length);
    if (payload != 0) [[likely]] {
      frame.head_length = static_cast<uint16_t>(payload);
      frame.payload = from + payload;
      frame.payload_length = static_cast<uint32_t>(length - payload);
      use(kHeaders);
      return;
    }
  }
  if (length > kHeaders) std::memcpy(to + kHeaders, from + kHeaders, length - kHeaders);
  use(length);
}

/// Puts a frame of several buffers together. `slots`: how many it takes; 0: more are to come. False
/// when it is none.
[[gnu::noinline]] bool Queue::join(Frame& frame, uint32_t& slots) {
  uint8_t* const bytes = &copies_[copied_];
  const uint32_t most = std::min(rx_.ring.size, kMostParts);
  const uint32_t there = std::min<uint32_t>(static_cast<uint16_t>(rx_.peer - rx_.next), most);
  uint32_t length = 0;
  bool good = true;
  for (slots = 0; slots < there;) {
    Descriptor part;
    std::memcpy(&part, &rx_.descriptors[(rx_.next + slots++) & rx_.mask], sizeof part);
    const uint8_t* const from = memory_->at(part.region, part.offset, part.length);
    good = good && from != nullptr && part.length <= kLongest - length;
    if (good) {
      std::memcpy(bytes + length, from, part.length);
      length += part.length;
    }
    if ((part.flags & Descriptor::kNext) != 0) continue;
    frame.head = bytes;
    frame.head_length = static_cast<uint16_t>(length);
    if (good) use(length);
    return good;
  }
  if (there < most) slots = 0;
  return false;
}

// A server gives its client's buffers back; a client makes them room again.
void Queue::release() {
  if (memory_ == nullptr) [[unlikely]]
    return;
  RingHeader& header = *rx_.ring.header;
  if (server_) {
    if (rx_.published == rx_.next) return;
    memif::release(header.tail, rx_.next);
    rx_.published = rx_.next;
    return;
  }
  const auto end = static_cast<uint16_t>(rx_.next + rx_.ring.size);
  if (rx_.published == end) return;
  for (; rx_.published != end; ++rx_.published) {
    Descriptor& room = rx_.descriptors[rx_.published & rx_.mask];
    room.flags = 0;
    room.region = 0;
    room.length = buffer_bytes_;
  }
  memif::release(header.head, end);
}

/// Descriptors that may be written, by the peer's position as it was read last.
[[gnu::always_inline]] inline uint32_t Queue::known_slots() const {
  const uint32_t size = server_ ? 0 : tx_.ring.size;
  return std::min<uint32_t>(static_cast<uint16_t>(tx_.peer - tx_.next + size), tx_.ring.size);
}

/// The same; reads the position again where fewer than `wanted` are known of.
[[gnu::always_inline]] inline uint32_t Queue::free_slots(uint32_t wanted) {
  if (const uint32_t known = known_slots(); known >= wanted) [[likely]]
    return known;
  tx_.peer = acquire(server_ ? tx_.ring.header->head : tx_.ring.header->tail);
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
  if (tx_.published != tx_.next) publish();
  sending_ += Clock::read() - from;
  return sent;
}

void Queue::publish() {
  // A receiver that is about to sleep clears the flag and then looks at the position. So the
  // position has to be there before the flag is read, which nothing weaker than this order says.
  RingHeader& header = *tx_.ring.header;
  __atomic_store_n(server_ ? &header.tail : &header.head, tx_.next, __ATOMIC_SEQ_CST);
  tx_.published = tx_.next;
  const uint16_t flags = __atomic_load_n(&header.flags, __ATOMIC_SEQ_CST);
  if ((flags & RingHeader::kNoInterrupt) == 0) waker_.wake(tx_.ring.event);
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
  if (tx_.published != tx_.next) publish();
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
