#include "rpc/capture_taps.h"

#include <fmt/format.h>

#include <algorithm>

#include "rpc/rpc_error.h"

namespace engine {

std::span<const uint8_t> snapped(std::span<const uint8_t> bytes, uint32_t snap_length) {
  return snap_length == 0 ? bytes : bytes.first(std::min<size_t>(snap_length, bytes.size()));
}

uint32_t CaptureTaps::begin(const TapRequest& request, Take take) {
  const auto filter = PacketFilter::compile(request.filter);
  if (!filter)
    throw bad_parameters(fmt::format("BPF filter: '{}' is not a valid pattern", request.filter));
  uint32_t number = 0;
  while (takes_.contains(number)) ++number;
  if (number == kMost)
    throw refused(fmt::format("{} captures, queues and files look at frames; end one", kMost));
  const auto contains = [](const std::vector<uint32_t>& ports, uint32_t port) {
    return std::ranges::find(ports, port) != ports.end();
  };
  takes_.emplace(number, std::move(take));
  try {
    for (uint32_t port = 0; port < ports_; ++port) {
      const CaptureTap wanted{.number = number,
                              .received = contains(request.receiving, port),
                              .transmitted = contains(request.transmitting, port),
                              .filter = *filter,
                              .snap_length = request.snap_length,
                              .budget = request.budget};
      if (wanted.received || wanted.transmitted) frames_.add_tap(port, wanted);
    }
  } catch (...) {
    end(number);
    throw;
  }
  return number;
}

void CaptureTaps::end(uint32_t number) {
  try {
    frames_.remove_tap(number);
    collect();
  } catch (...) {
    takes_.erase(number);
    throw;
  }
  takes_.erase(number);
}

void CaptureTaps::collect() {
  frames_.read_seen([this](const SeenFrame& seen) {
    for (const auto& [number, take] : takes_)
      if ((seen.taps >> number & 1) != 0) take(seen);
  });
}

}  // namespace engine
