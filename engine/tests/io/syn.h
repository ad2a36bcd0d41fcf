#pragma once
// A first segment for tests, and how a test sends it.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "io/port.h"
#include "net/rx_segment.h"

namespace engine {

/// A SYN to port 1 of `two_ports`, from a client to a server of `small_http`, with checksums.
inline std::vector<uint8_t> syn(uint16_t source_port, size_t payload = 0) {
  constexpr size_t kTcp = kEthernetLength + kIpv4Length;
  std::vector<uint8_t> bytes(kTcp + tcp::kFixedHeader + payload, 'x');
  std::fill_n(bytes.begin(), kTcp + tcp::kFixedHeader, uint8_t{0});
  const MacAddress mac = local_mac(1);
  std::ranges::copy(mac, bytes.begin());
  bytes[6] = 0x02;
  store_be<uint16_t>(&bytes[12], 0x0800);
  uint8_t* const ip = &bytes[kEthernetLength];
  ip[0] = 0x45;
  store_be<uint16_t>(ip + 2, static_cast<uint16_t>(bytes.size() - kEthernetLength));
  ip[8] = 64;
  ip[9] = kProtocolTcp;
  store_be<uint32_t>(ip + 12, 0x1000'0001);
  store_be<uint32_t>(ip + 16, 0x3000'0001);
  uint8_t* const header = &bytes[kTcp];
  store_be<uint16_t>(header, source_port);
  store_be<uint16_t>(header + 2, 80);
  store_be<uint32_t>(header + 4, 7);
  header[12] = tcp::kFixedHeader << 2;
  header[13] = tcp::kSyn;
  // Its low bit is not the port's: who exchanges the two leaves the checksum right.
  store_be<uint16_t>(header + 14, static_cast<uint16_t>(60000 | (~source_port & 1)));
  Frame frame;
  frame.head = bytes.data();
  frame.head_length = static_cast<uint16_t>(bytes.size());
  frame.checksums = Checksums::partial;
  complete_checksums(frame);
  return bytes;
}

inline void send(PortQueue& queue, const std::vector<uint8_t>& bytes) {
  Frame* const frame = queue.transmit().next();
  ASSERT_NE(frame, nullptr);
  std::ranges::copy(bytes, frame->head);
  frame->head_length = static_cast<uint16_t>(bytes.size());
  queue.transmit().commit();
  queue.transmit().flush();
}

}  // namespace engine
