#include "io/dpdk_queue.h"

#include <rte_ethdev.h>
#include <rte_ether.h>

#include <algorithm>

#include "io/clock.h"
#include "net/checksum.h"

namespace engine {
namespace {

/// How far ahead of the packet at hand headers are fetched.
constexpr uint16_t kPrefetch = 4;

constexpr uint64_t kChecksumsGood = RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD;

/// What a device says of a frame's checksums; `otherwise`: what is known where it says nothing. L4
/// NONE, which has GOOD's bit, is whole data behind a checksum that nobody has completed.
Checksums checksums_of(uint64_t flags, Checksums otherwise) {
  if ((flags & kChecksumsGood) == kChecksumsGood) return Checksums::trusted;
  const bool none = (flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_NONE;
  return none ? Checksums::either : otherwise;
}

/// Appends `bytes` to a packet, in further buffers of `pool` once the first is full. False: none
/// left.
bool append(rte_mbuf* packet, rte_mempool* pool, const uint8_t* bytes, uint32_t length) {
  rte_mbuf* last = packet;
  while (true) {
    const uint32_t part = std::min<uint32_t>(length, rte_pktmbuf_tailroom(last));
    std::memcpy(rte_pktmbuf_mtod_offset(last, uint8_t*, last->data_len), bytes, part);
    last->data_len = static_cast<uint16_t>(last->data_len + part);
    packet->pkt_len += part;
    if (part == length) return true;
    bytes += part;
    length -= part;
    rte_mbuf* next = rte_pktmbuf_alloc(pool);
    if (next == nullptr) return false;
    last = last->next = next;
    ++packet->nb_segs;
  }
}

/// Tells the device to complete the checksums, and to cut the payload when it is long.
void request_offloads(rte_mbuf* packet, const Frame& frame) {
  const HeaderLengths& lengths = frame.headers;
  packet->l2_len = lengths.ethernet;
  packet->l3_len = lengths.ip;
  packet->l4_len = lengths.transport;
  packet->ol_flags |=
      lengths.ipv4() ? RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM : RTE_MBUF_F_TX_IPV6;
  packet->ol_flags |= lengths.tcp() ? RTE_MBUF_F_TX_TCP_CKSUM : RTE_MBUF_F_TX_UDP_CKSUM;
  if (!frame.to_be_cut()) return;
  packet->ol_flags |= RTE_MBUF_F_TX_TCP_SEG;
  packet->tso_segsz = frame.segment_size;
  // For packets it cuts, a device wants the pseudo-header's sum without the length.
  uint8_t* const transport = frame.head + lengths.ethernet + lengths.ip;
  const uint32_t length = lengths.transport + frame.payload_length;
  const uint16_t without = static_cast<uint16_t>(~checksum_fold(length));
  store_be(transport + 16, checksum_fold(ChecksumSum{load_be<uint16_t>(transport + 16)} + without));
}

}  // namespace

DpdkQueue::DpdkQueue(uint16_t device, uint16_t queue, PacketPools pools, DeviceOffloads offloads,
                     uint16_t buffers, Checksums received)
    : PortQueue(offloads),
      device_(device),
      queue_(queue),
      pools_(pools),
      most_buffers_(buffers),
      checksums_(received) {
  waiting_.reserve(kWaiting);
}

DpdkQueue::~DpdkQueue() {
  rte_pktmbuf_free_bulk(waiting_.data(), static_cast<unsigned>(waiting_.size()));
  for (PayloadReferences* references : references_) references->release();
}

void DpdkQueue::refer_to(const std::shared_ptr<const ExternalPayload>& payload) {
  if (pools_.references != nullptr) references_.push_back(PayloadReferences::make(payload));
}

void DpdkQueue::forget(const std::shared_ptr<const ExternalPayload>& payload) {
  const auto found = std::ranges::find(references_, payload, &PayloadReferences::owner);
  if (found == references_.end()) return;
  (*found)->release();
  references_.erase(found);
}

std::span<const Frame> DpdkQueue::receive() {
  received_ = rte_eth_rx_burst(device_, queue_, packets_.data(), packets_.size());
  for (uint16_t i = 0; i < std::min(received_, kPrefetch); ++i)
    rte_prefetch0(rte_pktmbuf_mtod(packets_[i], void*));
  size_t count = 0;
  for (uint16_t i = 0; i < received_; ++i) {
    if (i + kPrefetch < received_) rte_prefetch0(rte_pktmbuf_mtod(packets_[i + kPrefetch], void*));
    rte_mbuf* packet = packets_[i];
    ++counters_.ipackets;
    counters_.ibytes += packet->pkt_len;
    // A kernel that took the VLAN tag out handed it over beside the frame. An mbuf has no place for
    // the tag's type.
    if ((packet->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) && rte_vlan_insert(&packet) == 0) {
      packets_[i] = packet;
      ++counters_.assumed_tags;
    }
    // From a port of this process, over a ring: headers, and a reference to their payload.
    const rte_mbuf* const payload = packet->nb_segs == 1 ? nullptr : packet->next;
    if (payload != nullptr && (packet->nb_segs != 2 || !RTE_MBUF_HAS_EXTBUF(payload))) {
      ++counters_.ierrors;
      ++drops_[Drop::multiple_segments];
      continue;
    }
    uint8_t* const head = rte_pktmbuf_mtod(packet, uint8_t*);
    const bool too_short = packet->data_len < kEthernetLength;
    if (too_short || !filter_.passes(head)) {
      ++drops_[too_short ? Drop::too_short : Drop::not_ours];
      continue;
    }
    Frame& frame = frames_[count++];
    frame.head = head;
    frame.head_length = packet->data_len;
    frame.payload = payload == nullptr ? nullptr : rte_pktmbuf_mtod(payload, const uint8_t*);
    frame.payload_length = payload == nullptr ? 0 : payload->data_len;
    frame.checksums = checksums_of(packet->ol_flags, checksums_);
  }
  return {frames_.data(), count};
}

void DpdkQueue::release() {
  rte_pktmbuf_free_bulk(packets_.data(), received_);
}

void DpdkQueue::send(std::span<Frame> frames) {
  std::array<rte_mbuf*, TransmitQueue::kBurst> packets;
  size_t count = 0;
  bool offloads = false;
  const uint64_t from = Clock::read();
  for (Frame& frame : frames)
    if (rte_mbuf* packet = complete(frame)) {
      packets[count++] = packet;
      offloads = offloads || frame.checksums == Checksums::partial;
    }
  std::span<rte_mbuf*> ready{packets.data(), count};
  if (offloads) ready = prepare(ready);
  copying_ += Clock::read() - from;
  hold(ready.subspan(send_waiting() != 0 ? 0 : hand_over(ready)));
  refill(frames);
}

rte_mbuf* DpdkQueue::complete(Frame& frame) {
  auto* packet = static_cast<rte_mbuf*>(frame.owner);
  packet->data_len = frame.head_length;
  packet->pkt_len = frame.head_length;
  if (frame.checksums == Checksums::partial) request_offloads(packet, frame);
  if (frame.payload_length != 0 && !refer(packet, frame)) {
    // Of a packet in several buffers, a driver without RTE_ETH_TX_OFFLOAD_MULTI_SEGS sends what
    // lies in memory behind the first.
    if (most_buffers_ == 1 && frame.payload_length > rte_pktmbuf_tailroom(packet))
      return give_up(packet, Drop::frame_refused);
    if (!append(packet, pools_.whole, frame.payload, frame.payload_length))
      return give_up(packet, Drop::no_payload_buffer);
  }
  return packet->nb_segs > most_buffers_ ? give_up(packet, Drop::frame_refused) : packet;
}

std::span<rte_mbuf*> DpdkQueue::prepare(std::span<rte_mbuf*> packets) {
  size_t ready = 0;
  for (size_t next = 0; next < packets.size(); ++next) {
    const std::span<rte_mbuf*> rest = packets.subspan(next);
    const uint16_t taken =
        rte_eth_tx_prepare(device_, queue_, rest.data(), static_cast<uint16_t>(rest.size()));
    std::copy_n(rest.begin(), taken, packets.begin() + static_cast<ptrdiff_t>(ready));
    ready += taken;
    next += taken;
    if (next < packets.size()) give_up(packets[next], Drop::frame_refused);
  }
  return packets.first(ready);
}

bool DpdkQueue::refer(rte_mbuf* packet, const Frame& frame) {
  if (frame.payload_length < ExternalPayload::kWorthwhile) return false;
  for (PayloadReferences* references : references_) {
    uint8_t* copy = references->payload().copy_at(frame.payload);
    if (copy == nullptr) continue;
    rte_mbuf* last = packet;
    for (uint32_t left = frame.payload_length; left != 0;) {
      rte_mbuf* const next = rte_pktmbuf_alloc(pools_.references);
      if (next == nullptr) {
        rte_pktmbuf_free(std::exchange(packet->next, nullptr));
        packet->nb_segs = 1;
        return false;
      }
      const uint32_t part = std::min(left, ExternalPayload::kMost);
      references->attach(next, copy, static_cast<uint16_t>(part));
      last = last->next = next;
      ++packet->nb_segs;
      copy += part;
      left -= part;
    }
    packet->pkt_len += frame.payload_length;
    return true;
  }
  return false;
}

rte_mbuf* DpdkQueue::give_up(rte_mbuf* packet, Drop reason) {
  rte_pktmbuf_free(packet);
  ++counters_.oerrors;
  ++drops_[reason];
  return nullptr;
}

size_t DpdkQueue::send_waiting() {
  if (waiting_.empty()) [[likely]]
    return 0;
  const size_t sent = hand_over(waiting_);
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<ptrdiff_t>(sent));
  return waiting_.size();
}

// A device behind the kernel completes what it was given when it is asked again, so it is asked
// until it takes nothing.
size_t DpdkQueue::hand_over(std::span<rte_mbuf*> packets) {
  const uint64_t from = Clock::read();
  size_t sent = 0;
  uint16_t taken = 1;
  while (sent < packets.size() && taken != 0) {
    const std::span<rte_mbuf*> some =
        packets.subspan(sent, std::min(packets.size() - sent, TransmitQueue::kBurst));
    uint64_t bytes = 0;
    for (const rte_mbuf* packet : some) bytes += packet->pkt_len;
    taken = rte_eth_tx_burst(device_, queue_, some.data(), static_cast<uint16_t>(some.size()));
    for (const rte_mbuf* packet : some.subspan(taken)) bytes -= packet->pkt_len;
    sent += taken;
    counters_.obytes += bytes;
  }
  sending_ += Clock::read() - from;
  counters_.opackets += sent;
  return sent;
}

void DpdkQueue::hold(std::span<rte_mbuf*> packets) {
  const size_t room = std::min(packets.size(), kWaiting - waiting_.size());
  const std::span<rte_mbuf*> refused = packets.subspan(room);
  waiting_.insert(waiting_.end(), packets.begin(), packets.begin() + static_cast<ptrdiff_t>(room));
  rte_pktmbuf_free_bulk(refused.data(), static_cast<unsigned>(refused.size()));
  counters_.oerrors += refused.size();
  drops_[Drop::device_full] += refused.size();
}

void DpdkQueue::refill(std::span<Frame> frames) {
  std::array<rte_mbuf*, TransmitQueue::kBurst> fresh;
  const auto count = static_cast<unsigned>(frames.size());
  if (rte_pktmbuf_alloc_bulk(pools_.whole, fresh.data(), count) != 0)
    for (unsigned i = 0; i < count; ++i) fresh[i] = rte_pktmbuf_alloc(pools_.whole);
  for (unsigned i = 0; i < count; ++i) {
    frames[i].owner = fresh[i];
    frames[i].head = fresh[i] == nullptr ? nullptr : rte_pktmbuf_mtod(fresh[i], uint8_t*);
  }
}

BufferPool DpdkQueue::buffers() const {
  rte_mempool* const pool = pools_.whole;
  return {.object_bytes = rte_pktmbuf_data_room_size(pool),
          .count = pool->size,
          .free = rte_mempool_avail_count(pool),
          .reserved_bytes =
              uint64_t{pool->size} * (pool->header_size + pool->elt_size + pool->trailer_size)};
}

}  // namespace engine
