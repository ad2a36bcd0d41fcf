#include "tls/endpoint.h"

#include <openssl/err.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/byte_order.h"
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

uint32_t end_of(const TlsConnection::Held& held) {
  return held.sequence + static_cast<uint32_t>(held.bytes.size());
}

}  // namespace

Endpoint::Endpoint(Side side, const Options& options, const std::vector<Buffer>& profile,
                   TlsCore& tls_core)
    : side_(side),
      profile_(profile),
      tls_core_(tls_core),
      library_(side, options, counts_, tls_core) {}

// -- of one connection ---------------------------------------------------------------------------

TlsConnection* Endpoint::connection_of(Context& context, const Flow& flow) {
  const Extension* const extension = context.extension_of(flow);
  if (extension == nullptr || extension->tls_connection == Pool<TlsConnection>::kNone)
    return nullptr;
  return &tls_core_.connections[extension->tls_connection];
}

TlsConnection& Endpoint::begin(Context& context, Flow& flow) {
  // There is a connection for every flow of the pool.
  Extension& extension = context.extend(flow);
  extension.tls_connection = tls_core_.connections.take();
  TlsConnection& connection = tls_core_.connections[extension.tls_connection];
  connection.received = 0;
  connection.established = connection.closing = connection.finished = connection.over =
      connection.notified = connection.peer_closed = false;
  return connection;
}

void Endpoint::release(Context& context, Flow& flow) {
  TlsConnection* const connection = connection_of(context, flow);
  if (connection == nullptr) return;
  for (const TlsConnection::Sealed& sealed : connection->sealed)
    tls_core_.sealed.release(sealed.buffer, context.now);
  connection->sealed.clear();
  connection->pending.clear();
  while (!connection->held.empty()) give_back_held(*connection, connection->held.size() - 1);
  if (connection->ticket != 0) end_due(*connection);
  give_back_unread(*connection);
  connection->free_library();
  connection->protection.suite = Suite::none;
  Extension& extension = context.extensions[flow.extension];
  tls_core_.connections.give_back(extension.tls_connection);
  extension.tls_connection = Pool<TlsConnection>::kNone;
}

// -- received ------------------------------------------------------------------------------------

bool Endpoint::has_room(const Flow& flow, size_t bytes) const {
  return tls_core_.sealed.has_room(bytes / fill_of(flow) + 1);
}

/// Whether there is memory for what may come of a segment. Else it is as if it had been lost.
bool Endpoint::may_take(Context& context, const Flow& flow, const RxSegment& segment) {
  if (segment.payload_length == 0) return true;
  if (!has_room(flow, kLongestFlight)) return false;
  const TlsConnection* const connection = connection_of(context, flow);
  const bool shakes_hands = connection != nullptr && !connection->established;
  if (shakes_hands && connection->unread.size() + segment.payload_length >
                          context.class_of(flow).tunables->receive_buffer)
    return false;
  if (shakes_hands || after(segment.sequence(), flow.rcv_nxt))
    return tls_core_.held_bytes + segment.payload_length <= TlsCore::kHeldBudget;
  const uint32_t known = flow.rcv_nxt - segment.sequence();
  if (connection == nullptr || known >= segment.payload_length) return true;
  return may_begin(*connection, segment.payload().subspan(known));
}

