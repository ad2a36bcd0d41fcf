// TLS of templates, which TRex does not have; docs/rpc-extensions.md describes it.

#include <fmt/format.h>

#include "rpc/method_table.h"
#include "rpc/methods.h"

namespace engine {

namespace {

using enum ParameterType;

/// Rules of one profile at most, and what is told of a template at most.
constexpr size_t kMostRules = 1'000;
constexpr uint64_t kTextPerTemplate = 2'000;
/// RFC 1035 section 2.3.4, RFC 7301 section 3.1, and lists of names.
constexpr size_t kLongestName = tls::kLongestHostName;
constexpr size_t kLongestProtocol = 255;
constexpr size_t kLongestList = 1'000;
/// Bytes of the key log in one answer.
constexpr size_t kMostKeys = size_t{1} << 20;
/// In the certificate of a server without a name.
constexpr const char* kUnnamed = "stackcost";

std::string text_of(const Json& params, const char* name, size_t longest) {
  const std::string text = params.value(name, "");
  if (text.size() > longest || text.find('\0') != std::string::npos)
    throw bad_parameters(fmt::format("parameter '{}' must have at most {} bytes", name, longest));
  return text;
}

tls::Version version_of(const Json& params) {
  const std::string version = params.value("version", "");
  if (version.empty()) return tls::Version::both;
  if (version == "1.2") return tls::Version::tls12;
  if (version == "1.3") return tls::Version::tls13;
  throw bad_parameters("parameter 'version' must be '1.2' or '1.3'");
}

tls::CertificateKind certificate_of(const Json& params) {
  const std::string kind = params.value("certificate", "P-256");
  if (kind == "P-256") return tls::CertificateKind::p256;
  if (kind == "RSA-2048") return tls::CertificateKind::rsa2048;
  throw bad_parameters("parameter 'certificate' must be 'P-256' or 'RSA-2048'");
}

std::shared_ptr<const tls::Options> options_of(const Json& params) {
  auto options = std::make_shared<tls::Options>();
  options->version = version_of(params);
  options->groups = text_of(params, "group", kLongestList);
  options->ciphers = text_of(params, "cipher", kLongestList);
  options->resumption = params.value("resumption", false);
  options->server_name = text_of(params, "sni", kLongestName);
  options->alpn = text_of(params, "alpn", kLongestProtocol);
  options->key_log = params.value("key_log", false);
  try {
    if (!options->server_name.empty()) tls::check_host_name(options->server_name);
    options->identity = tls::make_identity(
        certificate_of(params), options->server_name.empty() ? kUnnamed : options->server_name);
  } catch (const tls::OptionsError& error) {
    throw bad_parameters(error.what());
  }
  return options;
}

void set_tls(ControlState& state, const Json& params) {
  TlsRule rule;
  if (params.contains("template"))
    rule.index = static_cast<uint32_t>(integer_in(params, "template", 0, UINT32_MAX));
  if (params.contains("port"))
    rule.port = static_cast<uint16_t>(integer_in(params, "port", 1, UINT16_MAX));
  if (params.contains("name")) rule.group = params.at("name").get<std::string>();
  rule.options = options_of(params);
  state.profiles.add_tls(params.at("profile_id"), std::move(rule), kMostRules);
}

Json alerts(const AlertCounts& counts) {
  Json all = Json::object();
  for (size_t alert = 0; alert < counts.size(); ++alert)
    if (counts[alert] != 0) all[tls::alert_name(static_cast<uint8_t>(alert))] = counts[alert];
  return all;
}

Json side(const TlsCounts& counts) {
  return {{"handshakes_full", counts.full},
          {"handshakes_resumed", counts.resumed},
          {"failed", counts.failed},
          {"ended_in_handshake", counts.ended},
          {"not_tls", counts.not_tls},
          {"without_alpn", counts.without_protocol},
          {"truncated", counts.truncated},
          {"alerts_sent", alerts(counts.alerts_sent)},
          {"alerts_received", alerts(counts.alerts_received)},
          {"sent_bytes", counts.sent_bytes},
          {"sent_records", counts.sent_records},
          {"received_bytes", counts.received_bytes},
          {"received_records", counts.received_records},
          {"lacked_memory", counts.lacked_memory},
          {"cut_segments", counts.cut_segments},
          {"keys_not_kept", counts.keys_not_kept},
          {"handshake_steps", counts.steps},
          {"handshake_time_us", counts.step_time / kMicrosecond},
          {"waiting", counts.waiting},
          {"most_waiting", counts.most_waiting},
          {"waited_us", counts.waited / kMicrosecond},
          {"longest_waited_us", counts.longest_waited / kMicrosecond}};
}

Json get_tls(ControlState& state, const std::string& id) {
  const std::vector<TlsBlock> blocks = state.profiles.report(id).tls;
  state.budgets.replies.require(blocks.size() * kTextPerTemplate, "TLS of the templates");
  Json templates = Json::array();
  for (size_t index = 0; index < blocks.size(); ++index)
    if (blocks[index].used)
      templates.push_back({{"template", index},
                           {"client", side(blocks[index].sides[index_of(Side::client)])},
                           {"server", side(blocks[index].sides[index_of(Side::server)])}});
  return {{"templates", std::move(templates)}};
}

}  // namespace

void add_tls_methods(MethodTable& methods, ControlState& state) {
  methods.add("stackcost_set_tls", Access::owner,
              {{"profile_id", string},
               optional("template", integer),
               optional("port", integer),
               optional("name", string),
               optional("version", string),
               optional("group", string),
               optional("cipher", string),
               optional("certificate", string),
               optional("resumption", boolean),
               optional("sni", string),
               optional("alpn", string),
               optional("key_log", boolean)},
              [&state](const Json& params) {
                set_tls(state, params);
                return Json::object();
              });
  methods.add(
      "stackcost_take_tls_keys", Access::owner, {{"profile_id", string}},
      [&state](const Json& params) {
        state.budgets.replies.require(kMostKeys, "keys of TLS");
        return Json{{"lines", state.profiles.take_tls_keys(params.at("profile_id"), kMostKeys)}};
      });
  methods.add("stackcost_get_tls", Access::reader, {{"profile_id", string}},
              [&state](const Json& params) { return get_tls(state, params.at("profile_id")); });
}

}  // namespace engine
