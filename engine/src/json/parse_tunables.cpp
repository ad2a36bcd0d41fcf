#include <fmt/format.h>

#include <string_view>
#include <type_traits>

#include "json/parse.h"

namespace engine {
namespace {

/// One tunable with the range TRex documents ("Tunables reference").
struct Rule {
  const char* section;
  const char* key;
  int64_t least;
  int64_t most;
  bool per_template;
  void (*apply)(Tunables&, int64_t);
};

template <auto Member>
void set(Tunables& tunables, int64_t value) {
  auto& member = tunables.*Member;
  member = static_cast<std::remove_reference_t<decltype(member)>>(value);
}

void set_no_delay(Tunables& tunables, int64_t value) {
  tunables.nagle = (value & 1) == 0;
  tunables.push_always = (value & 2) != 0;
}

void set_tos(Tunables& tunables, int64_t value) {
  tunables.tos =
      static_cast<uint8_t>(value & ~int64_t{1});  // as TRex, which keeps that bit for itself
}

constexpr Rule kRules[] = {
    {"ip", "tos", 0, 255, true, set_tos},
    {"ip", "ttl", 1, 127, true, set<&Tunables::ttl>},
    {"ip", "dont_use_inbound_mac", 0, 1, false, set<&Tunables::dont_use_inbound_mac>},
    {"tcp", "mss", 10, 9216, true, set<&Tunables::mss>},
    {"tcp", "initwnd", 1, 20, true, set<&Tunables::initial_window>},
    {"tcp", "rxbufsize", 1 << 10, 1 << 30, true, set<&Tunables::receive_buffer>},
    {"tcp", "txbufsize", 1 << 10, 1 << 30, true, set<&Tunables::transmit_buffer>},
    {"tcp", "rexmtthresh", 1, 10, false, set<&Tunables::duplicate_ack_threshold>},
    {"tcp", "do_rfc1323", 0, 1, false, set<&Tunables::timestamps_and_scaling>},
    {"tcp", "do_sack", 0, 1, false, set<&Tunables::sack>},
    {"tcp", "keepinit", 2, 65533, false, set<&Tunables::keep_init_s>},
    {"tcp", "keepidle", 2, 65533, false, set<&Tunables::keep_idle_s>},
    {"tcp", "keepintvl", 2, 65533, false, set<&Tunables::keep_interval_s>},
    {"tcp", "blackhole", 0, 2, false, set<&Tunables::blackhole>},
    {"tcp", "delay_ack_msec", 20, 50000, false, set<&Tunables::delayed_ack_ms>},
    {"tcp", "no_delay", 0, 3, true, set_no_delay},
    {"tcp", "no_delay_counter", 0, 65533, true, set<&Tunables::ack_bytes>},
    {"tcp", "cc_algo", 0, 1, false, set<&Tunables::congestion_control>},
    {"tcp", "do_ecn", 0, 2, false, set<&Tunables::ecn>},
    {"tcp", "reass_maxqlen", 0, 1000, false, set<&Tunables::reassembly_limit>},
};

/// Defaults that go by the IP version. Its header is 20 bytes longer than IPv4's, so the largest
/// segment that fits an MTU of 1,500 bytes is shorter by these (RFC 9293 section 3.7.1).
constexpr uint8_t kTtlV6 = 64;
constexpr uint16_t kMssV6 = 1440;

/// The member's value; nothing, and a notice, when it is out of range.
std::optional<int64_t> read(const JsonFields& section, const char* key, int64_t least, int64_t most,
                            std::vector<std::string>& notices) {
  if (!section.has(key)) return std::nullopt;
  const int64_t value = section.integer(key, INT64_MIN, INT64_MAX);
  if (value >= least && value <= most) return value;
  notices.push_back(fmt::format("{}: {} is {}, not from {} to {}; the default is used",
                                section.place(), key, value, least, most));
  return std::nullopt;
}

/// The upper 96 of an address's 128 bits, given as 16 bytes.
void read_msb(const JsonFields& section, const char* key, std::array<uint32_t, 3>& words) {
  if (!section.has(key)) return;
  const std::vector<int64_t> bytes = section.integers(key, 0, 255);
  if (bytes.size() != 16) section.fail(fmt::format("{} must have 16 elements", key));
  for (size_t i = 0; i < words.size(); ++i) {
    words[i] = 0;
    for (size_t k = 0; k < 4; ++k)
      words[i] = words[i] << 8 | static_cast<uint32_t>(bytes[i * 4 + k]);
  }
}

void read_ipv6(const JsonFields& info, Tunables& tunables) {
  if (!info.has("ipv6")) return;
  const JsonFields section = info.object("ipv6");
  if (section.flag("enable")) tunables.ipv6 = true;  // a template cannot take the global one back
  read_msb(section, "src_msb", tunables.source_msb);
  read_msb(section, "dst_msb", tunables.destination_msb);
}

void read_rules(const JsonFields& info, bool per_template, Tunables& tunables,
                std::vector<std::string>& notices) {
  for (const char* name : {"ip", "tcp"}) {
    if (!info.has(name)) continue;
    const JsonFields section = info.object(name);
    for (const Rule& rule : kRules) {
      if (std::string_view(rule.section) != name || (per_template && !rule.per_template)) continue;
      if (const auto value = read(section, rule.key, rule.least, rule.most, notices))
        rule.apply(tunables, *value);
    }
  }
}

}  // namespace

Tunables parse_global_tunables(const JsonFields& profile, const char* key, bool force_ipv6,
                               std::vector<std::string>& notices) {
  Tunables tunables;
  tunables.ipv6 = force_ipv6;
  if (profile.has(key)) read_ipv6(profile.object(key), tunables);
  if (tunables.ipv6) {
    tunables.ttl = kTtlV6;
    tunables.mss = kMssV6;
  }
  if (profile.has(key)) read_rules(profile.object(key), false, tunables, notices);
  return tunables;
}

Tunables parse_template_tunables(const JsonFields& client_or_server, const SideTunables& global,
                                 bool force_ipv6, std::vector<std::string>& notices) {
  const bool tuned = client_or_server.has("glob_info");
  Tunables tunables = force_ipv6 ? global.ipv6 : global.all;
  if (tuned) read_ipv6(client_or_server.object("glob_info"), tunables);
  if (tunables.ipv6) {
    tunables = global.ipv6;
    if (tuned) read_ipv6(client_or_server.object("glob_info"), tunables);
  }
  if (tuned) read_rules(client_or_server.object("glob_info"), true, tunables, notices);
  return tunables;
}

double parse_rampup(const JsonFields& profile, std::vector<std::string>& notices) {
  if (!profile.has("c_glob_info")) return 0;
  const JsonFields info = profile.object("c_glob_info");
  if (!info.has("scheduler")) return 0;
  const auto seconds = read(info.object("scheduler"), "rampup_sec", 3, 60000, notices);
  return static_cast<double>(seconds.value_or(0));
}

}  // namespace engine
