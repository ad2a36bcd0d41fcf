#include "rpc/latency.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <utility>

#include "json/base64.h"
#include "net/address.h"
#include "net/address_text.h"
#include "rpc/method_table.h"
#include "rpc/methods.h"
#include "rpc/rpc_error.h"

namespace engine {

namespace {

constexpr double kMostPackets = 1e6;  ///< per second

/// At least one packet a second.
Nanoseconds interval_of(double rate) {
  return static_cast<Nanoseconds>(kSecond / std::clamp(rate, 1.0, kMostPackets));
}

/// The address of pair `port` / 2.
uint32_t address_of(uint32_t first, uint32_t offset, uint32_t port) {
  return first + port / 2 * offset;
}

}  // namespace

void LatencyControl::check_idle() const {
  if (active_ || waiting_) throw refused("Latency state is not idle, should stop latency first");
}

void LatencyControl::start(const Addresses& addresses, double rate, PortMask mask) {
  check_idle();
  check_addresses(addresses);
  const auto port_count = static_cast<uint32_t>(ports_.infos().size());
  LatencyOptions options;
  options.interval = interval_of(rate);
  options.warm_up = static_cast<uint64_t>(std::clamp(rate, 0.0, kMostPackets) / 2);
  options.epoch = ++epoch_;
  try {
    for (uint32_t port = 0; port < port_count; ++port) {
      if (ports_.infos()[port].is_dummy) continue;
      options.port = static_cast<uint8_t>(port);
      options.sends = (mask >> port & 1) != 0;
      options.source = address_of(addresses.client, addresses.client_pair_offset, port);
      options.destination = address_of(addresses.server, addresses.server_pair_offset, port);
      if (port % 2 == 1) std::swap(options.source, options.destination);
      streams_.start(port, options);
    }
  } catch (...) {
    streams_.stop();
    throw;
  }
  active_ = true;
}

Later LatencyControl::start_when_resolved(const Addresses& addresses, double rate, PortMask mask) {
  check_idle();
  check_addresses(addresses);
  waiting_ = std::make_shared<Start>(Start{{ports_, mask & client_ports(ports_)}});
  return [this, start = waiting_, addresses, rate, mask]() -> std::optional<Json> {
    if (!start->abandoned.empty()) throw refused(start->abandoned);
    try {
      if (!start->resolution.advance(clock_.now())) return std::nullopt;
    } catch (const std::exception& error) {
      waiting_ = nullptr;
      throw refused(error.what());
    }
    waiting_ = nullptr;
    this->start(addresses, rate, mask);
    return Json::object();
  };
}

/// Latency packets to the ports themselves would not leave the engine.
void LatencyControl::check_addresses(const Addresses& addresses) const {
  const auto port_count = static_cast<uint32_t>(ports_.infos().size());
  for (uint32_t port = 0; port < port_count; ++port) {
    const uint32_t server = address_of(addresses.server, addresses.server_pair_offset, port);
    for (uint32_t owner = 0; owner < port_count; ++owner)
      if (ports_.state(owner).address.ipv4 == server)
        throw refused(fmt::format("Latency dst IP and dual_port might reach port {} with IP {}",
                                  owner, ipv4_text(server)));
  }
}

void LatencyControl::update(double rate) {
  if (!active_) throw refused("Latency is not active, can't update rate");
  streams_.set_interval(interval_of(rate));
}

void LatencyControl::stop() {
  if (active_) streams_.stop();
  active_ = false;
  abandon_start("latency was stopped before its streams began");
}

void LatencyControl::abandon_start(const std::string& why) {
  if (const std::shared_ptr<Start> start = std::exchange(waiting_, nullptr)) start->abandoned = why;
}

LatencyControl::Addresses latency_addresses(const Profile& profile) {
  const auto first = [&profile](bool client) -> const AddressRange& {
    const auto found = std::ranges::find(profile.ranges, client, &AddressRange::client);
    if (found == profile.ranges.end()) throw refused("No valid ip range for latency");
    return *found;
  };
  const AddressRange& clients = first(true);
  const AddressRange& servers = first(false);
  return {clients.first, servers.first, clients.pair_offset, servers.pair_offset};
}

namespace {

using enum ParameterType;

// -- Latency streams: start, stop, rate, and what they measured.

Json histogram(const DecadeHistogram& histogram) {
  const auto microseconds = [](double ns) { return ns / kMicrosecond; };
  Json buckets = Json::array();
  for (size_t decade = 0; decade < DecadeHistogram::kDecades; ++decade)
    for (size_t i = 0; i < DecadeHistogram::kBuckets; ++i)
      if (const uint64_t count = histogram.bucket(decade, i))
        buckets.push_back({{"key", DecadeHistogram::bucket_us(decade, i)}, {"val", count}});
  return {{"min_usec", DecadeHistogram::kShortest / kMicrosecond},
          {"max_usec", microseconds(static_cast<double>(histogram.maximum()))},
          {"high_cnt", histogram.long_count()},
          {"cnt", histogram.count()},
          {"s_avg", microseconds(histogram.smoothed_average_ns())},
          {"s_max", microseconds(static_cast<double>(histogram.recent_maximum()))},
          {"histogram", std::move(buckets)}};
}

Json port_report(const LatencyReport& report) {
  Json counters = Json::object();
  for (const char* name : {"tx_arp", "ipv6_n_solic", "ignore_bytes", "m_unsup_prot", "m_no_id",
                           "m_no_ipv4_option", "m_rx_check"})
    counters[name] = 0;  // of packets that are not this server's at all
  counters["m_tx_pkt_ok"] = report.sent;
  counters["m_tx_pkt_err"] = report.not_sent;
  counters["m_pkt_ok"] = report.received;
  counters["m_seq_error"] = report.out_of_sequence;
  counters["m_length_error"] = report.wrong_length;
  counters["m_l3_cs_err"] = report.bad_ip_sum;
  counters["m_l4_cs_err"] = report.bad_icmp_sum;
  counters["m_no_magic"] = report.impossible_time;  // no payload of a latency packet
  counters["m_jitter"] = report.jitter_ns / kMicrosecond;
  return {{"hist", histogram(report.histogram)}, {"stats", std::move(counters)}};
}

Json statistics(ControlState& state) {
  Json data = {{"cpu_util", 0}, {"epoch", state.profiles.latency().epoch()}, {"unknown", 0}};
  for (uint32_t port = 0; port < state.engine.ports.infos().size(); ++port)
    data["port-" + std::to_string(port)] = port_report(state.engine.latency.report(port));
  // The name is spelt as TRex spells it.
  return {{"name", "trex-latecny-v2"}, {"type", 0}, {"data", std::move(data)}};
}

Later start_latency(ControlState& state, const Json& params) {
  LatencyControl::Addresses addresses;
  addresses.client = ipv4_of(params, "src_addr");
  addresses.server = ipv4_of(params, "dst_addr");
  addresses.client_pair_offset = addresses.server_pair_offset = ipv4_of(params, "dual_port_addr");
  const auto mask = static_cast<uint32_t>(integer_in(params, "mask", 0, UINT32_MAX));
  return state.profiles.latency().start_when_resolved(addresses, params.at("mult"), mask);
}

// -- How long flows took, beyond what TRex tells. docs/rpc-extensions.md describes the answer.

constexpr std::array<const char*, kLatencyKinds> kNames{"connect", "first_byte", "completion",
                                                        "tls_handshake"};

/// What is told of a kind beside its histogram.
constexpr uint64_t kTextPerKind = 50;

/// HdrHistogram's V2 encoding, compressed: cookie, length, zlib stream; in base64.
std::string hdr_text(const Histogram& histogram) {
  constexpr uint32_t kCookie = 0x1c84'9304 | 0x10;
  constexpr size_t kHeader = 8;
  const std::string plain = histogram.encoded();
  uLongf deflated = compressBound(plain.size());
  std::string bytes(kHeader + deflated, '\0');
  compress2(reinterpret_cast<Bytef*>(bytes.data() + kHeader), &deflated,
            reinterpret_cast<const Bytef*>(plain.data()), plain.size(), Z_BEST_SPEED);
  store_be(bytes.data(), kCookie);
  store_be(bytes.data() + 4, static_cast<uint32_t>(deflated));
  bytes.resize(kHeader + deflated);
  return encode_base64(bytes);
}

Json kind(const Histogram& histogram) {
  return {{"count", histogram.count()},
          {"sum", histogram.sum()},
          {"max", histogram.highest()},
          {"hdr", hdr_text(histogram)}};
}

Json latency(ControlState& state, const std::string& id) {
  const std::vector<LatencyBlock> latencies = state.profiles.latencies(id);
  const std::vector<std::string> groups = state.profiles.group_names(id);
  const auto& profile = state.profiles.find(id).source.parsed;
  Json templates = Json::array();
  uint64_t text = 0;
  for (size_t t = 0; t < latencies.size(); ++t) {
    Json entry{{"template", t}, {"group", nullptr}};
    if (const uint32_t group = profile->templates[t].group; group != 0)
      entry["group"] = groups[group - 1];
    for (size_t k = 0; k < kLatencyKinds; ++k) {
      entry[kNames[k]] = kind(latencies[t].kinds[k]);
      text += entry[kNames[k]]["hdr"].get_ref<const std::string&>().size() + kTextPerKind;
    }
    state.budgets.replies.require(text, fmt::format("latency of templates 0 to {}", t));
    templates.push_back(std::move(entry));
  }
  return {{"unit", "us"}, {"templates", std::move(templates)}};
}

}  // namespace

void add_latency_methods(MethodTable& methods, ControlState& state) {
  // Latency streams.
  methods.add("get_latency_stats", Access::reader, {},
              [&state](const Json&) { return statistics(state); });
  methods.add_waiting("start_latency", Access::owner,
                      {{"mult", number},
                       {"src_addr", string},
                       {"dst_addr", string},
                       {"dual_port_addr", string},
                       {"mask", integer}},
                      [&state](const Json& params) { return start_latency(state, params); });
  methods.add("stop_latency", Access::owner, {}, [&state](const Json&) {
    state.profiles.latency().stop();
    return Json{{"stopped", true}};
  });
  methods.add("update_latency", Access::owner, {{"mult", number}}, [&state](const Json& params) {
    state.profiles.latency().update(params.at("mult"));
    return Json::object();
  });

  // Latency of flows.
  methods.add("stackcost_get_latency", Access::reader, {{"profile_id", string}},
              [&state](const Json& params) { return latency(state, params.at("profile_id")); });
}

}  // namespace engine
