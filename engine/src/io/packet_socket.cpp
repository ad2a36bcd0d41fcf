#include "io/packet_socket.h"

#include <fmt/format.h>
#include <linux/if_ether.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>

#include "control/config.h"
#include "io/clock.h"
#include "io/linux_interface.h"
#include "net/checksum.h"

namespace engine {

namespace {

/// Frames that may wait: several milliseconds' worth at 100,000 a second.
constexpr uint32_t kSlots = 2048;
/// What the kernel puts before a frame: tpacket2_hdr, sockaddr_ll, OffloadHeader, alignment; and
/// the Ethernet header with a tag.
constexpr uint32_t kSlotOverhead = 128;
/// Longer frames are always coalesced ones.
constexpr uint32_t kLongestMtu = 9216;

/// The longest frame that fits Frame::head_length with a tag, and what is kept free before it.
constexpr size_t kLongestFrame = UINT16_MAX - kVlanTagLength;
constexpr size_t kBeforeFrame = 64;
constexpr size_t kWholeBytes = kBeforeFrame + UINT16_MAX + 1;

/// Memory for frames that are longer than a slot, those of one burst of a fast peer and more.
constexpr int kWholeQueueBytes = 64 << 20;

/// Memory the kernel is asked for in one piece.
constexpr uint32_t kBlockBytes = 1 << 16;

/// How often one whose link is down: a link that came up again is told of as down once more.
constexpr int kLinkAttempts = 2;

/// How often a full device is asked again before frames are dropped (Drop::device_full).
constexpr int kSendAttempts = 64;

/// Why a socket does not send its next frame, by errno of sendmmsg(2): `device_full` may pass,
/// `link_down` concerns all frames alike, `frame_refused` this one, which no device would take on
/// another try (Linux, net/packet/af_packet.c, packet_snd).
Drop reason_of(int error) {
  switch (error) {
    case EAGAIN:
    case ENOBUFS:
    case ENOMEM:
    case EINTR:
      return Drop::device_full;
    case ENETDOWN:
    case ENXIO:
    case ENODEV:
      return Drop::link_down;
    default:
      return Drop::frame_refused;
  }
}

constexpr size_t kTcpChecksum = 16;
constexpr size_t kUdpChecksum = 6;

uint32_t status_of(tpacket2_hdr& slot) {
  return std::atomic_ref(slot.tp_status).load(std::memory_order_acquire);
}

/// Of IPv4 the kernel completes the transport's checksum, not the header's own.
void fill_ip_checksum(uint8_t* ip, size_t length) {
  store_be<uint16_t>(ip + 10, 0);
  store_be<uint16_t>(ip + 10, checksum_finish(checksum_add(0, ip, length)));
}

/// VIRTIO 1.2, section 5.1.6.2.
OffloadHeader request_offloads(const Frame& frame) {
  OffloadHeader offload{};
  if (frame.checksums != Checksums::partial) return offload;
  const HeaderLengths& lengths = frame.headers;
  uint8_t* const ip = frame.head + lengths.ethernet;
  if (lengths.ipv4()) fill_ip_checksum(ip, lengths.ip);
  offload.flags = OffloadHeader::kNeedsChecksum;
  offload.checksum_start = static_cast<uint16_t>(lengths.ethernet + lengths.ip);
  offload.checksum_offset = lengths.tcp() ? kTcpChecksum : kUdpChecksum;
  return offload;
}

}  // namespace

Descriptor::~Descriptor() {
  if (number >= 0) close(number);
}

PacketSocketQueue::PacketSocketQueue(const LinkLayer& link)
    : PortQueue({.checksum = true}), socket_(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)) {
  for (size_t i = 0; i < messages_.size(); ++i) {
    headers_[i].msg_hdr.msg_iov = messages_[i].parts.data();
    messages_[i].parts[0] = {&messages_[i].offload, sizeof(OffloadHeader)};
  }
  check(socket_.number, "opening a packet socket, which takes root");
  open_ring(link);
}

PacketSocketQueue::~PacketSocketQueue() {
  munmap(ring_, kSlots * slot_bytes_);
}

void PacketSocketQueue::check(int result, const char* what) const {
  if (result < 0) throw ConfigError(fmt::format("{}: {}", what, std::strerror(errno)));
}

void PacketSocketQueue::set(int option, int value, const char* what) {
  check(setsockopt(socket_.number, SOL_PACKET, option, &value, sizeof value), what);
}

