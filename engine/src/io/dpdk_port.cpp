#include "io/dpdk_port.h"

#include <fmt/format.h>
#include <rte_bus_pci.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "control/config.h"
#include "io/dpdk_queue.h"
#include "io/eal.h"
#include "io/linux_interface.h"
#include "io/packet_socket.h"
#include "net/steering.h"

namespace engine {
namespace {

constexpr uint16_t kDescriptors = 2048;
/// Buffers of one queue: both rings full, as many again on their way through a kernel (AF_XDP's
/// fill and completion rings), what waits for room in them, what the core holds, and what the
/// thread's cache holds.
constexpr uint32_t kPoolCache = 256;
constexpr uint32_t kBuffers =
    4 * kDescriptors + DpdkQueue::kWaiting + 2 * TransmitQueue::kBurst + 2 * kPoolCache;

/// Buffers of one queue that only refer to payload: one for each frame in the device's ring and for
/// each that waits. Without one, payload is copied.
constexpr uint32_t kReferences =
    kDescriptors + DpdkQueue::kWaiting + 2 * TransmitQueue::kBurst + 2 * kPoolCache;

constexpr uint64_t kChecksumOffloads =
    RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM;
constexpr uint64_t kCutOffloads = RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_MULTI_SEGS;

constexpr std::string_view kAfXdp = "net_af_xdp";
constexpr std::string_view kAfPacket = "net_af_packet";

/// Received checksums that a device says nothing of. Linux hands frames from one of its interfaces
/// to the next with what their sender left to a device, and AF_XDP, packet sockets and libpcap as
/// these drivers use them do not tell.
Checksums checksums_behind(std::string_view driver) {
  constexpr std::array<std::string_view, 3> kBehindLinux{kAfXdp, kAfPacket, "net_pcap"};
  return std::ranges::find(kBehindLinux, driver) != kBehindLinux.end() ? Checksums::either
                                                                       : Checksums::in_frame;
}

using RssKey = std::array<uint8_t, 64>;

RssKey symmetric_key() {
  RssKey key;
  for (size_t i = 0; i < key.size(); i += 2) store_be<uint16_t>(key.data() + i, kSymmetricKey);
  return key;
}

/// A queue's packet memory. What was freed last is used next: all of a pool's buffers, each in its
/// turn, would leave the caches before they came again. AF_XDP (`one_range`) registers with the
/// kernel as many bytes as the buffers take one behind another, so no gap may lie between them:
/// they may cross pages, which DPDK forbids for devices that read by physical address. Returns
/// nullptr with rte_errno set: there is no such memory.
rte_mempool* make_pool(const std::string& name, bool one_range) {
  if (!one_range)
    return rte_pktmbuf_pool_create_by_ops(name.c_str(), kBuffers, kPoolCache, 0,
                                          RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY, "stack");
  rte_mempool* const pool = rte_mempool_create_empty(
      name.c_str(), kBuffers, sizeof(rte_mbuf) + RTE_MBUF_DEFAULT_BUF_SIZE, kPoolCache,
      sizeof(rte_pktmbuf_pool_private), SOCKET_ID_ANY, RTE_MEMPOOL_F_NO_IOVA_CONTIG);
  if (pool == nullptr) return nullptr;
  int result = rte_mempool_set_ops_byname(pool, "stack", nullptr);
  if (result == 0) {
    rte_pktmbuf_pool_init(pool, nullptr);
    result = rte_mempool_populate_default(pool);
  }
  if (result >= 0 && pool->nb_mem_chunks != 1) result = -ENOMEM;
  if (result < 0) {
    rte_mempool_free(pool);
    rte_errno = -result;
    return nullptr;
  }
  rte_mempool_obj_iter(pool, rte_pktmbuf_init, nullptr);
  return pool;
}

class DpdkPort final : public Port {
 public:
  /// `interface`: Linux's name of what the device is, "": it has none.
  DpdkPort(const std::string& device, uint32_t cores, const std::string& interface);
  ~DpdkPort() override;

