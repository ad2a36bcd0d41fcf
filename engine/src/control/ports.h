#pragma once
// Ports as the control plane sees them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "impairment/impairment.h"
#include "net/responder.h"
#include "net/tunnel_end.h"
#include "stats/drops.h"
#include "stats/path_mtu.h"

namespace engine {

struct PortInfo {
  std::string driver;  ///< DPDK driver name; "net_dummy", "wire" for ours
  std::string description;
  std::string pci_address;  ///< or "N/A"
  int numa = -1;
  bool is_virtual = true;
  bool is_dummy = false;
  uint32_t speed_mbps = 0;      ///< 0: unknown
  std::vector<uint32_t> cores;  ///< data cores that serve it
  /// Why its frames reach their data core over rings in memory; empty: each arrives where it
  /// belongs.
  std::string over_rings;
};

struct PortState {
  PortAddress address;
  bool resolved = false;
  MacAddress destination{};
  bool link_up = false;
  bool promiscuous = false;
  std::optional<int> flow_control;  ///< mode (Port::set_flow_control); nullopt: the device has none
};

/// Frames and bytes (without FCS) since start.
struct PortCounters {
  uint64_t opackets = 0, obytes = 0, ipackets = 0, ibytes = 0;
  uint64_t oerrors = 0;  ///< frames the device did not take
  uint64_t ierrors = 0;  ///< frames the device lost or could not deliver
  /// Received frames whose VLAN tag the device took out without telling its type: 802.1Q's is
  /// assumed.
  uint64_t assumed_tags = 0;

  /// Of another of the port's queues.
  PortCounters& operator+=(const PortCounters& other) {
    opackets += other.opackets;
    obytes += other.obytes;
    ipackets += other.ipackets;
    ibytes += other.ibytes;
    oerrors += other.oerrors;
    ierrors += other.ierrors;
    assumed_tags += other.assumed_tags;
    return *this;
  }
};

/// Which way frames go, seen from a port.
enum class Direction : uint8_t { transmit, receive };
inline constexpr size_t kDirections = 2;

/// What one direction of a port is to suffer, and did since the engine started, on all its cores.
struct PortImpairment {
  uint32_t port = 0;
  Direction direction = Direction::transmit;
  ImpairmentSettings settings;
  ImpairmentCounts counts;
};

/// What one port gave up on one data core, and what routers said was too long, since start.
struct PortDrops {
  uint32_t port = 0;
  uint32_t core = 0;
  Drops drops;
  PathMtuCounts path_mtu;
};

class Ports {
 public:
  virtual ~Ports() = default;

  virtual const std::vector<PortInfo>& infos() const = 0;
  virtual PortState state(uint32_t port) const = 0;
  virtual PortCounters counters(uint32_t port) const = 0;
  /// Replaces a port's addresses (set_l2, set_l3, set_vlan).
  virtual void configure(uint32_t port, const PortAddress& address) = 0;
  virtual void set_promiscuous(uint32_t port, bool enabled) = 0;
  /// False: the device cannot.
  virtual bool set_link(uint32_t port, bool up) = 0;
  virtual bool set_flow_control(uint32_t port, int mode) = 0;
  /// The device's own statistics by name.
  virtual std::vector<std::pair<std::string, uint64_t>> extended_statistics(
      uint32_t port) const = 0;
  /// Impairs the frames of one direction of a port from now on, each core's in its own order of
  /// chance; what is on its way arrives as it was to.
  virtual void impair(uint32_t port, Direction direction, const ImpairmentSettings& settings) = 0;
  /// Of every port both directions.
  virtual std::vector<PortImpairment> impairments() const = 0;
  /// Gives the client ports tunnels, without any yet, or takes them away; with `loopback` the
  /// server ports, too (TunnelEnd). Not while a profile runs: segments have to be short enough.
  virtual void set_tunnels(bool active, bool loopback) = 0;
  /// The tunnels of clients from now on.
  virtual void update_tunnels(const std::shared_ptr<const Tunnels>& tunnels) = 0;
  /// Why ports cannot have tunnels; empty: they can.
  virtual std::string no_tunnels(bool loopback) const = 0;
  /// Of every data core both its ports.
  virtual std::vector<PortDrops> drops() const = 0;
  /// What the port's device lost by its own account: frames that it received (ierrors), and frames
  /// that it took and did not send (oerrors; opackets has them).
  virtual PortCounters device_losses(uint32_t port) const = 0;
};

}  // namespace engine
