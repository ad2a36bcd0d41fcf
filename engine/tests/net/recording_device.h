#pragma once
// A device that keeps what it is given, for tests of what fills transmit queues.

#include <array>
#include <deque>
#include <vector>

#include "net/frame.h"

namespace engine {

class RecordingDevice final : public TransmitDevice {
 public:
  void send(std::span<Frame> frames) override {
    for (Frame& frame : frames) {
      std::vector<uint8_t> bytes(frame.head, frame.head + frame.head_length);
      bytes.insert(bytes.end(), frame.payload, frame.payload + frame.payload_length);
      sent.push_back(std::move(bytes));
      frame.head = nullptr;
      refill(frame);
    }
  }
  void refill(Frame& slot) override {
    ++refills;
    if (!out_of_memory) slot.head = heads_.emplace_back().data();
  }

  std::vector<std::vector<uint8_t>> sent;
  size_t refills = 0;
  bool out_of_memory = false;

 private:
  std::deque<std::array<uint8_t, kHeadRoom>> heads_;
};

}  // namespace engine
