#include "tls/endpoint.h"

#include <openssl/err.h>

#include <algorithm>
#include <array>
#include <utility>

#include "flow/latency.h"
#include "flow/ranges.h"

namespace engine::tls {

namespace {

/// What a record adds at most, and what follows a handshake without being asked for: alerts,
/// tickets, key updates.
constexpr uint32_t kOverhead = 512;
/// A flight with a chain of certificates.
constexpr uint32_t kLongestFlight = SealedBuffers::kLarge;

constexpr size_t kLongestHeader = 60;  // of TCP

/// Whether one segment can have a whole record.
bool fits_record(const Flow& flow) {
  return flow.mss >= SealedBuffers::kLarge;
}

/// Bytes that one buffer keeps: whole segments, so that all but a stream's last are full.
uint32_t fill_of(const Flow& flow) {
  constexpr uint32_t kMost = SealedBuffers::kLarge;
  return fits_record(flow) ? kMost : kMost / flow.mss * flow.mss;
}

uint32_t end_of(const Session::Held& held) {
  return held.sequence + static_cast<uint32_t>(held.bytes.size());
}

}  // namespace

Endpoint::Endpoint(Side side, const Options& options, const std::vector<Buffer>& profile,
                   Shared& shared)
    : side_(side), profile_(profile), shared_(shared), library_(side, options, counts_, shared) {}

// -- of one connection ---------------------------------------------------------------------------

Session* Endpoint::session_of(Context& context, const Flow& flow) {
  const Extension* const extension = context.extension_of(flow);
  if (extension == nullptr || extension->session == Pool<Session>::kNone) return nullptr;
  return &shared_.sessions[extension->session];
}

Session& Endpoint::begin(Context& context, Flow& flow) {
  // There is a session for every flow of the pool.
  Extension& extension = context.extend(flow);
  extension.session = shared_.sessions.take();
  Session& session = shared_.sessions[extension.session];
  session.received = 0;
  session.established = session.closing = session.finished = session.over = session.notified =
      session.peer_closed = false;
  return session;
}

void Endpoint::release(Context& context, Flow& flow) {
  Session* const session = session_of(context, flow);
  if (session == nullptr) return;
  for (const Session::Sealed& sealed : session->sealed)
    shared_.sealed.release(sealed.buffer, context.now);
  session->sealed.clear();
  session->pending.clear();
  while (!session->held.empty()) give_back_held(*session, session->held.size() - 1);
  if (session->turn != 0) end_due(*session);
  give_back_unread(*session);
  session->free_library();
  session->protection.suite = Suite::none;
  Extension& extension = context.extensions[flow.extension];
  shared_.sessions.give_back(extension.session);
  extension.session = Pool<Session>::kNone;
}

// -- received ------------------------------------------------------------------------------------

bool Endpoint::has_room(const Flow& flow, size_t bytes) const {
  return shared_.sealed.has_room(bytes / fill_of(flow) + 1);
}

/// Whether there is memory for what may come of a segment. Else it is as if it had been lost.
bool Endpoint::may_take(Context& context, const Flow& flow, const RxSegment& segment) {
  if (segment.payload_length == 0) return true;
  if (!has_room(flow, kLongestFlight)) return false;
  const Session* const session = session_of(context, flow);
  const bool shakes_hands = session != nullptr && !session->established;
  if (shakes_hands && session->unread.size() + segment.payload_length >
                          context.class_of(flow).tunables->receive_buffer)
    return false;
  return !(shakes_hands || after(segment.sequence(), flow.rcv_nxt)) ||
         shared_.held_bytes + segment.payload_length <= Shared::kHeldBudget;
}

tcp::Events Endpoint::receive(Context& context, Flow& flow, const RxSegment& segment,
                              Reader* reader) {
  const std::span<const uint8_t> bytes = segment.payload();
  RxSegment whole = segment;
  std::array<uint8_t, kLongestHeader> without_fin;
  if (bytes.size() < segment.payload_length) {
    std::copy_n(segment.header, segment.header_length, without_fin.begin());
    without_fin[13] &= static_cast<uint8_t>(~tcp::kFin);
    whole.header = without_fin.data();
    whole.payload_length = static_cast<uint32_t>(bytes.size());
    ++counts_.cut_segments;
  }
  if (!may_take(context, flow, whole)) {
    ++counts_.lacked_memory;
    return tcp::kNothing;
  }
  const uint32_t sequence = whole.sequence() + (whole.is(tcp::kSyn) ? 1 : 0);
  const uint32_t from = flow.rcv_nxt;
  const uint64_t available = flow.rx_available;
  tcp::Events events = tcp::receive_slow_path(context, context.class_of(flow), flow, whole);
  if ((events & tcp::kGone) != 0) return events;
  const bool connected = (events & tcp::kEstablished) != 0;
  if (connected && side_ == Side::client)
    latency::record(context, context.class_of(flow), flow, LatencyKind::connect);
  Session* const session = connected ? &begin(context, flow) : session_of(context, flow);
  if (session == nullptr) return events;

  Turn turn{context, flow, *session, reader};
  if ((events & tcp::kAcknowledged) != 0) release_acknowledged(context, flow, *session);
  if (connected && side_ == Side::client) make_due(context, flow, *session);  // the first flight
  if ((events & tcp::kDelivered) != 0) {
    // It begins at `from` or before, and TCP took no more of it than its window.
    const uint32_t window = context.class_of(flow).tunables->receive_buffer;
    const uint32_t length = std::min(sequence + whole.payload_length - from, window);
    take(turn, bytes.subspan(from - sequence, length));
    take_held(turn, from + length);
  } else if (whole.payload_length != 0) {
    hold(context, flow, *session, whole.sequence(), bytes);
  }
  if ((events & tcp::kPeerClosed) != 0) {
    if (session->turn != 0) {
      session->peer_closed = true;
      events &= ~uint32_t{tcp::kPeerClosed};
    } else {
      end_of_peer(turn);
    }
  }
  send_output(context, flow, *session);
  encrypt(context, flow, *session);
  flow.rx_available = available + turn.payload;
  events &= ~uint32_t{tcp::kEstablished | tcp::kDelivered};
  if (turn.payload != 0) events |= tcp::kDelivered;
  return events;
}

void Endpoint::end_of_peer(Turn& turn) {
  if (turn.session.over) return;
  if (!turn.session.established) {
    ++counts_.ended;
    fail(turn);
  } else if (!turn.session.notified) {
    ++counts_.truncated;
  }
}

// -- the handshake, in steps ---------------------------------------------------------------------

void Endpoint::make_due(Context& context, const Flow& flow, Session& session) {
  if (session.turn != 0) return;
  session.turn = ++shared_.turns;
  session.due = context.now;
  shared_.due.push_back(
      {session.turn, shared_.sessions.number_of(session), context.flows.number_of(flow), this});
  counts_.most_waiting = std::max(counts_.most_waiting, ++counts_.waiting);
}

void Endpoint::end_due(Session& session) {
  session.turn = 0;
  --counts_.waiting;
}

void Endpoint::begin_step(Context& context, Flow& flow) {
  Session& session = *session_of(context, flow);
  end_due(session);
  const Nanoseconds waited = context.now - session.due;
  session.due = context.now;
  counts_.waited += waited;
  counts_.longest_waited = std::max(counts_.longest_waited, waited);
  ++counts_.steps;
  if (session.ssl == nullptr) library_.connect(session);
  shared_.input = session.unread;
  ERR_clear_error();
  const uint64_t alerts = library_.alerts();
  const int outcome = SSL_do_handshake(session.ssl);
  shared_.step_error = outcome == 1 ? SSL_ERROR_NONE : SSL_get_error(session.ssl, outcome);
  if (outcome != 1) {
    // Where nothing of TLS has come, the library says nothing of TLS, either.
    if (shared_.step_error != SSL_ERROR_WANT_READ && library_.alerts() == alerts) ++counts_.not_tls;
    return;
  }
  if (!library_.has_protocol(session.ssl)) {
    ++counts_.without_protocol;
    shared_.step_error = SSL_ERROR_SSL;
    SSL_shutdown(session.ssl);
    return;
  }
  ++(SSL_session_reused(session.ssl) == 1 ? counts_.resumed : counts_.full);
  library_.leave(session);
}

tcp::Events Endpoint::end_step(Context& context, Flow& flow, Reader* reader) {
  Session& session = *session_of(context, flow);
  counts_.step_time += context.now - session.due;
  Turn turn{context, flow, session, reader};
  tcp::Events events = tcp::kNothing;
  if (shared_.step_error == SSL_ERROR_NONE) {
    session.established = true;
    events |= tcp::kEstablished;
    // What has come behind the handshake is still there, and is no step's any more.
    const std::vector<uint8_t> unread = std::exchange(session.unread, {});
    shared_.held_bytes -= unread.size();
    read(turn);
  } else if (shared_.step_error != SSL_ERROR_WANT_READ) {
    fail(turn);
  }
  if (!session.established || session.over) give_back_unread(session);
  if (session.peer_closed) {
    end_of_peer(turn);
    events |= tcp::kPeerClosed;
  }
  send_output(context, flow, session);
  encrypt(context, flow, session);
  flow.rx_available += turn.payload;
  if (turn.payload != 0) events |= tcp::kDelivered;
  return events;
}

/// An idle connection keeps no memory for it.
void Endpoint::give_back_unread(Session& session) {
  shared_.held_bytes -= session.unread.size();
  session.unread = std::vector<uint8_t>();  // `= {}` would leave it its memory
}

// -- out of order
// ----------------------------------------------------------------------------------

/// Keeps what TCP keeps the range of.
void Endpoint::hold(Context& context, Flow& flow, Session& session, uint32_t sequence,
                    std::span<const uint8_t> bytes) {
  const uint32_t beyond = sequence - flow.rcv_nxt;  // as in order it was delivered
  const uint32_t window = context.class_of(flow).tunables->receive_buffer;
  if (session.over || beyond >= window) return;
  bytes = bytes.first(std::min<size_t>(bytes.size(), window - beyond));
  const Extension* const extension = context.extension_of(flow);
  const SequenceRange range{sequence, sequence + static_cast<uint32_t>(bytes.size())};
  if (bytes.empty() || !covers(extension->out_of_order, range)) return;
  const auto again = [&range](const Session::Held& held) {
    return !before(range.start, held.sequence) && !after(range.end, end_of(held));
  };
  if (std::ranges::any_of(session.held, again)) return;
  shared_.held_bytes += bytes.size();
  session.held.push_back({range.start, {bytes.begin(), bytes.end()}});
}

void Endpoint::give_back_held(Session& session, size_t index) {
  shared_.held_bytes -= session.held[index].bytes.size();
  session.held.erase(session.held.begin() + static_cast<ptrdiff_t>(index));
}

/// A gap is filled: what was held behind it follows, from sequence number `from` on.
void Endpoint::take_held(Turn& turn, uint32_t from) {
  Session& session = turn.session;
  for (size_t index = 0; index < session.held.size();) {
    const Session::Held& held = session.held[index];
    const bool old = !after(end_of(held), from);
    if (!old && after(held.sequence, from)) {
      ++index;
      continue;
    }
    if (!old) {
      const uint32_t end = end_of(held);
      take(turn, std::span(held.bytes).subspan(from - held.sequence));
      from = end;
    }
    give_back_held(session, index);
    index = 0;
  }
}

/// The next bytes of the stream: for the library, or for the next step of the handshake.
void Endpoint::take(Turn& turn, std::span<const uint8_t> bytes) {
  Session& session = turn.session;
  if (session.over) return;
  if (!session.established) {
    session.unread.insert(session.unread.end(), bytes.begin(), bytes.end());
    shared_.held_bytes += bytes.size();
    make_due(turn.context, turn.flow, session);
    return;
  }
  shared_.input = bytes;
  read(turn);
}

/// The connection ends, once the library's alert has been sent. The program does nothing more.
void Endpoint::fail(Turn& turn) {
  ++counts_.failed;
  turn.session.over = true;
  send_output(turn.context, turn.flow, turn.session);
  if (!turn.session.finished) tcp::finish(turn.flow);
  turn.session.finished = true;
  turn.session.pending.clear();
  turn.flow.wait = Wait::ended;
}

// -- sent ----------------------------------------------------------------------------------------

void Endpoint::queue(Context& context, Flow& flow, uint32_t buffer) {
  Session* const session = session_of(context, flow);
  if (session == nullptr || session->over || session->finished) return;
  session->pending.push_back({buffer, 0});
  encrypt(context, flow, *session);
}

void Endpoint::close(Context& context, Flow& flow) {
  Session* const session = session_of(context, flow);
  if (session == nullptr) {
    tcp::finish(flow);
    return;
  }
  session->closing = true;
  encrypt(context, flow, *session);
}

void Endpoint::release_acknowledged(Context& context, const Flow& flow, Session& session) {
  size_t count = 0;
  for (; count < session.sealed.size() && !after(session.sealed[count].end, flow.snd_una); ++count)
    shared_.sealed.release(session.sealed[count].buffer, context.now);
  session.sealed.erase(session.sealed.begin(),
                       session.sealed.begin() + static_cast<ptrdiff_t>(count));
}

/// Encrypts what is queued, as far as so much may be on its way.
void Endpoint::encrypt(Context& context, Flow& flow, Session& session) {
  if (!session.established || session.finished) return;
  const uint32_t most = context.class_of(flow).tunables->transmit_buffer;
  while (!session.pending.empty() && tcp::unacknowledged(flow) + shared_.output.size() < most) {
    Session::Pending& next = session.pending.front();
    const Buffer& buffer = profile_[next.buffer];
    const uint32_t length = std::min(buffer.size() - next.offset, Shared::kRecord);
    if (!has_room(flow, shared_.output.size() + length + kOverhead)) {
      ++counts_.lacked_memory;
      break;
    }
    if (length != 0) write(session, {buffer.at(next.offset, length), length});
    // In a segment of its own its receiver need not put it together.
    if (fits_record(flow)) send_output(context, flow, session);
    next.offset += length;
    if (next.offset == buffer.size()) session.pending.erase(session.pending.begin());
  }
  send_output(context, flow, session);
  if (session.closing && session.pending.empty()) finish(context, flow, session);
}

void Endpoint::finish(Context& context, Flow& flow, Session& session) {
  session.finished = true;
  if (session.protection.suite != Suite::none) {
    send_alert(session, SSL_AD_CLOSE_NOTIFY);
  } else {
    ERR_clear_error();
    SSL_shutdown(session.ssl);
    SSL_free_buffers(session.ssl);
  }
  send_output(context, flow, session);
  tcp::finish(flow);
}

/// Queues what the library wrote.
void Endpoint::send_output(Context& context, Flow& flow, Session& session) {
  if (shared_.output.empty()) return;
  FlowClass& shared = context.class_of(flow);
  const uint32_t most = fill_of(flow);
  std::span<const uint8_t> left{shared_.output};
  while (!left.empty()) {
    const auto part = left.first(std::min<size_t>(left.size(), most));
    const uint32_t number = shared_.sealed.keep(part, context.now);
    tcp::append(context, shared, flow, number);
    session.sealed.push_back({number, flow.snd_end});
    left = left.subspan(part.size());
  }
  shared_.output.clear();
}

}  // namespace engine::tls
