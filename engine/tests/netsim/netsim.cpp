#include "netsim/netsim.h"

#include "astf/profile.h"
#include "astf/run.h"

namespace engine::netsim {

namespace {

constexpr MacAddress kMacs[kSides] = {{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}};

CoreConfig config_for(Side side, const Settings& settings) {
  CoreConfig config;
  config.max_flows = settings.max_flows;
  config.seed = settings.seed * 2 + index_of(side);
  config.epoch = settings.epoch;
  for (Side port : {Side::client, Side::server}) {
    PortAddress& address = config.ports[index_of(port)];
    address.mac = kMacs[index_of(port)];
    address.destination = kMacs[1 - index_of(port)];
  }
  return config;
}

/// An ECN-capable IPv4 packet gets CE (RFC 3168 section 5), others stay as they are.
void mark_congestion(std::vector<uint8_t>& frame) {
  constexpr size_t kIp = 14;
  if (load_be<uint16_t>(frame.data() + 12) != 0x0800 || (frame[kIp + 1] & 3) == 0) return;
  frame[kIp + 1] |= 3;
  store_be<uint16_t>(frame.data() + kIp + 10, 0);
  store_be<uint16_t>(frame.data() + kIp + 10,
                     checksum_finish(checksum_add(0, frame.data() + kIp, 20)));
}

}  // namespace

Network::Network(const Settings& settings, const std::string& profile_json,
                 const RunOptions& options)
    : settings_(settings), random_(settings.seed) {
  auto parsed = parse_profile(profile_json, false);
  for (Side side : {Side::client, Side::server}) {
    End& end = ends_[index_of(side)];
    end.network = this;
    end.side = side;
    end.queue = std::make_unique<TransmitQueue>(&drain_to_wire, &end, settings.offloads);
    end.unused = std::make_unique<TransmitQueue>(&drain_nowhere, &end, settings.offloads);
    std::array<TransmitQueue*, kSides> queues{end.unused.get(), end.unused.get()};
    queues[index_of(side)] = end.queue.get();
    end.core = std::make_unique<DataCore>(config_for(side, settings), queues);
    RunOptions mine = options;
    mine.opens_flows = side == Side::client;
    auto run = end.core->prepare("_", parsed, mine);
    end.core->attach(run, 0);
  }
}

Network::~Network() = default;

void Network::drain_to_wire(void* device, std::span<Frame> frames) {
  End& end = *static_cast<End*>(device);
  for (Frame& frame : frames) {
    if (frame.head_length != 0) {
      std::vector<uint8_t> bytes(frame.head, frame.head + frame.head_length);
      if (frame.payload != nullptr)
        bytes.insert(bytes.end(), frame.payload, frame.payload + frame.payload_length);
      ++end.sent;
      end.network->put(end.side, std::move(bytes));
      frame.head_length = 0;
    }
    if (frame.head == nullptr) frame.head = end.heads.emplace_back().data();
  }
}

void Network::drain_nowhere(void* device, std::span<Frame> frames) {
  End& end = *static_cast<End*>(device);
  for (Frame& frame : frames) {
    frame.head_length = 0;
    if (frame.head == nullptr) frame.head = end.heads.emplace_back().data();
  }
}

void Network::inject(Side from, std::vector<uint8_t> bytes) {
  put(from, std::move(bytes));
}

void Network::put(Side from, std::vector<uint8_t> bytes) {
  const Impairment& impairment = from == Side::client ? settings_.to_server : settings_.to_client;
  if (filter) {
    Seen seen{now_, from, PacketKind::other, {}, {}, bytes};
    Frame frame;
    frame.head = seen.bytes.data();
    frame.head_length = static_cast<uint16_t>(seen.bytes.size());
    frame.checksums = settings_.offloads.checksum ? Checksums::trusted : Checksums::in_frame;
    seen.kind = parse_packet(frame, seen.packet);
    if (seen.kind == PacketKind::tcp) seen.segment = tcp::parse_segment(seen.packet);
    if (!filter(seen)) return;
  }
  if (chance() < impairment.loss) return;
  if (chance() < impairment.congestion) mark_congestion(bytes);
  if (chance() < impairment.corruption && bytes.size() > 14)
    bytes[14 + random_.next() % (bytes.size() - 14)] ^=
        static_cast<uint8_t>(1u << (random_.next() % 8));
  Nanoseconds arrival = now_ + impairment.delay;
  if (chance() < impairment.reordering) arrival += impairment.held;
  if (chance() < impairment.duplication)
    wire_.push({arrival + kMicrosecond, number_++, from, bytes});
  wire_.push({arrival, number_++, from, std::move(bytes)});
}

void Network::step() {
  while (!wire_.empty() && wire_.top().arrival <= now_) {
    const Side from = wire_.top().from;
    std::vector<Flight> flights;
    std::vector<Frame> frames;
    for (; frames.size() < settings_.burst && !wire_.empty() && wire_.top().arrival <= now_ &&
           wire_.top().from == from;
         wire_.pop()) {
      flights.push_back(wire_.top());
      Frame& frame = frames.emplace_back();
      frame.head_length = static_cast<uint16_t>(flights.back().bytes.size());
      frame.checksums = settings_.offloads.checksum ? Checksums::trusted : Checksums::in_frame;
    }
    for (size_t i = 0; i < frames.size(); ++i) frames[i].head = flights[i].bytes.data();
    const Side to = from == Side::client ? Side::server : Side::client;
    End& end = ends_[index_of(to)];
    end.core->receive(to, frames, now_);
    end.queue->flush();
  }
  for (End& end : ends_) {
    while (end.core->advance(now_) != 0) end.queue->flush();
    end.queue->flush();
  }
}

void Network::run_until(Nanoseconds until) {
  while (now_ < until) {
    step();
    // The next thing that can happen: an arrival, or at most a quarter of a millisecond later.
    Nanoseconds next = now_ + 250 * kMicrosecond;
    if (!wire_.empty()) next = std::min(next, wire_.top().arrival);
    now_ = std::min(std::max(next, now_ + kMicrosecond), until);
  }
  step();
}

bool Network::drain(Nanoseconds limit) {
  while (now_ < limit) {
    run_until(std::min(limit, now_ + 20 * kMillisecond));
    const RunStatus status = core(Side::client).status("_");
    if (status.phase != RunPhase::opening && status.client_flows == 0 &&
        core(Side::server).status("_").server_flows == 0)
      return true;
  }
  return false;
}

CounterBlock Network::counters(Side side) {
  CounterBlock sum;
  for (const CounterBlock& block : core(side).counters("_", side)) sum += block;
  return sum;
}

std::string profile(const HttpLike& http) {
  const std::string request = R"({"base":"R0VU","size":)" + std::to_string(http.request) + "}";
  const std::string response =
      R"({"base":"SFRUUA==","size":)" + std::to_string(http.response) + "}";
  const std::string client = http.client_commands.empty()
                                 ? R"({"name":"tx","buf_index":0},{"name":"rx","min_bytes":)" +
                                       std::to_string(http.response) + "}"
                                 : http.client_commands;
  const std::string server = http.server_commands.empty()
                                 ? R"({"name":"rx","min_bytes":)" + std::to_string(http.request) +
                                       R"(},{"name":"tx","buf_index":1})"
                                 : http.server_commands;
  return R"({"buf_list":[)" + request + "," + response +
         R"(],"ip_gen_dist_list":[{"ip_start":"16.0.0.1","ip_end":"16.0.0.200","distribution":"seq","dir":"c","ip_offset":"1.0.0.0"},)"
         R"({"ip_start":"48.0.0.1","ip_end":"48.0.0.1","distribution":"seq","dir":"s","ip_offset":"1.0.0.0"}],)"
         R"("program_list":[{"commands":[)" +
         client + R"(]},{"commands":[)" + server + R"(]}],"c_glob_info":{"tcp":)" +
         http.client_tcp + R"(},"s_glob_info":{"tcp":)" + http.server_tcp +
         R"(},"templates":[{"client_template":{"program_index":0,"ip_gen":{"dist_client":{"index":0},"dist_server":{"index":1}},"cluster":{},"port":80,"cps":)" +
         std::to_string(http.cps) +
         (http.limit ? R"(,"limit":)" + std::to_string(http.limit) : "") +
         R"(},"server_template":{"program_index":1,"assoc":[{"port":80}]}}],"tg_names":[]})";
}

RunOptions forever() {
  return {};
}

}  // namespace engine::netsim
