#include "astf/arrivals.h"

#include "net/usual_packet.h"

namespace engine {

namespace {

/// The bucket of a frame that is of no flow.
constexpr uint32_t kNoEntry = FlowTable::kNone;

template <bool kStamped>
[[gnu::always_inline]] inline Arrival::Form read(const Frame& frame, tcp::PlainSegment& segment) {
  using enum Arrival::Form;
  if (tcp::read_plain<kStamped>(frame, segment)) [[likely]]
    return kStamped ? plain : unstamped;
  if (tcp::read_plain_syn<kStamped>(frame, segment)) return kStamped ? syn : unstamped_syn;
  return other;
}

/// Whether the checksums of a plain segment are right; of another one they are verified later.
template <bool kStamped>
[[gnu::always_inline]] inline bool has_right_checksums(const Frame& frame, const Arrival& arrival) {
  using enum Arrival::Form;
  if (arrival.form == (kStamped ? plain : unstamped)) [[likely]]
    return tcp::has_right_checksums<tcp::kPlainHeader<kStamped>>(frame, arrival.segment);
  if (arrival.form == (kStamped ? syn : unstamped_syn))
    return tcp::has_right_checksums<tcp::kPlainSynHeader<kStamped>>(frame, arrival.segment);
  return true;
}

/// Parses a plain segment of this form. False: it is another one, or its checksums are wrong.
template <bool kStamped>
[[gnu::always_inline]] inline bool parse_plain(const FlowTable& table, const Frame& frame,
                                               Arrival& arrival) {
  arrival.form = read<kStamped>(frame, arrival.segment);
  if (frame.checksums != Checksums::trusted && !has_right_checksums<kStamped>(frame, arrival))
    arrival.form = Arrival::Form::other;
  if (arrival.form == Arrival::Form::other) [[unlikely]]
    return false;
  arrival.hash = table.hash_v4(arrival.segment.addresses(), arrival.segment.ports(), false);
  arrival.bucket = table.bucket(arrival.hash);
  return true;
}

/// A frame that is no plain segment with time stamps, or whose checksums are to be verified first.
/// A function by itself, so that the others' loop keeps what it needs in registers.
[[gnu::noinline]] void parse_other(const FlowTable& table, const Frame& frame, Arrival& arrival) {
  if (parse_plain<false>(table, frame, arrival)) return;
  const bool trusted = frame.checksums == Checksums::trusted;
  arrival.kind = trusted && parse_usual(frame, arrival.packet)
                     ? PacketKind::tcp
                     : parse_packet(frame, arrival.packet);
  arrival.bucket = &kNoEntry;
  if (!arrival.has_flow()) return;
  arrival.hash = table.hash(arrival.key());
  arrival.bucket = table.bucket(arrival.hash);
  // Of a frame that does not vouch for its checksums parse_packet is the judge.
  if (trusted || arrival.kind != PacketKind::tcp) return;
  arrival.form = read<true>(frame, arrival.segment);
  if (arrival.form == Arrival::Form::other) arrival.form = read<false>(frame, arrival.segment);
}

}  // namespace

// In two rounds: the buckets of the table have to come first.
[[gnu::noinline]] std::span<Arrival> Arrivals::parse(Context& context, const FlowTable& table,
                                                     std::span<const Frame> frames) {
  Arrival* end = arrivals_.data();
  for (const Frame& frame : frames) {
    Arrival& arrival = *end++;
    if (!parse_plain<true>(table, frame, arrival)) [[unlikely]]
      parse_other(table, frame, arrival);
    __builtin_prefetch(arrival.bucket);
  }
  for (Arrival* arrival = arrivals_.data(); arrival != end; ++arrival)
    arrival->flow = context.prefetch(*arrival->bucket);
  return {arrivals_.data(), frames.size()};
}

}  // namespace engine
