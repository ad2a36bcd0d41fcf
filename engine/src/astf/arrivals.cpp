#include "astf/arrivals.h"

#include "net/usual_packet.h"

namespace engine {

namespace {

/// The bucket of a frame that is of no flow.
constexpr uint32_t kNoEntry = FlowTable::kNone;

[[gnu::always_inline]] inline Arrival::Form read(const Frame& frame, tcp::PlainSegment& segment) {
  if (tcp::read_plain(frame, segment)) [[likely]]
    return Arrival::Form::plain;
  return tcp::read_plain_syn(frame, segment) ? Arrival::Form::syn : Arrival::Form::other;
}

/// Whether the checksums of a plain segment are right; of another one they are verified later.
[[gnu::always_inline]] inline bool has_right_checksums(const Frame& frame, const Arrival& arrival) {
  switch (arrival.form) {
    case Arrival::Form::plain:
      return tcp::has_right_checksums<tcp::kPlainHeader>(frame, arrival.segment);
    case Arrival::Form::syn:
      return tcp::has_right_checksums<tcp::kPlainSynHeader>(frame, arrival.segment);
    default:
      return true;
  }
}

/// A frame that is not plain, or whose checksums are to be verified first. A function by itself, so
/// that the others' loop keeps what it needs in registers.
[[gnu::noinline]] void parse_other(const FlowTable& table, const Frame& frame, Arrival& arrival) {
  const bool trusted = frame.checksums == Checksums::trusted;
  arrival.form = Arrival::Form::other;
  arrival.kind = trusted && parse_usual(frame, arrival.packet)
                     ? PacketKind::tcp
                     : parse_packet(frame, arrival.packet);
  arrival.bucket = &kNoEntry;
  if (!arrival.has_flow()) return;
  arrival.hash = table.hash(arrival.key());
  arrival.bucket = table.bucket(arrival.hash);
  if (!trusted && arrival.kind == PacketKind::tcp) arrival.form = read(frame, arrival.segment);
}

}  // namespace

// In two rounds: the buckets of the table have to come first.
[[gnu::noinline]] std::span<Arrival> Arrivals::parse(Context& context, const FlowTable& table,
                                                     std::span<const Frame> frames) {
  Arrival* end = arrivals_.data();
  for (const Frame& frame : frames) {
    Arrival& arrival = *end++;
    arrival.form = read(frame, arrival.segment);
    if (frame.checksums != Checksums::trusted && !has_right_checksums(frame, arrival))
      arrival.form = Arrival::Form::other;
    if (arrival.form != Arrival::Form::other) [[likely]] {
      arrival.hash = table.hash_v4(arrival.segment.addresses(), arrival.segment.ports(), false);
      arrival.bucket = table.bucket(arrival.hash);
    } else {
      parse_other(table, frame, arrival);
    }
    __builtin_prefetch(arrival.bucket);
  }
  for (Arrival* arrival = arrivals_.data(); arrival != end; ++arrival)
    arrival->flow = context.prefetch(*arrival->bucket);
  return {arrivals_.data(), frames.size()};
}

}  // namespace engine
