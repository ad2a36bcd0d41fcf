#include "io/wire.h"

#include <algorithm>
#include <utility>

#include "net/send_heads.h"

namespace engine {

WireRing::WireRing()
    : slots_(std::make_unique<Frame[]>(kSlots)),
      // Not initialised, so that memory which is never used is never touched.
      heads_(std::make_unique_for_overwrite<uint8_t[]>(kSlots * kHeadRoom)) {
  for (size_t i = 0; i < kSlots; ++i) slots_[i].head = heads_.get() + i * kHeadRoom;
}

WireRing::Pushed WireRing::push(std::span<Frame> frames) {
  const size_t room = std::min(frames.size(), kSlots - count_);
  Frame* const slots = slots_.get();
  const Frame* const wrap = slots + kSlots;
  Frame* slot = slots + (first_ + count_) % kSlots;
  uint64_t bytes = 0;
  for (Frame& frame : frames.first(room)) {
    bytes += frame.length();
    uint8_t* const spare = slot->head;
    *slot = frame;
    // Nothing is damaged on the way, unless somebody did so on purpose, in complete frames.
    if (slot->checksums == Checksums::partial) slot->checksums = Checksums::trusted;
    frame.head = spare;
    if (slot->passing) [[unlikely]]
      keep(*slot);
    if (++slot == wrap) slot = slots;
  }
  count_ += room;
  pushed_bytes_ += bytes;
  return {room, bytes};
}

void WireRing::keep(Frame& slot) {
  kept_.resize(kSlots);
  std::vector<uint8_t>& own = kept_[static_cast<size_t>(&slot - slots_.get())];
  own.assign(slot.payload, slot.payload + slot.payload_length);
  slot.payload = own.data();
}

std::span<const Frame> WireRing::front(size_t most) const {
  return {slots_.get() + first_, std::min({most, count_, kSlots - first_})};
}

void WireRing::pop(size_t count) {
  count_ -= count;
  // An empty ring starts over: the slots in the CPU's cache are used again, not the oldest ones.
  first_ = count_ == 0 ? 0 : (first_ + count) % kSlots;
}

// Whole IP packets of any length pass.
WireQueue::WireQueue() : PortQueue({.checksum = true, .max_payload = kUncutPayload}) {}

void WireQueue::join(WireQueue& left, WireQueue& right) {
  left.peer_ = &right;
  right.peer_ = &left;
}

// All there is: a burst would fall behind what the core adds in one pass when it catches up after a
// pause, and the ring would overflow.
std::span<const Frame> WireQueue::receive() {
  const std::span<const Frame> frames = inbound_.front(WireRing::kSlots);
  received_ = frames.size();
  counters_.ipackets += received_;
  if (received_ == inbound_.size()) {
    counters_.ibytes += inbound_.take_bytes();
  } else {  // it is taken in two pieces
    for (const Frame& frame : frames) counters_.ibytes += inbound_.take_bytes(frame.length());
  }
  return frames;
}

void WireQueue::release() {
  inbound_.pop(std::exchange(received_, 0));
}

WireRing::Pushed WireQueue::arrive(std::span<Frame> frames) {
  if (filter_.passes(frames.front().head)) return inbound_.push(frames);
  const uint64_t bytes = frames.front().length();
  ++counters_.ipackets;
  counters_.ibytes += bytes;
  ++drops_[Drop::not_ours];
  return {1, bytes};
}

void WireQueue::send(std::span<Frame> frames) {
  const size_t together = peer_->filter_.promiscuous ? frames.size() : 1;
  for (; !frames.empty(); frames = frames.subspan(together)) {
    const WireRing::Pushed sent = peer_->arrive(frames.first(together));
    counters_.opackets += sent.frames;
    counters_.obytes += sent.bytes;
    counters_.oerrors += together - sent.frames;
    drops_[Drop::ring_full] += together - sent.frames;
  }
}

namespace {

class WirePort final : public Port {
 public:
  WirePort(uint32_t port, uint32_t cores) {
    info_.driver = "wire";
    info_.description = "in-memory wire to the other port of the pair";
    info_.pci_address = "N/A";
    mac_ = local_mac(port);
    for (uint32_t core = 0; core < cores; ++core) queues_.push_back(std::make_unique<WireQueue>());
  }
};

}  // namespace

std::array<std::unique_ptr<Port>, kSides> make_wire(uint32_t first, uint32_t cores) {
  auto left = std::make_unique<WirePort>(first, cores);
  auto right = std::make_unique<WirePort>(first + 1, cores);
  for (uint32_t core = 0; core < cores; ++core)
    WireQueue::join(static_cast<WireQueue&>(left->queue(core)),
                    static_cast<WireQueue&>(right->queue(core)));
  return {std::move(left), std::move(right)};
}

namespace {

class DummyQueue final : public PortQueue {
 public:
  DummyQueue() : PortQueue({.checksum = true, .max_payload = kUncutPayload}) {}

  std::span<const Frame> receive() override { return {}; }
  void release() override {}

 private:
  void send(std::span<Frame> frames) override {
    counters_.opackets += frames.size();
    for (const Frame& frame : frames) counters_.obytes += frame.length();
  }
  void refill(Frame& slot) override { heads_.refill(slot); }

  SendHeads heads_;
};

class DummyPort final : public Port {
 public:
  DummyPort(uint32_t port, uint32_t cores) {
    info_.driver = "net_dummy";
    info_.description = "no device";
    info_.pci_address = "N/A";
    info_.is_dummy = true;
    mac_ = local_mac(port);
    for (uint32_t core = 0; core < cores; ++core) queues_.push_back(std::make_unique<DummyQueue>());
  }
};

}  // namespace

std::unique_ptr<Port> make_dummy_port(uint32_t port, uint32_t cores) {
  return std::make_unique<DummyPort>(port, cores);
}

}  // namespace engine