  bool link_up() const override;
  uint32_t mtu() const override;
  void set_promiscuous(bool enabled) override;
  bool receive_for(const MacAddress& mac) override;
  std::vector<std::pair<std::string, uint64_t>> extended_statistics() const override;
  PortCounters losses() const override;
  bool set_link(bool up) override;
  bool set_flow_control(int mode) override;
  std::optional<int> flow_control() const override;
  bool refers_to_payload() const override { return pools_.front().references != nullptr; }

 private:
  void describe();
  void configure(uint32_t cores);
  /// Has the device's table name the cores as Steering does, and reads back what it does. Returns
  /// why frames reach their core over rings; empty: they need not.
  std::string spread(uint32_t cores);
  void check(int result, const char* what) const;

  std::string device_;
  std::optional<LinuxInterface> interface_;
  uint16_t id_ = 0;
  rte_eth_dev_info device_info_{};
  DeviceOffloads offloads_;
  std::vector<PacketPools> pools_;  ///< of each queue
  std::vector<int> xdp_sockets_;    ///< of an AF_XDP device
};

void DpdkPort::check(int result, const char* what) const {
  if (result < 0)
    throw ConfigError(fmt::format("{}: {}: {}", device_, what, rte_strerror(-result)));
}

DpdkPort::DpdkPort(const std::string& device, uint32_t cores, const std::string& interface)
    : device_(device) {
  if (!interface.empty()) interface_.emplace(interface);
  if (rte_eth_dev_get_port_by_name(device.c_str(), &id_) != 0)
    throw ConfigError(fmt::format(
        "{}: DPDK finds no such device; a NIC must be bound to a driver for DPDK (dpdk-devbind.py "
        "--status shows which are)",
        device));
  check(rte_eth_dev_info_get(id_, &device_info_), "asking the device");
  if (cores > std::min(device_info_.max_rx_queues, device_info_.max_tx_queues))
    throw ConfigError(fmt::format("device {} has {} queue(s), -c {} needs {}", device,
                                  std::min(device_info_.max_rx_queues, device_info_.max_tx_queues),
                                  cores, cores));
  describe();
  const std::vector<int> others = xdp_sockets();
  configure(cores);
  if (info_.driver == kAfXdp)
    std::ranges::set_difference(xdp_sockets(), others, std::back_inserter(xdp_sockets_));
}

DpdkPort::~DpdkPort() {
  const CapturedErrors quiet;
  queues_.clear();
  rte_eth_dev_stop(id_);
  rte_eth_dev_close(id_);
  for (const PacketPools& pools : pools_) {
    rte_mempool_free(pools.whole);
    rte_mempool_free(pools.references);
  }
}

void DpdkPort::describe() {
  info_.driver = device_info_.driver_name;
  info_.description = device_;
  info_.is_virtual = device_.find(':') == std::string::npos;
  info_.pci_address = info_.is_virtual ? "N/A" : device_;
  info_.numa = rte_eth_dev_socket_id(id_);
  rte_ether_addr address{};
  check(rte_eth_macaddr_get(id_, &address), "reading the MAC address");
  std::copy_n(address.addr_bytes, mac_.size(), mac_.begin());
}

void DpdkPort::configure(uint32_t cores) {
  rte_eth_conf configuration{};
  const uint64_t offered = device_info_.tx_offload_capa;
  if ((offered & kChecksumOffloads) == kChecksumOffloads) {
    offloads_.checksum = true;
    configuration.txmode.offloads |= kChecksumOffloads;
    if ((offered & kCutOffloads) == kCutOffloads) {
      offloads_.max_payload = kUncutPayload;
      configuration.txmode.offloads |= kCutOffloads;
    }
  }
  uint16_t buffers = 1;
  if (offered & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) {
    configuration.txmode.offloads |= RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
    const uint16_t most = device_info_.tx_desc_lim.nb_seg_max;
    buffers = most == 0 ? UINT16_MAX : most;  // 0: the driver names no limit
  }
  configuration.rxmode.offloads = device_info_.rx_offload_capa & RTE_ETH_RX_OFFLOAD_CHECKSUM;
  // It is handed tags beside the frame. Told to strip them it says which frames had one; else it
  // puts each back as 802.1Q's and says nothing.
  if (info_.driver == kAfPacket)
    configuration.rxmode.offloads |= device_info_.rx_offload_capa & RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
  RssKey key = symmetric_key();
  if (cores > 1) {
    configuration.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
    rte_eth_rss_conf& rss = configuration.rx_adv_conf.rss_conf;
    rss.rss_key = key.data();
    rss.rss_key_len = device_info_.hash_key_size;
    rss.rss_hf =
        device_info_.flow_type_rss_offloads & (RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP);
  }
  const auto queues = static_cast<uint16_t>(cores);
  check(rte_eth_dev_configure(id_, queues, queues, &configuration), "configuring");
  uint16_t receive = kDescriptors;
  uint16_t transmit = kDescriptors;
  check(rte_eth_dev_adjust_nb_rx_tx_desc(id_, &receive, &transmit), "sizing its rings");
  for (uint16_t queue = 0; queue < queues; ++queue) {
    const std::string name = fmt::format("port{}-{}", id_, queue);
    PacketPools& pools = pools_.emplace_back();
    pools.whole = make_pool(name, info_.driver == kAfXdp);
    if (pools.whole == nullptr) check(-rte_errno, "getting packet memory");
    if (buffers > 1) {
      pools.references = rte_pktmbuf_pool_create_by_ops((name + "-references").c_str(), kReferences,
                                                        kPoolCache, 0, 0, SOCKET_ID_ANY, "stack");
      if (pools.references == nullptr) check(-rte_errno, "getting packet memory");
    }
    check(rte_eth_rx_queue_setup(id_, queue, receive, SOCKET_ID_ANY, nullptr, pools.whole),
          "opening a receive queue");
    check(rte_eth_tx_queue_setup(id_, queue, transmit, SOCKET_ID_ANY, nullptr),
          "opening a transmit queue");
  }
  check(rte_eth_dev_start(id_), "starting");
  // IPv6 neighbour solicitations go to group addresses (RFC 4861). Devices that do not filter them
  // have no such switch.
  rte_eth_allmulticast_enable(id_);
  for (uint16_t queue = 0; queue < queues; ++queue)
    queues_.push_back(std::make_unique<DpdkQueue>(id_, queue, pools_[queue], offloads_, buffers,
                                                  checksums_behind(info_.driver)));

  if (cores > 1) info_.over_rings = spread(cores);
  rte_eth_link link{};
  if (rte_eth_link_get_nowait(id_, &link) == 0 && link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN)
    info_.speed_mbps = link.link_speed;
}

std::string DpdkPort::spread(uint32_t cores) {
  RssKey key{};
  rte_eth_rss_conf read{};
  read.rss_key = key.data();
  read.rss_key_len = static_cast<uint8_t>(key.size());
  if (rte_eth_dev_rss_hash_conf_get(id_, &read) != 0) return "the device has no RSS";
  const size_t length = std::min<size_t>(device_info_.hash_key_size, key.size());
  const RssKey wanted = symmetric_key();
  if (length == 0 || !std::equal(key.begin(), key.begin() + length, wanted.begin()))
    return "the device's RSS has a key of its own";
  if ((read.rss_hf & RTE_ETH_RSS_NONFRAG_IPV4_TCP) == 0)
    return "the device's RSS leaves the ports of TCP out";
  const uint16_t size = device_info_.reta_size;
  if (size < Steering::kEntries || size > RTE_ETH_RSS_RETA_SIZE_512)
    return fmt::format("the device's RSS table has {} entries, not {} or more", size,
                       Steering::kEntries);
  std::vector<rte_eth_rss_reta_entry64> table(size / RTE_ETH_RETA_GROUP_SIZE);
  const auto entry = [&table](uint32_t i) -> uint16_t& {
    return table[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE];
  };
  for (auto& group : table) group.mask = UINT64_MAX;
  const auto core = [cores](uint32_t i) {
    return Steering::core_in(i % Steering::kEntries, cores);
  };
  for (uint32_t i = 0; i < size; ++i) entry(i) = static_cast<uint16_t>(core(i));
  if (rte_eth_dev_rss_reta_update(id_, table.data(), size) != 0)
    return "the device's RSS table cannot be set";
  for (uint32_t i = 0; i < size; ++i) entry(i) = UINT16_MAX;
  if (rte_eth_dev_rss_reta_query(id_, table.data(), size) != 0)
    return "the device's RSS table cannot be read";
  for (uint32_t i = 0; i < size; ++i)
    if (entry(i) != core(i)) return "the device's RSS table is not as it was set";
  return "";
}

bool DpdkPort::link_up() const {
  rte_eth_link link{};
  return rte_eth_link_get_nowait(id_, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

// An interface of Linux has its own, of which AF_XDP's driver says nothing.
uint32_t DpdkPort::mtu() const {
  if (interface_) return interface_->mtu();
  uint16_t mtu = 0;
  return rte_eth_dev_get_mtu(id_, &mtu) == 0 ? mtu : 0;
}

void DpdkPort::set_promiscuous(bool enabled) {
  // Devices that cannot (rings, memory interfaces) deliver everything anyway.
  enabled ? rte_eth_promiscuous_enable(id_) : rte_eth_promiscuous_disable(id_);
}

bool DpdkPort::receive_for(const MacAddress& mac) {
  rte_ether_addr address{};
  std::copy(mac.begin(), mac.end(), address.addr_bytes);
  return rte_eth_dev_default_mac_addr_set(id_, &address) == 0 ||
         rte_eth_dev_mac_addr_add(id_, &address, 0) == 0;
}

std::vector<std::pair<std::string, uint64_t>> DpdkPort::extended_statistics() const {
  const int count = rte_eth_xstats_get(id_, nullptr, 0);
  if (count <= 0) return {};
  std::vector<rte_eth_xstat> values(static_cast<size_t>(count));
  std::vector<rte_eth_xstat_name> names(values.size());
  const auto size = static_cast<unsigned>(count);
  if (rte_eth_xstats_get(id_, values.data(), size) != count ||
      rte_eth_xstats_get_names(id_, names.data(), size) != count)
    return {};
  std::vector<std::pair<std::string, uint64_t>> all;
  for (const rte_eth_xstat& value : values) all.emplace_back(names.at(value.id).name, value.value);
  uint64_t in_use = 0;
  for (const PacketPools& pools : pools_) in_use += rte_mempool_in_use_count(pools.whole);
  all.emplace_back("packet_buffers_in_use", in_use);
  return all;
}

bool DpdkPort::set_link(bool up) {
  return (up ? rte_eth_dev_set_link_up(id_) : rte_eth_dev_set_link_down(id_)) == 0;
}

constexpr std::array kFlowControlModes{RTE_ETH_FC_NONE, RTE_ETH_FC_RX_PAUSE, RTE_ETH_FC_TX_PAUSE,
                                       RTE_ETH_FC_FULL};

bool DpdkPort::set_flow_control(int mode) {
  rte_eth_fc_conf settings{};
  if (rte_eth_dev_flow_ctrl_get(id_, &settings) != 0) return false;
  settings.mode = kFlowControlModes.at(static_cast<size_t>(mode));
  return rte_eth_dev_flow_ctrl_set(id_, &settings) == 0;
}

std::optional<int> DpdkPort::flow_control() const {
  rte_eth_fc_conf settings{};
  if (rte_eth_dev_flow_ctrl_get(id_, &settings) != 0) return std::nullopt;
  const auto found = std::ranges::find(kFlowControlModes, settings.mode);
  return static_cast<int>(found - kFlowControlModes.begin());
}

PortCounters DpdkPort::losses() const {
  PortCounters counters;
  rte_eth_stats stats{};
  if (rte_eth_stats_get(id_, &stats) == 0) {
    counters.ierrors = stats.imissed + stats.ierrors + stats.rx_nombuf;
    // Frames that it took and dropped. Other drivers count here what they did not take, too.
    if (info_.driver == kAfPacket) counters.oerrors = stats.oerrors;
  }
  counters.oerrors += refused_frames(xdp_sockets_);
  return counters;
}

std::unique_ptr<Port> open_virtual(const std::string& name, const std::string& arguments,
                                   uint32_t cores, const std::string& interface) {
  const int result = rte_eal_hotplug_add("vdev", name.c_str(), arguments.c_str());
  if (result < 0)
    throw ConfigError(fmt::format("{},{}: {}", name, arguments, rte_strerror(-result)));
  try {
    return std::make_unique<DpdkPort>(name, cores, interface);
  } catch (...) {
    rte_eal_hotplug_remove("vdev", name.c_str());
    throw;
  }
}

/// Calls `open`; adds to what it throws what the libraries below said.
template <typename Open>
std::unique_ptr<Port> open_quietly(Open open) {
  const CapturedErrors errors;
  try {
    return open();
  } catch (const ConfigError& error) {
    const std::string said = errors.text();
    throw ConfigError(fmt::format("{}{}{}", error.what(), said.empty() ? "" : ": " + said,
                                  geteuid() == 0 ? "" : "; opening devices takes root"));
  }
}

/// Without it AF_XDP enters the kernel at every poll that finds nothing, for its busy polling. That
/// is lost on a veth: since Linux 6.13 a NAPI instance gets its id after veth has noted it, so the
/// kernel finds nothing to poll. There, threaded NAPI does the receive work on a CPU of one's
/// choice.
constexpr const char* kNoBusyPoll = "busy_budget=0";

std::unique_ptr<Port> open_interface(const std::string& interface, uint32_t port, uint32_t cores,
                                     std::vector<std::string>& notices) {
  LinuxInterface{interface};  // up
  std::string reason;
  try {
    return open_quietly([&] {
      return open_virtual(
          fmt::format("net_af_xdp{}", port),
          fmt::format("iface={},start_queue=0,queue_count={},{}", interface, cores, kNoBusyPoll),
          cores, interface);
    });
  } catch (const ConfigError& error) {
    reason = error.what();
  }
  auto opened = open_packet_socket_port(interface, cores);
  notices.push_back(
      fmt::format("{}: on a packet socket, because AF_XDP does not attach: {}", interface, reason));
  return opened;
}

}  // namespace

uint32_t packet_memory_mb(uint32_t cores) {
  constexpr uint64_t kBeside = 192;  // of each object: DPDK's header, gaps
  constexpr uint64_t kBytes = kBuffers * (sizeof(rte_mbuf) + RTE_MBUF_DEFAULT_BUF_SIZE + kBeside) +
                              kReferences * (sizeof(rte_mbuf) + kBeside);
  return static_cast<uint32_t>((cores * kBytes >> 20) + 1);
}

std::unique_ptr<Port> open_dpdk_port(const DeviceName& device, uint32_t port, uint32_t cores,
                                     std::vector<std::string>& notices) {
  if (device.kind == DeviceKind::interface)
    return open_interface(device.name, port, cores, notices);
  return open_quietly([&]() -> std::unique_ptr<Port> {
    if (device.kind == DeviceKind::virtual_device)
      return open_virtual(device.name, device.arguments, cores, "");
    return std::make_unique<DpdkPort>(device.name, cores, "");
  });
}

}  // namespace engine
