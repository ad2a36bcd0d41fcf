#pragma once
// Capture filters in the language of tcpdump (pcap-filter(7)).

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace engine {

/// A compiled filter over Ethernet frames. Any thread may match with it.
class PacketFilter {
 public:
  /// nullopt when `text` is no filter. Empty text matches every frame. Not for two threads at once:
  /// libpcap's parser is not made for that.
  static std::optional<PacketFilter> compile(const std::string& text);

  /// `bytes`: the frame from its Ethernet header on, in one piece.
  bool matches(std::span<const uint8_t> bytes) const;

 private:
  struct Program;
  std::shared_ptr<const Program> program_;
};

}  // namespace engine
