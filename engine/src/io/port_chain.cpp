#include "io/port_chain.h"

#include <cstring>

#include "io/clock.h"

namespace engine {

void PortTap::received(std::span<const Frame> frames) {
  const Nanoseconds now = clock_.now();
  for (const Frame& frame : frames) see(frame, false, now);
}

void PortTap::send(std::span<Frame> frames) {
  const Nanoseconds now = clock_.now();
  for (const Frame& frame : frames) see(frame, true, now);
  device_->send(frames);
}

namespace {

/// Sends those of `frames` that `pass` lets pass to `device`, in their order. A slot whose frame is
/// not to be sent now keeps its buffer.
template <typename Pass>
void send_what_passes(std::span<Frame> frames, TransmitDevice& device, Pass pass) {
  size_t first = 0;
  const auto send_up_to = [&](size_t end) {
    if (first != end) device.send(frames.subspan(first, end - first));
    first = end + 1;
  };
  for (size_t i = 0; i < frames.size(); ++i)
    if (!pass(frames[i])) send_up_to(i);
  send_up_to(frames.size());
}

}  // namespace

PortChain::PortChain(const Clock& clock, PortQueue& queue)
    : clock_(clock),
      queue_(queue),
      device_(queue.transmit().device()),
      offloads_(queue.transmit().offloads()),
      behind_tunnels_(&device_) {}

std::unique_ptr<PortTap> PortChain::set_tap(std::unique_ptr<PortTap> tap) {
  std::unique_ptr<PortTap> before = std::exchange(tap_, std::move(tap));
  link();
  return before;
}

void PortChain::impair(Direction direction, const ImpairmentSettings& settings) {
  if (impairments_ == nullptr) impairments_ = std::make_unique<Impairments>();
  of(direction).set(settings);
  link();
}

ImpairmentCounts PortChain::impairment_counts(Direction direction) const {
  if (impairments_ == nullptr) return {};
  return (*impairments_)[static_cast<size_t>(direction)].counts();
}

std::unique_ptr<TunnelEnd> PortChain::set_tunnels(std::unique_ptr<TunnelEnd> tunnels) {
  std::unique_ptr<TunnelEnd> before = std::exchange(tunnels_, std::move(tunnels));
  link();
  return before;
}

// One loss is to take one frame and one checksum to tell of one damage, so a device does neither
// cutting nor summing behind an impairment. Before a tunnel it could not: it knows the outer
// headers.
void PortChain::link() {
  TransmitQueue& transmit = queue_.transmit();
  TransmitDevice* device = &device_;
  if (tap_ != nullptr) {
    tap_->stand_before(*device);
    device = tap_.get();
  }
  impairs_sent_ = impairments_ != nullptr && !of(Direction::transmit).idle();
  impairs_received_ = impairments_ != nullptr && !of(Direction::receive).idle();
  if (impairs_sent_) {
    behind_impairment_ = device;
    device = this;
  }
  behind_tunnels_ = device;
  if (tunnels_ != nullptr) device = &entrance_;
  transmit.redirect(*device);
  transmit.set_offloads(impairs_sent_ || tunnels_ != nullptr ? DeviceOffloads{} : offloads_);
  in_use_ = tap_ != nullptr || tunnels_ != nullptr || impairs_sent_ || impairs_received_;
}

std::span<const Frame> PortChain::arrive(std::span<const Frame> frames) {
  if (tap_ != nullptr && !frames.empty()) tap_->received(frames);
  if (impairs_received_) frames = impaired(frames);
  return tunnels_ == nullptr ? frames : out_of_tunnels(frames);
}

std::span<const Frame> PortChain::out_of_tunnels(std::span<const Frame> frames) {
  unpacked_.clear();
  for (Frame frame : frames)
    if (tunnels_->pass_received(frame)) unpacked_.push_back(frame);
  return unpacked_;
}

std::span<const Frame> PortChain::impaired(std::span<const Frame> frames) {
  Impairment& impairment = of(Direction::receive);
  const Nanoseconds now = clock_.now();
  arrived_.clear();
  const auto take_due = [&] {
    while (const Frame* due = impairment.line().take(now)) arrived_.push_back(*due);
  };
  take_due();
  for (const Frame& frame : frames)
    if (impairment.pass(frame, now)) arrived_.push_back(frame);
  take_due();
  return arrived_;
}

void PortChain::Entrance::send(std::span<Frame> frames) {
  send_what_passes(frames, *chain_.behind_tunnels_,
                   [this](Frame& frame) { return chain_.tunnels_->pass_sent(frame); });
}

void PortChain::send(std::span<Frame> frames) {
  const Nanoseconds now = clock_.now();
  send_what_passes(frames, *behind_impairment_,
                   [&](Frame& frame) { return of(Direction::transmit).pass(frame, now); });
}

// Frames on a wire refer to the line's memory until they have been received.
void PortChain::send_due() {
  if (queue_.payload_released() < carried_) return;
  DelayLine& line = of(Direction::transmit).line();
  line.release();
  const Nanoseconds now = clock_.now();
  if (line.next_due() > now) return;
  TransmitQueue& transmit = queue_.transmit();
  TransmitDevice& first = transmit.redirect(*behind_impairment_);
  while (const Frame* due = line.take(now)) {
    Frame* const frame = transmit.next();
    if (frame == nullptr) break;
    std::memcpy(frame->head, due->head, due->head_length);
    frame->head_length = due->head_length;
    frame->payload = due->payload;
    frame->payload_length = due->payload_length;
    frame->segment_size = due->segment_size;
    frame->checksums = due->checksums;
    frame->headers = due->headers;
    transmit.commit();
  }
  transmit.flush();
  transmit.redirect(first);
  carried_ = queue_.counters().opackets;
}

void PortChain::finish_pass() {
  if (impairs_sent_) send_due();
  // One that has ended costs nothing any more once all that it held has gone.
  if ((impairs_sent_ && of(Direction::transmit).idle()) ||
      (impairs_received_ && of(Direction::receive).idle()))
    link();
}

}  // namespace engine
