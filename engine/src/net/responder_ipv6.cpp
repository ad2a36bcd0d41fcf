// What a port says over IPv6: neighbour discovery and echo for its addresses.

#include <algorithm>

#include "net/ethernet.h"
#include "net/icmpv6.h"
#include "net/responder.h"

namespace engine {

bool PortResponder::owns(const IpAddress& address) const {
  return address_.ipv6 && (address == link_local(address_.mac) || address == address_.ipv6_address);
}

bool PortResponder::receive_ipv6(const Frame& frame, size_t offset, Nanoseconds now) {
  const std::span packet(frame.head + offset, frame.head_length - offset);
  const auto message = read_neighbour_message(packet);
  if (!message) return answer_echo6(frame, packet);

  // The gateway is believed whatever it says of itself, as RFC 826 does, so it may move.
  const IpAddress& who = message->advertisement ? message->target : message->source;
  if (who == address_.ipv6_gateway && message->link_address && asks_over_ipv6())
    resolve(*message->link_address, now);
  if (message->advertisement || !owns(message->target)) return true;

  // One that tries the address out has none yet: it hears what is for all (RFC 4861, 7.2.4).
  const bool nameless = message->source == IpAddress{};
  send_neighbour({.advertisement = true,
                  .solicited = !nameless,
                  .source = message->target,
                  .destination = nameless ? kAllNodes : message->source,
                  .target = message->target,
                  .link_address = address_.mac},
                 nameless ? multicast_mac(kAllNodes) : header_back(frame).destination);
  return true;
}

bool PortResponder::answer_echo6(const Frame& frame, std::span<const uint8_t> packet) {
  const auto request = read_echo_request(packet);
  if (!request || request->message.size() > kLongestEcho) return false;
  const bool for_all = request->destination == kAllNodes;
  if (!for_all && !owns(request->destination)) return false;

  Frame* answer = transmit_.next();
  if (answer == nullptr) return false;
  const std::span data = keep_echo(request->message.subspan(kEcho6Length));
  uint8_t* const ip =
      answer->head + write_ethernet(answer->head, header_back(frame), kEtherTypeIpv6);
  uint8_t* const end =
      ip + write_echo_reply(ip, *request, for_all ? link_local(address_.mac) : request->destination,
                            data);
  send_echo(*answer, end, data);
  return true;
}

void PortResponder::solicit_gateway() {
  const IpAddress to = solicited_node(*address_.ipv6_gateway);
  send_neighbour({.source = address_.ipv6_address.value_or(link_local(address_.mac)),
                  .destination = to,
                  .target = *address_.ipv6_gateway,
                  .link_address = address_.mac},
                 multicast_mac(to));
}

/// Unsolicited: RFC 4861 section 7.2.6.
void PortResponder::advertise(const IpAddress& address) {
  send_neighbour({.advertisement = true,
                  .source = address,
                  .destination = kAllNodes,
                  .target = address,
                  .link_address = address_.mac},
                 multicast_mac(kAllNodes));
}

void PortResponder::send_neighbour(const NeighbourMessage& message, const MacAddress& to) {
  Frame* frame = transmit_.next();
  if (frame == nullptr) return;
  const L2Header l2{to, address_.mac, address_.tags};
  uint8_t* const ip = frame->head + write_ethernet(frame->head, l2, kEtherTypeIpv6);
  frame->head_length =
      static_cast<uint16_t>(ip + write_neighbour_message(ip, message) - frame->head);
  transmit_.commit();
}

}  // namespace engine
