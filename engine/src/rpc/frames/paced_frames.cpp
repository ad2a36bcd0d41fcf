#include "rpc/frames/paced_frames.h"

#include <limits>

namespace engine {

size_t PacedFrames::send(uint32_t port, std::vector<std::vector<uint8_t>> frames, double gap_s) {
  if (gap_s == 0) return frames_.send(port, std::move(frames));
  const double now = clock_.now();
  for (size_t i = 0; i < frames.size(); ++i)
    waiting_.emplace(now + static_cast<double>(i) * gap_s, Waiting{port, std::move(frames[i])});
  advance(now);
  return frames.size();
}

void PacedFrames::advance(double now) {
  while (!waiting_.empty() && waiting_.begin()->first <= now) {
    Waiting due = std::move(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());  // before it is sent: what fails is not tried again
    frames_.send(due.port, {std::move(due.frame)});
  }
}

double PacedFrames::patience(double now) const {
  return waiting_.empty() ? std::numeric_limits<double>::max() : waiting_.begin()->first - now;
}

}  // namespace engine
