// Any frames through a port's tap and its ring, read at any time, also amid a write: what the
// reader gets is what the taps asked for, in order and byte for byte, and a frame is lost only
// when the ring is full. Input is a script: each step adds or removes a tap, has frames pass the
// port, writes a record that is read before it is complete, or reads. script/fuzz builds and runs
// it.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>

#include "fuzz/script.h"
#include "io/clock.h"
#include "io/port_chain.h"

namespace {

using namespace engine;

void require(bool good) {
  if (!good) std::abort();
}

const Clock& any_clock() {
  static const Clock clock;
  return clock;
}

const PacketFilter& filter(uint8_t number) {
  static const std::vector<PacketFilter> filters = [] {
    std::vector<PacketFilter> compiled;
    for (const char* text : {"", "tcp", "udp or icmp6", "greater 1000", "ether[0] & 1 = 0",
                             "vlan and ip", "ip[8:2] > 1000 and not port 80"})
      compiled.push_back(PacketFilter::compile(text).value());
    return compiled;
  }();
  return filters[number % filters.size()];
}

/// What the reader has yet to get.
struct Expected {
  bool transmitted = false;
  uint64_t taps = 0;
  uint32_t wire_length = 0;
  std::vector<uint8_t> bytes;
};

enum class Step : uint8_t { add_tap, remove_tap, pass, amid_write, read, read_amid_passing, count };

class TappedPort {
 public:
  TappedPort() { port_tap_.stand_before(nowhere_); }

  void step(Script& script) {
    switch (static_cast<Step>(script.next() % static_cast<uint8_t>(Step::count))) {
      case Step::add_tap:
        return add_tap(script);
      case Step::remove_tap:
        return remove_tap(script.next() % kNumbers);
      case Step::pass:
        return pass(script, 1 + script.next() % 16);
      case Step::amid_write:
        return read_amid_write(script);
      case Step::read:
        return read([] {});
      default:
        return read([&] { pass(script, 1); });
    }
  }

  void close() {
    read([] {});
    require(expected_.empty());
  }

 private:
  static constexpr uint32_t kNumber = 3;
  static constexpr uint8_t kNumbers = 64;
  /// Several times what the ring holds, in an input that does not take long.
  static constexpr int kMostFrames = 200;
  /// A record's header and what is lost by alignment, at most.
  static constexpr size_t kOverhead = 256;

  void add_tap(Script& script) {
    const uint8_t number = script.next() % kNumbers;
    const uint8_t how = script.next();
    remove_tap(number);
    CaptureTap tap{.number = number,
                   .received = (how & 1) != 0,
                   .transmitted = (how & 2) != 0,
                   .filter = filter(script.next()),
                   .snap_length = (how & 4) != 0 ? 0u : script.next() * 16u};
    if (how & 8) tap.budget = script.next();
    port_tap_.add(tap);
    taps_.push_back(tap);
  }

  void remove_tap(uint8_t number) {
    port_tap_.remove(number);
    std::erase_if(taps_, [&](const CaptureTap& tap) { return tap.number == number; });
    require(port_tap_.idle() == taps_.empty());
  }

  /// Frames of one length and one beginning, each with a byte of its own behind that.
  void pass(Script& script, int count) {
    const uint8_t how = script.next();
    const size_t head = 14 + script.next();
    const size_t rest = size_t{script.next()} << (how >> 4);
    const std::vector<uint8_t> beginning = script.bytes(std::min<size_t>(head, how & 12 ? 40 : 0));
    for (; count > 0 && passed_ < kMostFrames; --count) {
      std::vector<uint8_t> bytes(std::min<size_t>(head + rest, 65535),
                                 static_cast<uint8_t>(++passed_));
      std::copy(beginning.begin(), beginning.end(), bytes.begin());
      pass_one(std::move(bytes), head, how);
    }
  }

