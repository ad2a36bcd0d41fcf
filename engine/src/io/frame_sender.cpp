#include "io/frame_sender.h"

#include <algorithm>

namespace engine {

size_t FrameSender::send(DataThread& thread, Side side, std::vector<Bytes> frames) {
  forget_arrived();
  Batch& batch = batches_.emplace_back(Batch{thread, side, 0, std::move(frames)});
  size_t sent = 0;
  thread.run([&](DataCore&, Nanoseconds) {
    PortQueue& queue = thread.queue(side);
    TransmitQueue& transmit = queue.transmit();
    transmit.flush();
    const uint64_t refused = queue.counters().oerrors;
    for (const Bytes& bytes : batch.frames) {
      Frame* const frame = transmit.next();
      if (frame == nullptr) break;
      const size_t head = std::min(bytes.size(), kHeadRoom);
      std::copy_n(bytes.data(), head, frame->head);
      frame->head_length = static_cast<uint16_t>(head);
      frame->payload = head == bytes.size() ? nullptr : bytes.data() + head;
      frame->payload_length = static_cast<uint32_t>(bytes.size() - head);
      transmit.commit();
      ++sent;
    }
    transmit.flush();
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

}  // namespace engine
