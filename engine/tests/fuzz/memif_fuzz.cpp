// A memif's peer that writes whatever it likes into the memory that it shares, as client and as
// server: the queue reads and writes only there, and its counters fit together. Input is a script:
// it chooses the rings and who is the client, and each step writes bytes to the memory, moves a
// position, receives, gives back, or sends. script/fuzz builds and runs it.

#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "fuzz/script.h"
#include "io/memif/queue.h"

namespace {

using namespace engine;
using namespace engine::memif;

Settings settings(bool server, uint32_t buffer_bytes) {
  Settings settings;
  settings.server = server;
  settings.buffer_bytes = buffer_bytes;
  return settings;
}

/// What a server has of this memory when its client asks for rings in places of its choice.
std::shared_ptr<Memory> mapped(const Memory& made, Script& script) {
  auto memory = std::make_shared<Memory>();
  const Memory::Region& region = made.regions().front();
  memory->add(AddRegion{0, region.bytes}, dup(region.file));
  for (const Way way : {Way::to_server, Way::to_client}) {
    AddRing ring = made.ring(way, 0).place;
    const uint8_t how = script.next();
    if (how & 1) ring.offset = script.next() * 16u;
    if (how & 2) ring.ring_bits = script.next();
    try {
      memory->add(ring, dup(region.file));
    } catch (const Refused&) {
      memory->add(made.ring(way, 0).place, dup(region.file));
    }
  }
  return memory;
}

enum class Step : uint8_t { write, move, receive, release, send, count };

class Peer {
 public:
  explicit Peer(Script& script)
      : made_(Memory::make(1, 1 + script.next() % 5, kBufferBytes)),
        server_(script.next() % 2 == 1),
        link_(settings(server_, kBufferBytes)) {
    link_.set(server_ ? mapped(*made_, script) : made_);
    queue_.receive();
    queue_.release();
  }

  void step(Script& script) {
    const Memory::Region& shared = made_->regions().front();
    const uint8_t head = script.next();
    switch (static_cast<Step>(head % static_cast<uint8_t>(Step::count))) {
      case Step::write: {
        // Rings lie in front, so most is written there.
        const size_t offset = (script.next() | script.next() << 8) % shared.bytes;
        const std::vector<uint8_t> bytes = script.bytes(script.next() % 64);
        std::copy_n(bytes.begin(), std::min(bytes.size(), shared.bytes - offset),
                    shared.memory + offset);
        return;
      }
      case Step::move: {
        const Ring ring = link_.memory()->ring(head & 0x40 ? Way::to_server : Way::to_client, 0);
        uint16_t& position = head & 0x80 ? ring.header->head : ring.header->tail;
        position = static_cast<uint16_t>(position + script.next());
        return;
      }
      case Step::receive:
        return receive();
      case Step::release:
        return queue_.release();
      default:
        return send(script.next() | script.next() << 8);
    }
  }

 private:
  static constexpr uint32_t kBufferBytes = 128;

  void receive() {
    const uint64_t before = queue_.counters().ipackets;
    const std::span<const Frame> frames = queue_.receive();
    for (const Frame& frame : frames)
      for (size_t i = 0; i < frame.head_length; ++i) sum_ = sum_ + frame.head[i];
    if (queue_.counters().ipackets < before + frames.size()) std::abort();
  }

  void send(size_t length) {
    static const std::vector<uint8_t> payload(UINT16_MAX + 1, 1);
    const uint64_t before = total();
    Frame* const frame = queue_.transmit().next();
    frame->head_length = static_cast<uint16_t>(length % kHeadRoom);
    std::memset(frame->head, 0, frame->head_length);
    frame->payload = payload.data();
    frame->payload_length = static_cast<uint32_t>(std::min<size_t>(length, 9000));
    queue_.transmit().commit();
    queue_.transmit().flush();
    if (total() != before + 1) std::abort();
  }

  /// Frames that were sent, given up, or wait.
  uint64_t total() {
    const uint64_t waiting = queue_.send_waiting();
    return waiting + queue_.counters().opackets + queue_.counters().oerrors;
  }

  const std::shared_ptr<Memory> made_;
  const bool server_;
  Link link_;
  Queue queue_{link_, 0};
  volatile uint8_t sum_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Script script(data, std::min<size_t>(size, 4096));
  Peer peer(script);
  while (!script.empty()) peer.step(script);
  return 0;
}