void PacketSocketQueue::open_ring(const LinkLayer& link) {
  set(PACKET_VERSION, TPACKET_V2, "asking for a ring of version 2");
  set(PACKET_VNET_HDR, 1, "asking for offloads");
  set(PACKET_IGNORE_OUTGOING, 1, "leaving out what is sent");
  set(PACKET_QDISC_BYPASS, 1, "sending past the queueing discipline");
  set(PACKET_AUXDATA, 1, "asking for the tags of long frames");
  // With less memory fewer long frames come whole, which is counted: there is nothing to fail.
  setsockopt(socket_.number, SOL_SOCKET, SO_RCVBUFFORCE, &kWholeQueueBytes,
             sizeof kWholeQueueBytes);

  slot_bytes_ = std::bit_ceil(std::min(link.mtu, kLongestMtu) + kSlotOverhead);
  tpacket_req request{};
  request.tp_frame_size = static_cast<unsigned>(slot_bytes_);
  request.tp_frame_nr = kSlots;
  request.tp_block_size = std::max(request.tp_frame_size, kBlockBytes);
  request.tp_block_nr = static_cast<unsigned>(kSlots * slot_bytes_ / request.tp_block_size);
  check(setsockopt(socket_.number, SOL_PACKET, PACKET_RX_RING, &request, sizeof request),
        "getting memory for a ring");

  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = byteswap(uint16_t{ETH_P_ALL});
  address.sll_ifindex = interface_ = link.interface;
  check(bind(socket_.number, reinterpret_cast<const sockaddr*>(&address), sizeof address),
        "attaching to the interface");
  receive_also(PACKET_ADD_MEMBERSHIP, PACKET_MR_UNICAST, link.mac);
  receive_also(PACKET_ADD_MEMBERSHIP, PACKET_MR_ALLMULTI, {});  // IPv6 neighbour solicitations
  void* const memory = mmap(nullptr, kSlots * slot_bytes_, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_POPULATE, socket_.number, 0);
  check(memory == MAP_FAILED ? -1 : 0, "mapping the ring");
  ring_ = static_cast<uint8_t*>(memory);
}

int PacketSocketQueue::join(int group) {
  int request = PACKET_FANOUT_HASH << 16 | group;
  if (group == kAlone) request |= PACKET_FANOUT_FLAG_UNIQUEID << 16;
  set(PACKET_FANOUT, request, "sharing frames between queues");
  socklen_t length = sizeof request;
  check(getsockopt(socket_.number, SOL_PACKET, PACKET_FANOUT, &request, &length),
        "sharing frames between queues");
  return request & 0xffff;
}

// What an interface cannot filter it receives whole: there is nothing to fail.
void PacketSocketQueue::receive_also(int option, uint16_t what, const MacAddress& mac) {
  packet_mreq request{};
  request.mr_ifindex = interface_;
  request.mr_type = what;
  request.mr_alen = static_cast<uint16_t>(mac.size());
  std::copy(mac.begin(), mac.end(), request.mr_address);
  setsockopt(socket_.number, SOL_PACKET, option, &request, sizeof request);
}

void PacketSocketQueue::ask_for_all(bool enabled) {
  receive_also(enabled ? PACKET_ADD_MEMBERSHIP : PACKET_DROP_MEMBERSHIP, PACKET_MR_PROMISC, {});
}

void PacketSocketQueue::receive_for(const MacAddress& mac) {
  receive_also(PACKET_ADD_MEMBERSHIP, PACKET_MR_UNICAST, mac);
}

// Asking sets the kernel's count to zero.
uint64_t PacketSocketQueue::lost() {
  tpacket_stats statistics{};
  socklen_t length = sizeof statistics;
  if (getsockopt(socket_.number, SOL_PACKET, PACKET_STATISTICS, &statistics, &length) == 0)
    lost_ += statistics.tp_drops;
  return lost_;
}

// A kernel that refuses goes on with the beginnings of frames.
void PacketSocketQueue::receive_whole(bool enabled) {
  const int threshold = enabled ? 1 : 0;
  setsockopt(socket_.number, SOL_PACKET, PACKET_COPY_THRESH, &threshold, sizeof threshold);
}

