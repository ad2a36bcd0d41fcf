#include "rpc/paced_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "json/base64.h"
#include "net/ethernet.h"
#include "rpc/methods.h"

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

namespace {

using enum ParameterType;

// -- Single packets that clients have sent.

/// The longest packet that TRex takes in push_pkts, without FCS; the shortest is a header.
constexpr size_t kLongestSent = 9 * 1024 + 22;

std::vector<uint8_t> frame_of(const PortState& port, const Json& packet) {
  check_parameters(
      packet, {{"binary", string}, {"use_port_dst_mac", boolean}, {"use_port_src_mac", boolean}});
  const auto bytes = decode_base64(packet.at("binary").get<std::string>());
  if (!bytes) throw bad_parameters("parameter 'binary' is not base64");
  if (bytes->size() < kEthernetLength || bytes->size() > kLongestSent)
    throw refused(fmt::format("Bad packet size provided: {}. Should be between {} and {}",
                              bytes->size(), kEthernetLength, kLongestSent));
  std::vector<uint8_t> frame(bytes->begin(), bytes->end());
  // Unresolved: all zero, as TRex sends it.
  if (packet.at("use_port_dst_mac").get<bool>()) std::ranges::copy(port.destination, frame.begin());
  if (packet.at("use_port_src_mac").get<bool>())
    std::ranges::copy(port.address.mac, frame.begin() + 6);
  return frame;
}

Json push_packets(ControlState& state, const Json& params) {
  const uint32_t port = state.port_of(params);
  const double gap_s = static_cast<double>(integer_or(0, params, "ipg_usec", 0, UINT32_MAX)) / 1e6;
  const Json& packets = params.at("pkts");
  if (static_cast<double>(packets.size()) * gap_s > 1)
    throw bad_parameters("TX batch total transmit time exceeds the limit of 1 second");
  const PortState port_state = state.engine.ports.state(port);
  std::vector<std::vector<uint8_t>> frames;
  for (const Json& packet : packets) frames.push_back(frame_of(port_state, packet));
  const double now = state.engine.clock.now();
  return {{"sent", state.paced_frames.send(port, std::move(frames), gap_s)}, {"ts", now}};
}

}  // namespace

void add_sending_methods(MethodTable& methods, ControlState& state) {
  methods.add("push_pkts", Access::reader,
              {{"port_id", integer}, {"pkts", array}, optional("ipg_usec", integer)},
              [&state](const Json& params) { return push_packets(state, params); });
}

}  // namespace engine
