#include "netsim/tls_peer.h"

#include <algorithm>
#include <array>

#include "base/byte_order.h"

namespace engine::netsim {

namespace {

constexpr uint32_t kClientAddress = 0x10000001;
constexpr uint32_t kServerAddress = 0x30000001;
constexpr uint16_t kServerPort = 80;
constexpr size_t kEthernet = 14, kIp = 20, kTcp = 20;

}  // namespace

TlsPeer::TlsPeer(Network& network, Side side, SSL_CTX* context)
    : network_(network),
      side_(side),
      context_(context),
      own_port_(side == Side::server ? kServerPort : 20'000),
      other_port_(side == Side::server ? 0 : kServerPort),
      own_address_(side == Side::server ? kServerAddress : kClientAddress),
      other_address_(side == Side::server ? kClientAddress : kServerAddress) {
  SSL_CTX_set_app_data(context, this);
  SSL_CTX_set_info_callback(context, on_alert);
  SSL_CTX_sess_set_new_cb(context, on_ticket);
  network.filter = [this](Seen& seen) {
    if (seen.from == side_) return own_frame_;
    return take(seen);
  };
}

void TlsPeer::on_alert(const SSL* ssl, int where, int value) {
  if ((where & SSL_CB_READ_ALERT) != SSL_CB_READ_ALERT) return;
  if ((value & 0xff) == SSL_AD_CLOSE_NOTIFY) return;
  auto& self = *static_cast<TlsPeer*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
  self.alerts.push_back(value & 0xff);
}

int TlsPeer::on_ticket(SSL* ssl, SSL_SESSION* ticket) {
  static_cast<TlsPeer*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)))->ticket_.reset(ticket);
  return 1;
}

void TlsPeer::begin() {
  ssl_.reset(SSL_new(context_));
  input_ = BIO_new(BIO_s_mem());
  output_ = BIO_new(BIO_s_mem());
  BIO_set_mem_eof_return(input_, -1);
  SSL_set_bio(ssl_.get(), input_, output_);
  side_ == Side::server ? SSL_set_accept_state(ssl_.get()) : SSL_set_connect_state(ssl_.get());
  established = failed = false;
  received.clear();
  next_ = 1000;
}

void TlsPeer::connect() {
  ++own_port_;
  begin();
  expected_ = 0;
  send_segment({}, tcp::kSyn);
}

void TlsPeer::write(const std::string& text) {
  SSL_write(ssl(), text.data(), static_cast<int>(text.size()));
  flush();
}

void TlsPeer::flush() {
  std::vector<uint8_t> bytes(BIO_pending(output_));
  if (bytes.empty()) return;
  BIO_read(output_, bytes.data(), static_cast<int>(bytes.size()));
  change(bytes);
  for (std::span<const uint8_t> left(bytes); !left.empty();) {
    const auto part = left.first(std::min(segment, left.size()));
    send_segment(part, tcp::kAck | tcp::kPsh);
    left = left.subspan(part.size());
  }
}

/// False: as for Network::filter.
bool TlsPeer::take(const Seen& seen) {
  if (seen.kind != PacketKind::tcp) return false;
  const tcp::TestSegment& segment = seen.segment;
  if (segment.is(tcp::kSyn) && side_ == Side::server) {
    other_port_ = seen.packet.source_port();
    other_address_ = seen.packet.source().low32();
    own_address_ = seen.packet.destination().low32();
    begin();
    expected_ = segment.sequence + 1;
    send_segment({}, tcp::kSyn | tcp::kAck);
    return false;
  }
  if (ssl_ == nullptr || seen.packet.destination_port() != own_port_) return false;
  if (segment.is(tcp::kRst)) {
    failed = true;
    return false;
  }
  if (segment.is(tcp::kSyn)) {  // SYN-ACK
    expected_ = segment.sequence + 1;
    send_segment({}, tcp::kAck);
    read();
    return false;
  }
  if (segment.span() == 0 || segment.sequence != expected_) return false;
  expected_ += segment.span();
  const std::span<const uint8_t> payload = seen.packet.payload();
  BIO_write(input_, payload.data(), static_cast<int>(payload.size()));
  send_segment({}, tcp::kAck);
  read();
  return false;
}

void TlsPeer::read() {
  if (failed) return;
  int outcome = 1;
  if (!established) {
    outcome = SSL_do_handshake(ssl());
    established = outcome == 1;
    if (established) act();
  }
  while (outcome > 0) {
    std::array<char, 16384> text;
    outcome = SSL_read(ssl(), text.data(), text.size());
    if (outcome <= 0) break;
    received.append(text.data(), static_cast<size_t>(outcome));
    act();
  }
  const int error = SSL_get_error(ssl(), outcome);
  failed = error != SSL_ERROR_WANT_READ && error != SSL_ERROR_ZERO_RETURN;
  flush();
}

void TlsPeer::send_segment(std::span<const uint8_t> payload, uint8_t flags) {
  std::vector<uint8_t> frame(kEthernet + kIp + kTcp);
  frame[0] = frame[6] = 2;
  frame[5] = static_cast<uint8_t>(2 - index_of(side_));
  frame[11] = static_cast<uint8_t>(1 + index_of(side_));
  store_be<uint16_t>(&frame[12], 0x0800);
  uint8_t* const ip = &frame[kEthernet];
  ip[0] = 0x45;
  store_be<uint16_t>(ip + 2, static_cast<uint16_t>(kIp + kTcp + payload.size()));
  ip[8] = 64;
  ip[9] = 6;
  store_be<uint32_t>(ip + 12, own_address_);
  store_be<uint32_t>(ip + 16, other_address_);
  uint8_t* const tcp = ip + kIp;
  store_be<uint16_t>(tcp, own_port_);
  store_be<uint16_t>(tcp + 2, other_port_);
  store_be<uint32_t>(tcp + 4, next_);
  store_be<uint32_t>(tcp + 8, (flags & tcp::kAck) != 0 ? expected_ : 0);
  tcp[12] = 5 << 4;
  tcp[13] = flags;
  store_be<uint16_t>(tcp + 14, 65535);
  frame.insert(frame.end(), payload.begin(), payload.end());
  next_ += static_cast<uint32_t>(payload.size()) + ((flags & tcp::kSyn) != 0 ? 1 : 0);
  own_frame_ = true;
  network_.inject(side_, std::move(frame));
  own_frame_ = false;
}

}  // namespace engine::netsim
