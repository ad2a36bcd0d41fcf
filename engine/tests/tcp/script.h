#pragma once
// Packet scripts: one real stack, and a test that plays its peer segment by segment.

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "netsim/netsim.h"
#include "stats/pool_status.h"
#include "tcp/info.h"

namespace engine::tcp {

inline constexpr uint8_t kPshAck = kPsh | kAck;
inline constexpr uint8_t kFinAck = kFin | kAck;

/// A segment the test sends; sequence numbers are relative to the peer's and the stack's first
/// ones.
struct Out {
  uint8_t flags = kAck;
  uint32_t seq = 1;  ///< relative: 0 is the SYN
  uint32_t ack = 1;
  uint32_t length = 0;
  uint16_t window = 65535;
  std::vector<uint8_t> options = {};
  uint8_t code_point = 0;  ///< ECN bits of the IP header
};

/// Options of a SYN: MSS alone, or with window scale, SACK-permitted and timestamps.
std::vector<uint8_t> mss_option(uint16_t mss);
std::vector<uint8_t> scale_option(uint8_t scale);
std::vector<uint8_t> sack_permitted_option();
std::vector<uint8_t> timestamps_option(uint32_t value, uint32_t echo);
std::vector<uint8_t> sack_option(std::vector<SequenceRange> ranges);
std::vector<uint8_t> operator+(std::vector<uint8_t> a, const std::vector<uint8_t>& b);

/// One data core in the role of client or server; the test is the peer of its single flow.
class Script {
 public:
  Script(Side role, const netsim::HttpLike& http);
  ~Script();

  /// Sends a segment to the stack.
  void send(const Out& out);
  /// The next segment the stack sent, seq and ack made relative; fails the test when there is none.
  TestSegment expect(const char* what);
  /// ECN bits of the segment that `expect` returned last.
  uint8_t code_point() const { return code_point_; }
  /// Fails the test when the stack sent anything.
  void expect_nothing(const char* what);
  /// Lets time pass.
  void wait(Nanoseconds duration);

  /// Handshake with the stack as server or client; afterwards both relative numbers are 1.
  void establish(const std::vector<uint8_t>& syn_options = {}, uint16_t window = 65535);

  /// While withheld, the stack finds no buffer for a frame to send.
  void withhold_frames(bool withheld);

  uint64_t count(Counter counter) const;
  uint64_t open_flows() const;
  /// A pool of the stack's memory, by its name.
  PoolStatus pool(const std::string& kind) const;
  /// What the stack tells of the established connection.
  Info info() const;
  /// Absolute number of the stack for a relative one, for SACK blocks.
  uint32_t stack_number(uint32_t relative) const { return stack_isn_ + relative; }
  static constexpr uint32_t kPeerIsn = 0xffff'fff0;  ///< near the wrap, on purpose

 private:
  struct End;
  std::unique_ptr<End> end_;
  ProfileRun* run_ = nullptr;
  Side role_;
  uint32_t stack_isn_ = 0;
  bool known_ = false;
  uint8_t code_point_ = 0;
  uint16_t stack_port_ = 0;
  IpAddress stack_address_;
  IpAddress peer_address_;
  Nanoseconds now_ = 0;
};

}  // namespace engine::tcp