tpacket2_hdr& PacketSocketQueue::slot(size_t ahead) {
  return *reinterpret_cast<tpacket2_hdr*>(ring_ + (next_ + ahead) % kSlots * slot_bytes_);
}

std::span<const Frame> PacketSocketQueue::receive() {
  size_t count = 0;
  for (received_ = 0; received_ < frames_.size(); ++received_) {
    tpacket2_hdr& next = slot(received_);
    const uint32_t status = status_of(next);
    if ((status & TP_STATUS_USER) == 0) break;
    // As many frames are in the queue as slots say so. With several senders these may be in another
    // order, so what the slot has of its own is left out.
    const bool queued = (status & TP_STATUS_COPY) != 0;
    if (read(queued ? from_queue(next) : in_slot(next), frames_[count])) ++count;
  }
  return {frames_.data(), count};
}

void PacketSocketQueue::release() {
  for (size_t i = 0; i < received_; ++i)
    std::atomic_ref(slot(i).tp_status).store(TP_STATUS_KERNEL, std::memory_order_release);
  next_ = (next_ + received_) % kSlots;
  received_ = 0;
}

PacketSocketQueue::Received PacketSocketQueue::in_slot(tpacket2_hdr& slot) {
  Received received{
      .head = reinterpret_cast<uint8_t*>(&slot) + slot.tp_mac,
      .length = slot.tp_snaplen,
      .beyond = slot.tp_len - slot.tp_snaplen,
      .offload = {},
      .status = slot.tp_status,
      .tag = slot.tp_vlan_tci,
      .tag_type = slot.tp_vlan_tpid,
  };
  std::memcpy(&received.offload, received.head - sizeof(OffloadHeader), sizeof(OffloadHeader));
  return received;
}

/// The next frame of the kernel's queue; where it cannot be read, what the slot has.
PacketSocketQueue::Received PacketSocketQueue::from_queue(tpacket2_hdr& slot) {
  whole_.resize(frames_.size() * kWholeBytes);
  Received received{};
  received.head = &whole_[received_ * kWholeBytes + kBeforeFrame];
  std::array<iovec, 2> parts{iovec{&received.offload, sizeof received.offload},
                             iovec{received.head, kLongestFrame}};
  alignas(cmsghdr) std::array<uint8_t, CMSG_SPACE(sizeof(tpacket_auxdata))> beside;
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  message.msg_control = beside.data();
  message.msg_controllen = beside.size();
  const ssize_t length = recvmsg(socket_.number, &message, MSG_DONTWAIT | MSG_TRUNC);
  if (length < static_cast<ssize_t>(sizeof received.offload)) return in_slot(slot);
  const size_t frame = static_cast<size_t>(length) - sizeof received.offload;
  received.length = std::min(frame, kLongestFrame);
  received.beyond = frame - received.length;
  for (cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr; each = CMSG_NXTHDR(&message, each))
    if (each->cmsg_level == SOL_PACKET && each->cmsg_type == PACKET_AUXDATA) {
      tpacket_auxdata told;
      std::memcpy(&told, CMSG_DATA(each), sizeof told);
      received.status = told.tp_status;
      received.tag = told.tp_vlan_tci;
      received.tag_type = told.tp_vlan_tpid;
    }
  return received;
}

/// False: it is not for this port.
bool PacketSocketQueue::read(Received received, Frame& frame) {
  if ((received.status & TP_STATUS_VLAN_VALID) && received.length >= kEthernetLength) {
    // The kernel took the tag out of the frame and hands it over beside it: put it back.
    std::memmove(received.head - kVlanTagLength, received.head, 12);
    received.head -= kVlanTagLength;
    // IEEE 802.1ad's tag has a type of its own.
    const bool typed = (received.status & TP_STATUS_VLAN_TPID_VALID) != 0;
    store_be<uint16_t>(received.head + 12, typed ? received.tag_type : kEtherTypeVlan);
    store_be<uint16_t>(received.head + 14, received.tag);
    received.length += kVlanTagLength;
  }
  ++counters_.ipackets;
  counters_.ibytes += received.length + received.beyond;
  const bool too_short = received.length < kEthernetLength;
  if (too_short || !filter_.passes(received.head)) {
    ++drops_[too_short ? Drop::too_short : Drop::not_ours];
    return false;
  }
  frame = Frame{};
  frame.head = received.head;
  frame.head_length = static_cast<uint16_t>(received.length);
  frame.payload_length = static_cast<uint32_t>(received.beyond);
  if (received.offload.flags & (OffloadHeader::kNeedsChecksum | OffloadHeader::kChecksumValid))
    frame.checksums = Checksums::trusted;
  return true;
}

