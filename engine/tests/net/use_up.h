#pragma once
#include "net/frame.h"

namespace engine {

/// Sends what the queue has, and takes the buffers that are left. Its device must have none left to
/// give.
inline void use_up(TransmitQueue& queue) {
  struct Taker final : TransmitDevice {
    void send(std::span<Frame> frames) override {
      for (Frame& frame : frames) frame.head = nullptr;
    }
    void refill(Frame&) override {}
  } taker;
  queue.flush();
  TransmitDevice& device = queue.redirect(taker);
  while (queue.next() != nullptr) queue.commit();
  queue.flush();
  queue.redirect(device);
}

}  // namespace engine
