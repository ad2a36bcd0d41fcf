#pragma once
// Profiles as clients upload them.

namespace engine {

/// One HTTP-like template in group "A".
inline constexpr const char* kProfileText = R"({
  "buf_list": ["R0VU", "T0s="],
  "ip_gen_dist_list": [
    {"ip_start": "16.0.0.1", "ip_end": "16.0.0.200", "distribution": "seq", "dir": "c",
     "ip_offset": "1.0.0.0"},
    {"ip_start": "48.0.0.1", "ip_end": "48.0.0.10", "distribution": "seq", "dir": "s",
     "ip_offset": "1.0.0.0"}],
  "program_list": [
    {"commands": [{"name": "tx", "buf_index": 0}, {"name": "rx", "min_bytes": 2}]},
    {"commands": [{"name": "rx", "min_bytes": 3}, {"name": "tx", "buf_index": 1}]}],
  "templates": [{
    "client_template": {"program_index": 0, "port": 80, "cps": 1, "cluster": {},
                        "ip_gen": {"dist_client": {"index": 0}, "dist_server": {"index": 1}}},
    "server_template": {"program_index": 1, "assoc": [{"port": 80}]},
    "tg_id": 1}],
  "tg_names": ["A"]})";

}  // namespace engine
