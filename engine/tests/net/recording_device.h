#pragma once
// A device that keeps what it is given, for tests of what fills transmit queues.

#include <array>
#include <deque>
#include <vector>

#include "net/frame.h"

namespace engine {

class RecordingDevice {
 public:
  static void drain(void* self, std::span<Frame> frames) {
    auto& device = *static_cast<RecordingDevice*>(self);
    ++device.drains;
    for (Frame& frame : frames) {
      if (frame.head != nullptr && frame.head_length > 0) {
        std::vector<uint8_t> bytes(frame.head, frame.head + frame.head_length);
        bytes.insert(bytes.end(), frame.payload, frame.payload + frame.payload_length);
        device.sent.push_back(std::move(bytes));
      }
      frame.head_length = 0;
      frame.head = device.out_of_memory ? nullptr : device.heads_.emplace_back().data();
    }
  }

  std::vector<std::vector<uint8_t>> sent;
  size_t drains = 0;
  bool out_of_memory = false;

 private:
  std::deque<std::array<uint8_t, kHeadRoom>> heads_;
};

}  // namespace engine
