// A memif's peer that writes whatever it likes into the memory that it shares, as client and as
// server: the queue reads and writes only there, its counters fit together, and what a data core
// made of the frames is gone when its run is closed. Input is a script: it chooses the rings and
// who is the client, and each step writes bytes to the memory, moves a position, publishes a
// segment, receives, gives back, sends, or lets time pass. What a data core receives is changed in
// the memory before it looks at it. script/fuzz builds and runs it.

#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "astf/core.h"
#include "astf/run.h"
#include "fuzz/script.h"
#include "io/memif/queue.h"
#include "json/parse_profile.h"
#include "net/rx_segment.h"
#include "net/send_heads.h"

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

enum class Step : uint8_t { write, move, receive, release, publish, wait, send, count };

constexpr char kProfile[] = R"({"buf_list":["R0VU"],
"ip_gen_dist_list":[
{"ip_start":"16.0.0.1","ip_end":"16.0.0.2","distribution":"seq","dir":"c","ip_offset":"1.0.0.0"},
{"ip_start":"48.0.0.1","ip_end":"48.0.0.1","distribution":"seq","dir":"s","ip_offset":"1.0.0.0"}],
"program_list":[
{"commands":[{"name":"tx","buf_index":0},{"name":"rx","min_bytes":3}]},
{"commands":[{"name":"rx","min_bytes":3},{"name":"tx","buf_index":0}]}],
"templates":[
{"client_template":{"program_index":0,"ip_gen":{"dist_client":{"index":0},"dist_server":{"index":1}},
"cluster":{},"port":80,"cps":1,"limit":1},
"server_template":{"program_index":1,"assoc":[{"port":80}]}}]})";

/// A server on one end of the memif.
class Server {
 public:
  explicit Server(TransmitQueue& transmit) : core_(few_flows(), {&unused_, &transmit}) {
    static const std::shared_ptr<const Profile> profile = parse_profile(kProfile, false);
    RunOptions options{.payload_check = {.enabled = true}};
    options.opens_flows = false;
    std::unique_ptr<ProfileRun> run = core_.prepare(profile, options);
    run_ = run.get();
    core_.attach(run, now_);
  }
  void receive(std::span<const Frame> frames) { core_.receive(Side::server, frames, now_); }
  void wait(Nanoseconds duration) {
    for (const Nanoseconds end = now_ + duration; now_ < end;
         now_ += std::max(kMillisecond, duration / 16))
      core_.advance(now_);
  }
  void close() {
    core_.close(*run_);
    wait(20 * kMillisecond);
    for (const PoolStatus& pool : core_.memory())
      if (pool.in_use != 0) std::abort();
    if (core_.detach(*run_) == nullptr) std::abort();
  }

 private:
  static CoreConfig few_flows() {
    CoreConfig config;
    config.max_flows = 64;
    return config;
  }
  struct Nowhere final : TransmitDevice {
    void send(std::span<Frame>) override {}
    void refill(Frame& slot) override { heads.refill(slot); }
    SendHeads heads;
  };
  Nowhere nowhere_;
  TransmitQueue unused_{nowhere_, {}};
  DataCore core_;
  ProfileRun* run_;
  Nanoseconds now_ = 0;
};

/// A segment to the server, with right checksums.
std::vector<uint8_t> segment(Script& script) {
  constexpr size_t kTcp = kEthernetLength + kIpv4Length;
  std::vector<uint8_t> bytes(kTcp + tcp::kFixedHeader + script.next() % 64);
  store_be<uint16_t>(&bytes[12], 0x0800);
  uint8_t* const ip = &bytes[kEthernetLength];
  ip[0] = 0x45;
  store_be<uint16_t>(ip + 2, static_cast<uint16_t>(bytes.size() - kEthernetLength));
  ip[9] = kProtocolTcp;
  store_be<uint32_t>(ip + 12, 0x1000'0001);
  store_be<uint32_t>(ip + 16, 0x3000'0001);
  uint8_t* const header = &bytes[kTcp];
  header[1] = script.next() % 8;
  header[3] = 80;
  header[7] = script.next();
  header[12] = tcp::kFixedHeader << 2;
  header[13] = script.next();
  header[14] = 1;
  Frame frame;
  frame.head = bytes.data();
  frame.head_length = static_cast<uint16_t>(bytes.size());
  frame.checksums = Checksums::partial;
  complete_checksums(frame);
  return bytes;
}

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

  void close() { core_.close(); }

  void step(Script& script) {
    const uint8_t head = script.next();
    switch (static_cast<Step>(head % static_cast<uint8_t>(Step::count))) {
      case Step::write:
        return write(script);
      case Step::move: {
        const Ring ring = link_.memory()->ring(head & 0x40 ? Way::to_server : Way::to_client, 0);
        uint16_t& position = head & 0x80 ? ring.header->head : ring.header->tail;
        position = static_cast<uint16_t>(position + script.next());
        return;
      }
      case Step::receive:
        return receive(script);
      case Step::publish:
        return publish(segment(script));
      case Step::wait:
        return core_.wait(kMillisecond << script.next() % 12);
      case Step::release:
        return queue_.release();
      default:
        return send(script.next() | script.next() << 8);
    }
  }

 private:
  static constexpr uint32_t kBufferBytes = 128;

  /// Rings lie in front, so most is written there.
  void write(Script& script) {
    const Memory::Region& shared = made_->regions().front();
    const size_t offset = (script.next() | script.next() << 8) % shared.bytes;
    const std::vector<uint8_t> bytes = script.bytes(script.next() % 64);
    std::copy_n(bytes.begin(), std::min(bytes.size(), shared.bytes - offset),
                shared.memory + offset);
  }

  /// Puts a frame where the next one is looked for.
  void publish(const std::vector<uint8_t>& bytes) {
    const Ring ring = link_.memory()->ring(server_ ? Way::to_server : Way::to_client, 0);
    uint16_t& position = server_ ? ring.header->head : ring.header->tail;
    Descriptor& slot = ring.header->descriptors[position++ & (ring.size - 1)];
    slot.flags = 0;
    slot.length = static_cast<uint32_t>(bytes.size());
    uint8_t* const place = link_.memory()->at(slot.region, slot.offset, slot.length);
    if (place != nullptr) std::ranges::copy(bytes, place);
  }

  void receive(Script& script) {
    const uint64_t before = queue_.counters().ipackets;
    const std::span<const Frame> frames = queue_.receive();
    for (const Frame& frame : frames)
      for (size_t i = 0; i < frame.head_length; ++i) sum_ = sum_ + frame.head[i];
    if (queue_.counters().ipackets < before + frames.size()) std::abort();
    write(script);
    core_.receive(frames);
  }

  void send(size_t length) {
    static const std::vector<uint8_t> payload(UINT16_MAX + 1, 1);
    queue_.transmit().flush();  // what the server has sent
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
  Server core_{queue_.transmit()};
  volatile uint8_t sum_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Script script(data, std::min<size_t>(size, 4096));
  Peer peer(script);
  while (!script.empty()) peer.step(script);
  peer.close();
  return 0;
}
