#pragma once
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "astf/profile.h"
#include "json/parse_profile.h"

namespace engine {

/// A small valid profile, as the TRex client would write it, for tests to change: program 0 is the
/// client's, 1 the server's; 2 is a UDP program with one datagram.
inline nlohmann::json small_profile() {
  return nlohmann::json::parse(R"({
    "buf_list": ["R0VU", {"base": "YWJj", "size": 100, "fill": "eno="}],
    "ip_gen_dist_list": [
      {"ip_start": "16.0.0.0", "ip_end": "16.0.0.255", "distribution": "seq", "dir": "c",
       "ip_offset": "1.0.0.0"},
      {"ip_start": "48.0.0.0", "ip_end": "48.0.255.255", "distribution": "rand", "dir": "s",
       "ip_offset": "1.0.0.0"}],
    "program_list": [
      {"commands": [{"name": "tx", "buf_index": 0}, {"name": "rx", "min_bytes": 100}]},
      {"commands": [{"name": "rx", "min_bytes": 3}, {"name": "tx", "buf_index": 1}]},
      {"commands": [{"name": "tx_msg", "buf_index": 0}], "stream": false}],
    "templates": [
      {"client_template": {"program_index": 0, "port": 80, "cps": 2.5, "cluster": {},
        "ip_gen": {"dist_client": {"index": 0}, "dist_server": {"index": 1}}},
       "server_template": {"program_index": 1, "assoc": [{"port": 80}]}}]
  })");
}

/// Parses a profile as the engine receives it: as text.
inline std::shared_ptr<const Profile> profile_of(const nlohmann::json& profile,
                                                 bool force_ipv6 = false) {
  return parse_profile(profile.dump(), force_ipv6);
}

}  // namespace engine
