#pragma once
// Layer-2 headers, kept once however many flows use them.

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

namespace engine {

using MacAddress = std::array<uint8_t, 6>;

/// An Ethernet header up to, not including, the EtherType of the payload (IEEE 802.3, 802.1Q).
struct Path {
  MacAddress destination{};
  MacAddress source{};
  uint16_t vlan = 0;  ///< tag control information as on the wire; 0: untagged
  bool operator==(const Path& other) const { return std::memcmp(this, &other, sizeof other) == 0; }
};

static_assert(std::has_unique_object_representations_v<Path>);

/// The paths of one port on one data core. Index 0 is the port's own path (its MAC, its configured
/// or resolved destination); others are learned from received frames and live as long as the table.
class PathTable {
 public:
  static constexpr uint16_t kPort = 0;

  explicit PathTable(const Path& port) : paths_{port} {}

  /// Replaces the port's own path; flows that use it follow at once.
  void set_port(const Path& port) { paths_[kPort] = port; }
  const Path& operator[](uint16_t index) const { return paths_[index]; }

  /// The index of `path`, added when new. Full (65,535 paths): the port's own.
  uint16_t intern(const Path& path) {
    if (last_ < paths_.size() && paths_[last_] == path) return last_;
    for (size_t i = 1; i < paths_.size(); ++i)
      if (paths_[i] == path) return last_ = static_cast<uint16_t>(i);
    if (paths_.size() > UINT16_MAX) return kPort;
    paths_.push_back(path);
    return last_ = static_cast<uint16_t>(paths_.size() - 1);
  }

 private:
  std::vector<Path> paths_;
  uint16_t last_ = 0;
};

}  // namespace engine
