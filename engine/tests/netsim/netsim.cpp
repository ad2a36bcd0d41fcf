#include "netsim/netsim.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "astf/profile.h"
#include "astf/run.h"
#include "json/parse_profile.h"

namespace engine::tcp {

TestSegment values_of(const RxSegment& segment) {
  TestSegment values{.sequence = segment.sequence(),
                     .acknowledgment = segment.acknowledgment(),
                     .length = segment.payload_length,
                     .window = segment.window(),
                     .flags = segment.flags(),
                     .has_timestamps = segment.has_timestamps(),
                     .sack_permitted = (segment.options.offered & kOffersSack) != 0,
                     .has_scale = (segment.options.offered & kOffersScaling) != 0,
                     .scale = segment.options.scale,
                     .sack_count = segment.options.sack_count,
                     .mss = segment.options.mss};
  if (values.has_timestamps) {
    values.timestamp = segment.timestamp();
    values.timestamp_echo = segment.timestamp_echo();
  }
  for (unsigned i = 0; i < values.sack_count; ++i) values.sack[i] = segment.sack_block(i);
  return values;
}

}  // namespace engine::tcp

namespace engine::netsim {

namespace {

constexpr MacAddress kMacs[kSides] = {{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}};

CoreConfig config_for(Side side, const Settings& settings) {
  CoreConfig config;
  config.max_flows = settings.max_flows;
  config.seed = settings.seed * 2 + index_of(side);
  config.epoch = settings.epoch;
  config.thread = settings.thread;
  config.threads = settings.threads;
  for (Side port : {Side::client, Side::server}) {
    PortAddress& address = config.ports[index_of(port)];
    address.mac = kMacs[index_of(port)];
    address.destination = kMacs[1 - index_of(port)];
    address.tags = settings.tags;
  }
  return config;
}

ImpairmentSettings wire_for(Side from, const Settings& settings) {
  ImpairmentSettings wire = from == Side::client ? settings.to_server : settings.to_client;
  wire.seed = (settings.seed + 1) * 1000 + index_of(from);
  if (wire.delay == 0) wire.delay = kDelay;
  return wire;
}

/// What a device goes by is what stands in the frame. Throws std::logic_error.
void check_headers(const Frame& frame) {
  const RxSegment segment = parse_unverified(frame);
  const HeaderLengths& noted = frame.headers;
  if (noted.ethernet != segment.l3_offset ||
      frame.head + noted.ethernet + noted.ip != segment.header ||
      noted.transport != segment.header_length || noted.ipv4() != segment.ipv4 ||
      noted.tcp() != (segment.kind == PacketKind::tcp))
    throw std::logic_error("a frame's lengths of headers are not those of its headers");
}

/// The segments that a device makes of a frame to be cut (TSO), or all of one that is not.
std::vector<std::vector<uint8_t>> segments_of(const Frame& frame) {
  const std::span<const uint8_t> head{frame.head, frame.head_length};
  std::span<const uint8_t> payload{frame.payload, frame.payload_length};
  const size_t most = frame.to_be_cut() ? frame.segment_size : payload.size();
  const HeaderLengths& headers = frame.headers;
  std::vector<std::vector<uint8_t>> segments;
  do {
    const auto part = payload.first(std::min(most, payload.size()));
    payload = payload.subspan(part.size());
    auto& bytes = segments.emplace_back(head.begin(), head.end());
    bytes.insert(bytes.end(), part.begin(), part.end());
    if (!frame.to_be_cut()) break;
    uint8_t* const ip = bytes.data() + headers.ethernet;
    uint8_t* const tcp = ip + headers.ip;
    const size_t length = headers.transport + part.size() + (headers.ipv4() ? headers.ip : 0);
    store_be<uint16_t>(ip + (headers.ipv4() ? 2 : 4), static_cast<uint16_t>(length));
    const auto before = static_cast<uint32_t>(part.data() - frame.payload);
    store_be<uint32_t>(tcp + 4, load_be<uint32_t>(tcp + 4) + before);
    if (before != 0) tcp[13] &= static_cast<uint8_t>(~tcp::kCwr);
    if (!payload.empty()) tcp[13] &= static_cast<uint8_t>(~(tcp::kFin | tcp::kPsh));
  } while (!payload.empty());
  return segments;
}

}  // namespace

Network::Network(const Settings& settings, const std::string& profile_json,
                 const RunOptions& options)
    : Network(settings, parse_profile(profile_json, false), options) {}

Network::Network(const Settings& settings, const std::string& profile_json,
                 const RunOptions& client, const RunOptions& server)
    : Network(settings, std::shared_ptr<const Profile>(parse_profile(profile_json, false)),
              std::array<RunOptions, kSides>{client, server}) {}

Network::Network(const Settings& settings, std::shared_ptr<const Profile> profile,
                 const RunOptions& options)
    : Network(settings, std::move(profile), std::array<RunOptions, kSides>{options, options}) {}

Network::Network(const Settings& settings, std::shared_ptr<const Profile> profile,
                 const std::array<RunOptions, kSides>& options)
    : settings_(settings),
      wires_{Impairment(wire_for(Side::client, settings), settings.wire_bytes),
             Impairment(wire_for(Side::server, settings), settings.wire_bytes)} {
  for (Side side : {Side::client, Side::server}) {
    End& end = ends_[index_of(side)];
    end.network = this;
    end.side = side;
    if (settings.tunnels != nullptr) {
      end.tunnels = std::make_unique<TunnelEnd>(side);
      end.tunnels->set(settings.tunnels);
    }
    end.queue = std::make_unique<TransmitQueue>(
        end, settings.tunnels == nullptr ? settings.offloads : DeviceOffloads{});
    end.unused = std::make_unique<TransmitQueue>(end.nowhere, settings.offloads);
    std::array<TransmitQueue*, kSides> queues{end.unused.get(), end.unused.get()};
    queues[index_of(side)] = end.queue.get();
    end.core = std::make_unique<DataCore>(config_for(side, settings), queues);
    RunOptions mine = options[index_of(side)];
    mine.opens_flows = side == Side::client;
    auto run = end.core->prepare(profile, mine);
    end.run = run.get();
    for (size_t t = 0; settings.only_slow_path && t < run->profile().templates.size(); ++t)
      for (Side own : {Side::client, Side::server}) run->flow_class(own, t).only_slow_path = true;
    end.core->attach(run, 0);
  }
}

Network::~Network() = default;

void Network::End::send(std::span<Frame> frames) {
  for (Frame& frame : frames) {
    ++sent;
    if (frame.checksums == Checksums::partial) check_headers(frame);
    if (!network->settings_.device_cuts) frame.segment_size = 0;
    if (tunnels != nullptr && !tunnels->pass_sent(frame)) continue;
    for (auto& bytes : segments_of(frame)) network->put(side, std::move(bytes));
    if (frames_withheld) frame.head = nullptr;
  }
}

void Network::withhold_frames(Side side, bool withheld) {
  End& end = ends_[index_of(side)];
  end.frames_withheld = withheld;
  if (withheld) use_up(*end.queue);
}

void Network::inject(Side from, std::vector<uint8_t> bytes) {
  put(from, std::move(bytes));
}

void Network::put(Side from, std::vector<uint8_t> bytes) {
  Frame frame;
  frame.head = bytes.data();
  frame.head_length = static_cast<uint16_t>(bytes.size());
  frame.checksums = settings_.offloads.checksum ? Checksums::trusted : Checksums::in_frame;
  if (filter) {
    Seen seen{now_, from, PacketKind::other, {}, {}, std::move(bytes)};
    seen.packet = parse(frame);
    seen.kind = seen.packet.kind;
    if (seen.kind == PacketKind::tcp) seen.segment = tcp::values_of(seen.packet);
    if (!filter(seen)) return;
    bytes = std::move(seen.bytes);
  }
  if (wire(from).pass(frame, now_)) std::abort();  // a wire always takes its time
}

void Network::deliver(Side from) {
  const Side to = from == Side::client ? Side::server : Side::client;
  DelayLine& line = wire(from).line();
  std::vector<Frame> frames;
  while (frames.size() < settings_.burst)
    if (const Frame* frame = line.take(now_))
      frames.push_back(*frame);
    else
      break;
  End& end = ends_[index_of(to)];
  if (end.tunnels != nullptr)
    for (Frame& frame : std::exchange(frames, {}))
      if (end.tunnels->pass_received(frame)) frames.push_back(frame);
  end.core->receive(to, frames, now_);
  line.release();
  end.queue->flush();
}

void Network::step() {
  const auto due = [this](Side from) { return wire(from).line().next_due(); };
  bool stepped = false;
  do {
    stepped = false;
    while (std::min(due(Side::client), due(Side::server)) <= now_)
      deliver(due(Side::client) <= due(Side::server) ? Side::client : Side::server);
    for (End& end : ends_) {
      while (end.core->advance(now_) != 0) end.queue->flush();
      end.queue->flush();
      if (!end.core->begin_handshake_step(now_)) continue;
      now_ += settings_.handshake_step[index_of(end.side)];
      end.core->end_handshake_step(now_);
      end.queue->flush();
      stepped = true;
    }
  } while (stepped);
}

void Network::run_until(Nanoseconds until) {
  while (now_ < until) {
    step();
    // The next thing that can happen: an arrival, or at most a quarter of a millisecond later.
    Nanoseconds next = now_ + 250 * kMicrosecond;
    for (Impairment& wire : wires_) next = std::min(next, wire.line().next_due());
    now_ = std::max(now_, std::min(std::max(next, now_ + kMicrosecond), until));
  }
  step();
}

bool Network::drain(Nanoseconds limit) {
  while (now_ < limit) {
    run_until(std::min(limit, now_ + 20 * kMillisecond));
    const RunStatus clients = status(Side::client);
    if (clients.phase != RunPhase::opening && clients.client_flows == 0 &&
        status(Side::server).server_flows == 0)
      return true;
  }
  return false;
}

void Network::close(Side side) {
  core(side).close(run(side));
  while (status(side).phase != RunPhase::closed) core(side).advance(now_);
}

CounterBlock Network::counters(Side side) {
  CounterBlock sum;
  for (const CounterBlock& block : run(side).counters(side)) sum += block;
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