/// Whether there is memory for a record that is begun with `bytes`, the next of the stream, or none
/// is begun.
bool Endpoint::may_begin(const TlsConnection& connection, std::span<const uint8_t> bytes) const {
  if (connection.begun || connection.over || connection.notified ||
      tls_core_.begun < TlsCore::kMostBegun)
    return true;
  if (!connection.unread.empty() || !connection.held.empty()) return false;
  while (bytes.size() >= Records::kHeader) {
    const size_t record = Records::kHeader + load_be<uint16_t>(bytes.data() + 3);
    if (record > bytes.size()) return false;
    bytes = bytes.subspan(record);
  }
  return bytes.empty();
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
  TlsConnection* const connection =
      connected ? &begin(context, flow) : connection_of(context, flow);
  if (connection == nullptr) return events;

  Batch batch{context, flow, *connection, reader};
  if ((events & tcp::kAcknowledged) != 0) release_acknowledged(context, flow, *connection);
  if (connected && side_ == Side::client) make_due(context, flow, *connection);  // the first flight
  if ((events & tcp::kDelivered) != 0) {
    // It begins at `from` or before, and TCP took no more of it than its window.
    const uint32_t window = context.class_of(flow).tunables->receive_buffer;
    const uint32_t length = std::min(sequence + whole.payload_length - from, window);
    take(batch, bytes.subspan(from - sequence, length));
    take_held(batch, from + length);
  } else if (whole.payload_length != 0) {
    hold(context, flow, *connection, whole.sequence(), bytes);
  }
  if ((events & tcp::kPeerClosed) != 0) {
    if (connection->ticket != 0) {
      connection->peer_closed = true;
      events &= ~uint32_t{tcp::kPeerClosed};
    } else {
      end_of_peer(batch);
    }
  }
  send_output(context, flow, *connection);
  encrypt(context, flow, *connection);
  flow.rx_available = available + batch.payload;
  events &= ~uint32_t{tcp::kEstablished | tcp::kDelivered};
  if (batch.payload != 0) events |= tcp::kDelivered;
  return events;
}

void Endpoint::end_of_peer(Batch& batch) {
  if (batch.connection.over) return;
  if (!batch.connection.established) {
    ++counts_.ended;
    fail(batch);
  } else if (!batch.connection.notified) {
    ++counts_.truncated;
  }
}

// -- the handshake, in steps ---------------------------------------------------------------------

void Endpoint::make_due(Context& context, const Flow& flow, TlsConnection& connection) {
  if (connection.ticket != 0) return;
  connection.ticket = ++tls_core_.tickets;
  connection.due = context.now;
  tls_core_.due.push_back({connection.ticket, tls_core_.connections.number_of(connection),
                           context.flows.number_of(flow), this});
  counts_.most_waiting = std::max(counts_.most_waiting, ++counts_.waiting);
}

void Endpoint::end_due(TlsConnection& connection) {
  connection.ticket = 0;
  --counts_.waiting;
}

void Endpoint::begin_step(Context& context, Flow& flow) {
  TlsConnection& connection = *connection_of(context, flow);
  end_due(connection);
  const Nanoseconds waited = context.now - connection.due;
  connection.due = context.now;
  counts_.waited += waited;
  counts_.longest_waited = std::max(counts_.longest_waited, waited);
  ++counts_.steps;
  if (connection.ssl == nullptr) library_.connect(connection);
  tls_core_.input = connection.unread;
  ERR_clear_error();
  const uint64_t alerts = library_.alerts();
  const int outcome = SSL_do_handshake(connection.ssl);
  tls_core_.step_error = outcome == 1 ? SSL_ERROR_NONE : SSL_get_error(connection.ssl, outcome);
  if (outcome != 1) {
    // Where nothing of TLS has come, the library says nothing of TLS, either.
    if (tls_core_.step_error != SSL_ERROR_WANT_READ && library_.alerts() == alerts)
      ++counts_.not_tls;
    return;
  }
  if (!library_.has_protocol(connection.ssl)) {
    ++counts_.without_protocol;
    tls_core_.step_error = SSL_ERROR_SSL;
    SSL_shutdown(connection.ssl);
    return;
  }
  ++(SSL_session_reused(connection.ssl) == 1 ? counts_.resumed : counts_.full);
  library_.leave(connection);
}