  void pass_one(std::vector<uint8_t> bytes, size_t head, uint8_t how) {
    Frame frame;
    frame.head = bytes.data();
    frame.head_length = static_cast<uint16_t>(bytes.size());
    const bool transmitted = (how & 1) != 0;
    if (transmitted) {  // payload lies elsewhere
      frame.head_length = static_cast<uint16_t>(std::min(head, bytes.size()));
      frame.payload_length = static_cast<uint32_t>(bytes.size() - frame.head_length);
      if (frame.payload_length != 0) frame.payload = bytes.data() + frame.head_length;
    } else if (how & 2) {  // cut
      frame.payload_length = 1000;
    }
    const auto wire_length = static_cast<uint32_t>(frame.length());
    if (transmitted)
      port_tap_.send({&frame, 1});
    else
      port_tap_.received({&frame, 1});
    expect(transmitted, wire_length, std::move(bytes));
  }

  void expect(bool transmitted, uint32_t wire_length, std::vector<uint8_t> bytes) {
    Expected record{.transmitted = transmitted, .wire_length = wire_length, .bytes = {}};
    size_t wanted = 0;
    for (const CaptureTap& tap : taps_) {
      if (!(transmitted ? tap.transmitted : tap.received) || tap.budget == 0) continue;
      if (!tap.filter.matches(bytes)) continue;
      record.taps |= uint64_t{1} << tap.number;
      wanted = std::max(wanted, tap.snap_length == 0 ? bytes.size() : tap.snap_length);
    }
    bytes.resize(std::min(wanted, bytes.size()));
    const bool may_be_lost = is_full(bytes.size());
    const uint64_t lost = port_tap_.take_lost();
    require(lost == 0 || (record.taps != 0 && lost == 1));
    if (record.taps == 0) return;
    if (lost != 0) return require(may_be_lost);
    for (CaptureTap& tap : taps_) tap.budget -= record.taps >> tap.number & 1;
    record.bytes = std::move(bytes);
    pending_ += record.bytes.size() + kOverhead;
    expected_.push_back(std::move(record));
  }

  /// Whether a record of `length` bytes may lack room: beside what waits, as much as the longest
  /// record takes is lost at the ring's end, where one did not fit.
  bool is_full(size_t length) {
    longest_ = std::max(longest_, length + kOverhead);
    return pending_ + 3 * longest_ > FrameCopier::kRingBytes;
  }

  void read_amid_write(Script& script) {
    const size_t length = size_t{script.next()} << script.next() % 13;
    uint8_t* const room = port_tap_.ring().reserve(length);
    const bool may_be_lost = is_full(length);
    read([] {});
    if (room == nullptr) return require(may_be_lost);
    std::memset(room, static_cast<uint8_t>(length), length);
    port_tap_.ring().commit({.wire_length = 1, .bytes = {room, length}});
    pending_ += length + kOverhead;
    expected_.push_back(
        {.wire_length = 1, .bytes = std::vector(length, static_cast<uint8_t>(length))});
  }

  /// `meanwhile` is what the writer does while the reader has a record.
  template <typename Meanwhile>
  void read(Meanwhile meanwhile) {
    size_t count = expected_.size();
    port_tap_.ring().read([&](const SeenFrame& seen) {
      require(count-- > 0);
      const Expected wanted = std::move(expected_.front());
      expected_.pop_front();
      meanwhile();
      require(seen.transmitted == wanted.transmitted && seen.taps == wanted.taps);
      require(seen.wire_length == wanted.wire_length);
      require(std::ranges::equal(seen.bytes, wanted.bytes));
      pending_ -= wanted.bytes.size() + kOverhead;
    });
    require(count == 0);
  }

  struct Nowhere final : TransmitDevice {
    void send(std::span<Frame>) override {}
    void refill(Frame&) override {}
  };

  Nowhere nowhere_;
  PortTap port_tap_{kNumber, any_clock()};
  std::vector<CaptureTap> taps_;
  std::deque<Expected> expected_;
  size_t pending_ = 0;  ///< bytes that `expected_` may take in the ring
  size_t longest_ = 0;  ///< record, as far as there was one
  int passed_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Script script(data, size);
  TappedPort port;
  while (!script.empty()) port.step(script);
  port.close();
  return 0;
}