void PacketSocketQueue::send(std::span<Frame> frames) {
  for (size_t i = 0; i < frames.size(); ++i) describe(frames[i], i);
  hand_over(std::span(headers_).first(frames.size()));
}

void PacketSocketQueue::describe(const Frame& frame, size_t position) {
  Message& message = messages_[position];
  message.offload = request_offloads(frame);
  message.parts[1] = {frame.head, frame.head_length};
  message.parts[2] = {const_cast<uint8_t*>(frame.payload), frame.payload_length};
  headers_[position].msg_hdr.msg_iovlen = frame.payload_length == 0 ? 2 : 3;
}

void PacketSocketQueue::hand_over(std::span<mmsghdr> messages) {
  const uint64_t from = Clock::read();
  for (int attempt = 0; !messages.empty();) {
    const int sent = sendmmsg(socket_.number, messages.data(),
                              static_cast<unsigned>(messages.size()), MSG_DONTWAIT);
    if (sent > 0) {
      const auto taken = static_cast<size_t>(sent);
      counters_.opackets += taken;
      for (const mmsghdr& message : messages.first(taken))
        counters_.obytes += message.msg_len - sizeof(OffloadHeader);
      messages = messages.subspan(taken);
      continue;
    }
    // What fails is the first frame: sendmmsg tells of a later one by how many went before it.
    const Drop reason = reason_of(errno);
    if (reason == Drop::device_full && ++attempt < kSendAttempts) continue;
    if (reason == Drop::link_down && ++attempt < kLinkAttempts) continue;
    const size_t lost = reason == Drop::frame_refused ? 1 : messages.size();
    drop(reason, lost);
    messages = messages.subspan(lost);
  }
  sending_ += Clock::read() - from;
}

void PacketSocketQueue::drop(Drop reason, size_t frames) {
  counters_.oerrors += frames;
  drops_[reason] += frames;
}

namespace {

/// An address of the port's own, made from the interface's: the kernel's stack passes over what is
/// sent there, where it would answer packets to the interface's as well.
MacAddress beside(MacAddress interface) {
  constexpr uint8_t kLocallyAdministered = 2;  // IEEE 802
  interface[0] = static_cast<uint8_t>((interface[0] | kLocallyAdministered) ^ 4);
  return interface;
}

class PacketSocketPort final : public Port {
 public:
  PacketSocketPort(const std::string& name, uint32_t cores) : interface_(name) {
    info_.driver = "af_packet";
    info_.description = name;
    info_.pci_address = "N/A";
    if (cores > 1) info_.over_rings = "the kernel spreads frames by a hash of its own";
    mac_ = beside(interface_.mac());
    const LinkLayer link{interface_.index(), interface_.mtu(), mac_};
    int group = PacketSocketQueue::kAlone;
    for (uint32_t core = 0; core < cores; ++core) {
      auto queue = std::make_unique<PacketSocketQueue>(link);
      if (cores > 1) group = queue->join(group);
      sockets_.push_back(queue.get());
      queues_.push_back(std::move(queue));
    }
  }

  bool link_up() const override { return interface_.running(); }
  uint32_t mtu() const override { return interface_.mtu(); }
  /// Linux, net/packet/af_packet.c, packet_extra_vlan_len_allowed.
  bool counts_tags() const override { return true; }
  void set_promiscuous(bool enabled) override { sockets_.front()->ask_for_all(enabled); }
  bool receive_for(const MacAddress& mac) override {
    sockets_.front()->receive_for(mac);
    return true;
  }
  void receive_whole(bool enabled) override {
    for (PacketSocketQueue* queue : sockets_) queue->receive_whole(enabled);
  }
  PortCounters losses() const override {
    PortCounters counters;
    for (PacketSocketQueue* queue : sockets_) counters.ierrors += queue->lost();
    return counters;
  }

 private:
  LinuxInterface interface_;
  std::vector<PacketSocketQueue*> sockets_;
};

}  // namespace

std::unique_ptr<Port> open_packet_socket_port(const std::string& interface, uint32_t cores) {
  return std::make_unique<PacketSocketPort>(interface, cores);
}

}  // namespace engine
