// Single frames of a machine's ports: looking at those that pass, and sending some.

#include <algorithm>
#include <vector>

#include "io/core_jobs.h"
#include "io/subjects.h"
#include "net/rx_segment.h"

namespace engine {

namespace {

/// How much of a frame goes into its head: of a TCP or UDP packet the headers, behind which a
/// receiver wants the payload; of any other as much as there is room for.
size_t head_of(FrameSender::Bytes& bytes) {
  if (bytes.size() <= kHeadRoom) return bytes.size();
  Frame whole;
  whole.head = bytes.data();
  whole.head_length = static_cast<uint16_t>(std::min<size_t>(bytes.size(), UINT16_MAX));
  const RxSegment segment = parse_unverified(whole);
  const bool split = segment.kind == PacketKind::tcp || segment.kind == PacketKind::udp;
  const auto headers = static_cast<size_t>(segment.header - whole.head) + segment.header_length;
  return split && headers <= kHeadRoom ? headers : kHeadRoom;
}

}  // namespace

size_t FrameSender::send(DataThread& thread, Side side, std::vector<Bytes> frames) {
  forget_arrived();
  Batch& batch = batches_.emplace_back(Batch{thread, side, 0, std::move(frames)});
  size_t sent = 0;
  thread.run([&](DataCore&, Nanoseconds) {
    PortQueue& queue = thread.queue(side);
    queue.transmit().flush();
    const uint64_t refused = queue.counters().oerrors;
    thread.chain(side).send_as_it_is([&](TransmitQueue& transmit) {
      for (Bytes& bytes : batch.frames) {
        Frame* const frame = transmit.next();
        if (frame == nullptr) break;
        const size_t head = head_of(bytes);
        std::copy_n(bytes.data(), head, frame->head);
        frame->head_length = static_cast<uint16_t>(head);
        frame->payload = head == bytes.size() ? nullptr : bytes.data() + head;
        frame->payload_length = static_cast<uint32_t>(bytes.size() - head);
        transmit.commit();
        ++sent;
      }
    });
    batch.last = queue.counters().opackets;
    sent -= queue.counters().oerrors - refused;
  });
  return sent;
}

void FrameSender::forget_arrived() {
  std::erase_if(batches_, [](const Batch& batch) {
    uint64_t released = 0;
    batch.thread.run([&](DataCore&, Nanoseconds) {
      released = batch.thread.queue(batch.side).payload_released();
    });
    return released >= batch.last;
  });
}

namespace {

class EngineFrames final : public Frames {
 public:
  /// `sender` outlives the machine's data threads.
  EngineFrames(Machine& machine, FrameSender& sender)
      : machine_(machine), sender_(sender), unseen_(machine.ports(), 0) {}

  void add_tap(uint32_t port, const CaptureTap& tap) override;
  void remove_tap(uint32_t number) override;
  void read_seen(const std::function<void(const SeenFrame&)>& take) override;
  uint64_t unseen(uint32_t port) const override { return unseen_.at(port); }
  size_t send(uint32_t port, std::vector<std::vector<uint8_t>> frames) override;
  void set_service(const ServiceMode& mode) override;
  void set_ignored(const Ignored& ignored) override;

 private:
  Machine& machine_;
  FrameSender& sender_;
  std::vector<uint64_t> unseen_;  ///< by port
};

void EngineFrames::add_tap(uint32_t port, const CaptureTap& tap) {
  for (DataThread* thread : machine_.threads_of(port)) {
    PortChain& chain = thread->chain(side_of(port));
    std::unique_ptr<PortTap> fresh;
    if (chain.tap() == nullptr) fresh = std::make_unique<PortTap>(port, machine_.clock());
    thread->run([&](DataCore&, Nanoseconds) {
      if (fresh != nullptr) chain.set_tap(std::move(fresh));
      chain.tap()->add(tap);
    });
  }
}

void EngineFrames::remove_tap(uint32_t number) {
  on_cores(machine_.threads(), [&](size_t, DataThread& thread, DataCore&, Nanoseconds) {
    for (const Side side : {Side::client, Side::server})
      if (PortTap* const tap = thread.chain(side).tap()) tap->remove(number);
  });
}

void EngineFrames::read_seen(const std::function<void(const SeenFrame&)>& take) {
  for (const auto& thread : machine_.threads())
    for (const Side side : {Side::client, Side::server}) {
      PortTap* const tap = thread->chain(side).tap();
      if (tap == nullptr) continue;
      tap->ring().read(take);
      unseen_[tap->port()] += tap->take_lost();
      if (!tap->idle()) continue;
      std::unique_ptr<PortTap> unused;
      thread->run([&](DataCore&, Nanoseconds) { unused = thread->chain(side).set_tap(nullptr); });
    }
}

size_t EngineFrames::send(uint32_t port, std::vector<std::vector<uint8_t>> frames) {
  return sender_.send(*machine_.threads_of(port).front(), side_of(port), std::move(frames));
}

void EngineFrames::set_service(const ServiceMode& mode) {
  on_cores(machine_.threads(),
           [&](size_t, DataThread&, DataCore& core, Nanoseconds) { core.set_service(mode); });
}

void EngineFrames::set_ignored(const Ignored& ignored) {
  on_cores(machine_.threads(),
           [&](size_t, DataThread&, DataCore& core, Nanoseconds) { core.set_ignored(ignored); });
}

}  // namespace

std::unique_ptr<Frames> make_frames(Machine& machine, FrameSender& sender) {
  return std::make_unique<EngineFrames>(machine, sender);
}

}  // namespace engine
