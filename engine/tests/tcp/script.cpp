#include "tcp/script.h"

#include "astf/run.h"
#include "json/parse_profile.h"
#include "net/compose.h"
#include "net/ethernet.h"

namespace engine::tcp {

std::vector<uint8_t> mss_option(uint16_t mss) {
  return {2, 4, static_cast<uint8_t>(mss >> 8), static_cast<uint8_t>(mss)};
}
std::vector<uint8_t> scale_option(uint8_t scale) {
  return {1, 3, 3, scale};
}
std::vector<uint8_t> sack_permitted_option() {
  return {1, 1, 4, 2};
}
std::vector<uint8_t> timestamps_option(uint32_t value, uint32_t echo) {
  std::vector<uint8_t> option(12);
  store_be<uint32_t>(option.data(), 0x0101080a);
  store_be<uint32_t>(option.data() + 4, value);
  store_be<uint32_t>(option.data() + 8, echo);
  return option;
}
std::vector<uint8_t> sack_option(std::vector<SequenceRange> ranges) {
  std::vector<uint8_t> option(4 + 8 * ranges.size());
  option[0] = option[1] = 1;
  option[2] = 5;
  option[3] = static_cast<uint8_t>(2 + 8 * ranges.size());
  for (size_t i = 0; i < ranges.size(); ++i) {
    store_be<uint32_t>(option.data() + 4 + 8 * i, ranges[i].start);
    store_be<uint32_t>(option.data() + 8 + 8 * i, ranges[i].end);
  }
  return option;
}
std::vector<uint8_t> operator+(std::vector<uint8_t> a, const std::vector<uint8_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

struct Script::End final : TransmitDevice {
  std::deque<std::array<uint8_t, kHeadRoom>> heads;
  std::deque<std::vector<uint8_t>> sent;
  std::unique_ptr<TransmitQueue> queue;
  std::unique_ptr<DataCore> core;
  bool frames_withheld = false;

  void send(std::span<Frame> frames) override {
    for (Frame& frame : frames) {
      std::vector<uint8_t> bytes(frame.head, frame.head + frame.head_length);
      if (frame.payload != nullptr)
        bytes.insert(bytes.end(), frame.payload, frame.payload + frame.payload_length);
      sent.push_back(std::move(bytes));
      if (frames_withheld) frame.head = nullptr;
    }
  }
  void refill(Frame& slot) override {
    if (!frames_withheld) slot.head = heads.emplace_back().data();
  }
};

Script::Script(Side role, const netsim::HttpLike& http)
    : end_(std::make_unique<End>()), role_(role) {
  netsim::HttpLike one = http;
  one.limit = 1;
  end_->queue = std::make_unique<TransmitQueue>(*end_, DeviceOffloads{});
  CoreConfig config;
  config.max_flows = 64;
  for (PortAddress& port : config.ports) {
    port.mac = {2, 0, 0, 0, 0, 1};
    port.destination = MacAddress{2, 0, 0, 0, 0, 2};
  }
  end_->core = std::make_unique<DataCore>(
      config, std::array<TransmitQueue*, kSides>{end_->queue.get(), end_->queue.get()});
  RunOptions options;
  options.opens_flows = role == Side::client;
  options.samples_flows = true;
  auto run = end_->core->prepare(parse_profile(netsim::profile(one), false), options);
  run_ = run.get();
  end_->core->attach(run, 0);
  stack_port_ = 80;
  stack_address_ = IpAddress::v4(0x30000001);
  peer_address_ = IpAddress::v4(0x10000001);
  if (role == Side::client) {
    std::swap(stack_address_, peer_address_);
    wait(150 * kMillisecond);
  }
}

Script::~Script() = default;

void Script::wait(Nanoseconds duration) {
  const Nanoseconds until = now_ + duration;
  do {
    now_ = std::min(until, now_ + kMillisecond);
    while (end_->core->advance(now_) != 0) end_->queue->flush();
    end_->queue->flush();
  } while (now_ < until);
}

void Script::send(const Out& out) {
  std::vector<uint8_t> bytes(14 + 20 + 20 + out.options.size() + out.length, 0xab);
  const L2Header l2{{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}, {}};
  uint8_t* const ip = bytes.data() + write_ethernet(bytes.data(), l2, kEtherTypeIpv4);
  const auto header = static_cast<uint32_t>(20 + out.options.size());
  uint8_t* const tcp = compose_ip(ip, peer_address_, stack_address_, kProtocolTcp,
                                  header + out.length, out.code_point, Tunables{}.ttl, true);
  std::fill(tcp, tcp + 20, 0);
  store_be<uint16_t>(tcp, role_ == Side::server ? 1025 : 80);
  store_be<uint16_t>(tcp + 2, stack_port_);
  store_be<uint32_t>(tcp + 4, kPeerIsn + out.seq);
  store_be<uint32_t>(tcp + 8, (out.flags & kAck) != 0 ? stack_isn_ + out.ack : 0);
  tcp[12] = static_cast<uint8_t>(header << 2);
  tcp[13] = out.flags;
  store_be<uint16_t>(tcp + 14, out.window);
  std::copy(out.options.begin(), out.options.end(), tcp + 20);
  const ChecksumSum sum = checksum_add(
      pseudo_header_sum(peer_address_, stack_address_, kProtocolTcp, header + out.length), tcp,
      header + out.length);
  store_be<uint16_t>(tcp + 16, checksum_finish(sum));
  Frame frame;
  frame.head = bytes.data();
  frame.head_length = static_cast<uint16_t>(bytes.size());
  end_->core->receive(role_, {&frame, 1}, now_);
  end_->queue->flush();
}

TestSegment Script::expect(const char* what) {
  if (end_->sent.empty()) {
    ADD_FAILURE() << "the stack sent nothing; wanted: " << what;
    return {};
  }
  std::vector<uint8_t> bytes = std::move(end_->sent.front());
  end_->sent.pop_front();
  Frame frame;
  frame.head = bytes.data();
  frame.head_length = static_cast<uint16_t>(bytes.size());
  const RxSegment parsed = parse(frame);
  EXPECT_EQ(parsed.kind, PacketKind::tcp) << what;
  code_point_ = parsed.traffic_class & 3;
  TestSegment segment = values_of(parsed);
  if (segment.is(kSyn) && !known_) {
    known_ = true;
    stack_isn_ = segment.sequence;
    stack_port_ = parsed.source_port();
  }
  segment.sequence -= stack_isn_;
  segment.acknowledgment -= kPeerIsn;
  return segment;
}

void Script::expect_nothing(const char* what) {
  EXPECT_TRUE(end_->sent.empty()) << what;
  end_->sent.clear();
}

void Script::establish(const std::vector<uint8_t>& options, uint16_t window) {
  if (role_ == Side::server) {
    send({.flags = kSyn, .seq = 0, .window = window, .options = options});
    const TestSegment answer = expect("SYN-ACK");
    EXPECT_EQ(answer.flags, kSyn | kAck);
    EXPECT_EQ(answer.acknowledgment, 1u);
    send({.window = window});
    return;
  }
  const TestSegment syn = expect("SYN");
  EXPECT_EQ(syn.flags, kSyn);
  send({.flags = kSyn | kAck, .seq = 0, .window = window, .options = options});
}

void Script::withhold_frames(bool withheld) {
  end_->frames_withheld = withheld;
  if (withheld) use_up(*end_->queue);
}

Info Script::info() const {
  const std::vector<Info> flows = end_->core->sampled_flows(*run_, now_);
  EXPECT_EQ(flows.size(), 1u);
  return flows.empty() ? Info{} : flows[0];
}

uint64_t Script::count(Counter counter) const {
  return run_->counters(role_)[0][counter];
}

PoolStatus Script::pool(const std::string& kind) const {
  for (const PoolStatus& pool : end_->core->memory())
    if (pool.name == kind) return pool;
  ADD_FAILURE() << "no such pool: " << kind;
  return {};
}

uint64_t Script::open_flows() const {
  return end_->core->open_flows();
}

}  // namespace engine::tcp
