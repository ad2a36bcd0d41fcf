#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace engine::netsim {

/// A program of JSON commands.
inline nlohmann::json program(const std::string& commands, bool stream = true) {
  return {{"commands", nlohmann::json::parse("[" + commands + "]")}, {"stream", stream}};
}

/// A template in group `group` (0: none) between program `client` and program `server`.
inline nlohmann::json flow_template(uint32_t client, uint32_t server, double cps, uint32_t group,
                                    nlohmann::json association = {{"port", 80}}) {
  nlohmann::json made = {
      {"client_template",
       {{"program_index", client},
        {"port", association["port"]},
        {"ip_gen", {{"dist_client", {{"index", 0}}}, {"dist_server", {{"index", 1}}}}},
        {"cluster", nlohmann::json::object()}}},
      {"server_template",
       {{"program_index", server}, {"assoc", nlohmann::json::array({association})}}}};
  if (cps > 0) made["client_template"]["cps"] = cps;
  if (group > 0) made["tg_id"] = group;
  return made;
}

/// Buffers, as text: "AAAA", "BBBB", "CCCC" and 1000 bytes.
inline std::string several(const std::vector<nlohmann::json>& programs,
                           const std::vector<nlohmann::json>& templates,
                           const std::vector<std::string>& groups) {
  const nlohmann::json range = {{"distribution", "seq"}, {"ip_offset", "1.0.0.0"}};
  nlohmann::json clients = range;
  clients.update({{"dir", "c"}, {"ip_start", "16.0.0.1"}, {"ip_end", "16.0.0.9"}});
  nlohmann::json servers = range;
  servers.update({{"dir", "s"}, {"ip_start", "48.0.0.1"}, {"ip_end", "48.0.0.9"}});
  return nlohmann::json{
      {"buf_list", {"QUFBQQ==", "QkJCQg==", "Q0NDQw==", {{"base", "eA=="}, {"size", 1000}}}},
      {"ip_gen_dist_list", {clients, servers}},
      {"program_list", programs},
      {"templates", templates},
      {"tg_names", groups}}
      .dump();
}

}  // namespace engine::netsim
