#include "capture/packet_filter.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <resolv.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <vector>

namespace engine {
namespace {

/// A UDP datagram from port 12345 to 53 with the payload 0x12345678, tagged unless `vlan` is 0.
std::vector<uint8_t> datagram(uint8_t vlan) {
  std::vector<uint8_t> frame = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0};
  if (vlan != 0)
    for (const uint8_t byte : {uint8_t{0x81}, uint8_t{0}, uint8_t{0}, vlan}) frame.push_back(byte);
  constexpr std::array<uint8_t, 34> kPacket = {
      0x08, 0x00, 0x45, 0, 0, 32,   0,    0, 0x40, 0, 64, 17, 0, 0,    16,   0,    0,
      1,    48,   0,    0, 1, 0x30, 0x39, 0, 53,   0, 12, 0,  0, 0x12, 0x34, 0x56, 0x78};
  frame.insert(frame.end(), kPacket.begin(), kPacket.end());
  return frame;
}

bool matches(const std::string& filter, const std::vector<uint8_t>& frame) {
  const auto compiled = PacketFilter::compile(filter);
  return compiled.has_value() && compiled->matches(frame);
}

TEST(PacketFilter, MatchesAsTcpdumpDoes) {
  const std::vector<uint8_t> plain = datagram(0);
  EXPECT_TRUE(matches("", plain));
  EXPECT_TRUE(matches("udp[8:4] = 0x12345678", plain));
  EXPECT_FALSE(matches("udp[8:4] = 0x12345679", plain));
  EXPECT_TRUE(matches("ip src 16.0.0.1 and udp dst port 53", plain));
  EXPECT_FALSE(matches("tcp or arp", plain));
  EXPECT_TRUE(matches("ether src 02:00:00:00:00:00", plain));
}

TEST(PacketFilter, TagsAreMatchedWhereTheFilterNamesThem) {
  const std::vector<uint8_t> tagged = datagram(30);
  EXPECT_FALSE(matches("udp", tagged));
  EXPECT_TRUE(matches("vlan 30 and udp[8:4] = 0x12345678", tagged));
  EXPECT_FALSE(matches("vlan 31 and udp", tagged));
  EXPECT_TRUE(matches("udp or (vlan and udp)", tagged));
}

TEST(PacketFilter, NonsenseIsNoFilter) {
  EXPECT_FALSE(PacketFilter::compile("this is no filter").has_value());
  EXPECT_FALSE(PacketFilter::compile("udp[").has_value());
}

TEST(PacketFilter, AsksNoNameServerForANameInAFilter) {
  const int server = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(bind(server, reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(getsockname(server, reinterpret_cast<sockaddr*>(&address), &length), 0);
  ASSERT_EQ(res_init(), 0);
  _res.nscount = 1;
  _res.nsaddr_list[0] = address;
  _res.retrans = _res.retry = 1;
  _res.options |= RES_NORELOAD;

  EXPECT_FALSE(PacketFilter::compile("host a-name-of-nobody.example").has_value());
  EXPECT_TRUE(PacketFilter::compile("host localhost").has_value());
  char question[512];
  EXPECT_EQ(recv(server, question, sizeof question, 0), -1);
  close(server);
}

}  // namespace
}  // namespace engine