tcp::Events Endpoint::end_step(Context& context, Flow& flow, Reader* reader) {
  TlsConnection& connection = *connection_of(context, flow);
  counts_.step_time += context.now - connection.due;
  Batch batch{context, flow, connection, reader};
  tcp::Events events = tcp::kNothing;
  if (tls_core_.step_error == SSL_ERROR_NONE) {
    connection.established = true;
    events |= tcp::kEstablished;
    // What has come behind the handshake is still there, and is no step's any more.
    const std::vector<uint8_t> unread = std::exchange(connection.unread, {});
    tls_core_.held_bytes -= unread.size();
    read(batch);
  } else if (tls_core_.step_error != SSL_ERROR_WANT_READ) {
    fail(batch);
  }
  if (!connection.established || connection.over) give_back_unread(connection);
  if (connection.peer_closed) {
    end_of_peer(batch);
    events |= tcp::kPeerClosed;
  }
  send_output(context, flow, connection);
  encrypt(context, flow, connection);
  flow.rx_available += batch.payload;
  if (batch.payload != 0) events |= tcp::kDelivered;
  return events;
}

/// An idle connection keeps no memory for it.
void Endpoint::give_back_unread(TlsConnection& connection) {
  if (!connection.begun) tls_core_.held_bytes -= connection.unread.size();
  count_begun(connection, false);
  connection.unread = std::vector<uint8_t>();  // `= {}` would leave it its memory
}

void Endpoint::count_begun(TlsConnection& connection, bool begun) {
  if (connection.begun == begun) return;
  connection.begun = begun;
  begun ? ++tls_core_.begun : --tls_core_.begun;
}

// -- out of order --------------------------------------------------------------------------------

/// Keeps what TCP keeps the range of.
void Endpoint::hold(Context& context, Flow& flow, TlsConnection& connection, uint32_t sequence,
                    std::span<const uint8_t> bytes) {
  const uint32_t beyond = sequence - flow.rcv_nxt;  // as in order it was delivered
  const uint32_t window = context.class_of(flow).tunables->receive_buffer;
  if (connection.over || beyond >= window) return;
  bytes = bytes.first(std::min<size_t>(bytes.size(), window - beyond));
  const Extension* const extension = context.extension_of(flow);
  const SequenceRange range{sequence, sequence + static_cast<uint32_t>(bytes.size())};
  if (bytes.empty() || !covers(extension->out_of_order, range)) return;
  const auto again = [&range](const TlsConnection::Held& held) {
    return !before(range.start, held.sequence) && !after(range.end, end_of(held));
  };
  if (std::ranges::any_of(connection.held, again)) return;
  tls_core_.held_bytes += bytes.size();
  connection.held.push_back({range.start, {bytes.begin(), bytes.end()}});
}

void Endpoint::give_back_held(TlsConnection& connection, size_t index) {
  tls_core_.held_bytes -= connection.held[index].bytes.size();
  connection.held.erase(connection.held.begin() + static_cast<ptrdiff_t>(index));
}

/// A gap is filled: what was held behind it follows, from sequence number `from` on.
void Endpoint::take_held(Batch& batch, uint32_t from) {
  TlsConnection& connection = batch.connection;
  for (size_t index = 0; index < connection.held.size();) {
    const TlsConnection::Held& held = connection.held[index];
    const bool old = !after(end_of(held), from);
    if (!old && after(held.sequence, from)) {
      ++index;
      continue;
    }
    if (!old) {
      const uint32_t end = end_of(held);
      take(batch, std::span(held.bytes).subspan(from - held.sequence));
      from = end;
    }
    give_back_held(connection, index);
    index = 0;
  }
}

/// The next bytes of the stream: for the library, or for the next step of the handshake.
void Endpoint::take(Batch& batch, std::span<const uint8_t> bytes) {
  TlsConnection& connection = batch.connection;
  if (connection.over) return;
  if (!connection.established) {
    connection.unread.insert(connection.unread.end(), bytes.begin(), bytes.end());
    tls_core_.held_bytes += bytes.size();
    make_due(batch.context, batch.flow, connection);
    return;
  }
  tls_core_.input = bytes;
  read(batch);
}

/// The connection ends, once the library's alert has been sent. The program does nothing more.
void Endpoint::fail(Batch& batch) {
  ++counts_.failed;
  batch.connection.over = true;
  send_output(batch.context, batch.flow, batch.connection);
  if (!batch.connection.finished) tcp::finish(batch.flow);
  batch.connection.finished = true;
  batch.connection.pending.clear();
  batch.flow.wait = Wait::ended;
}

// -- sent ----------------------------------------------------------------------------------------

void Endpoint::queue(Context& context, Flow& flow, uint32_t buffer) {
  TlsConnection* const connection = connection_of(context, flow);
  if (connection == nullptr || connection->over || connection->finished) return;
  connection->pending.push_back({buffer, 0});
  encrypt(context, flow, *connection);
}

void Endpoint::close(Context& context, Flow& flow) {
  TlsConnection* const connection = connection_of(context, flow);
  if (connection == nullptr) {
    tcp::finish(flow);
    return;
  }
  connection->closing = true;
  encrypt(context, flow, *connection);
}

void Endpoint::release_acknowledged(Context& context, const Flow& flow, TlsConnection& connection) {
  size_t count = 0;
  for (; count < connection.sealed.size() && !after(connection.sealed[count].end, flow.snd_una);
       ++count)
    tls_core_.sealed.release(connection.sealed[count].buffer, context.now);
  connection.sealed.erase(connection.sealed.begin(),
                          connection.sealed.begin() + static_cast<ptrdiff_t>(count));
}

/// Encrypts what is queued, as far as so much may be on its way.
void Endpoint::encrypt(Context& context, Flow& flow, TlsConnection& connection) {
  if (!connection.established || connection.finished) return;
  const uint32_t most = context.class_of(flow).tunables->transmit_buffer;
  while (!connection.pending.empty() &&
         tcp::unacknowledged(flow) + tls_core_.output.size() < most) {
    TlsConnection::Pending& next = connection.pending.front();
    const Buffer& buffer = profile_[next.buffer];
    const uint32_t length = std::min(buffer.size() - next.offset, TlsCore::kRecord);
    if (!has_room(flow, tls_core_.output.size() + length + kOverhead)) {
      ++counts_.lacked_memory;
      break;
    }
    if (length != 0) write(connection, {buffer.at(next.offset, length), length});
    // In a segment of its own its receiver need not put it together.
    if (fits_record(flow)) send_output(context, flow, connection);
    next.offset += length;
    if (next.offset == buffer.size()) connection.pending.erase(connection.pending.begin());
  }
  send_output(context, flow, connection);
  if (connection.closing && connection.pending.empty()) finish(context, flow, connection);
}

void Endpoint::finish(Context& context, Flow& flow, TlsConnection& connection) {
  connection.finished = true;
  if (connection.protection.suite != Suite::none) {
    send_alert(connection, SSL_AD_CLOSE_NOTIFY);
  } else {
    ERR_clear_error();
    SSL_shutdown(connection.ssl);
    SSL_free_buffers(connection.ssl);
  }
  send_output(context, flow, connection);
  tcp::finish(flow);
}

/// Queues what the library wrote.
void Endpoint::send_output(Context& context, Flow& flow, TlsConnection& connection) {
  if (tls_core_.output.empty()) return;
  FlowClass& template_side = context.class_of(flow);
  const uint32_t most = fill_of(flow);
  std::span<const uint8_t> left{tls_core_.output};
  while (!left.empty()) {
    const auto part = left.first(std::min<size_t>(left.size(), most));
    const uint32_t number = tls_core_.sealed.keep(part, context.now);
    tcp::append(context, template_side, flow, number);
    connection.sealed.push_back({number, flow.snd_end});
    left = left.subspan(part.size());
  }
  tls_core_.output.clear();
}

}  // namespace engine::tls
