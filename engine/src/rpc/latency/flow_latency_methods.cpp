// How long flows took, beyond what TRex tells. docs/rpc-extensions.md describes the answer.

#include <fmt/format.h>
#include <zlib.h>

#include "json/base64.h"
#include "net/address.h"
#include "rpc/methods.h"

namespace engine {

namespace {

using enum ParameterType;

constexpr std::array<const char*, kLatencyKinds> kNames{"connect", "first_byte", "completion"};

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
  const auto& profile = state.profiles.find(id).profile;
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

void add_flow_latency_methods(MethodTable& methods, ControlState& state) {
  methods.add("stackcost_get_latency", Access::reader, {{"profile_id", string}},
              [&state](const Json& params) { return latency(state, params.at("profile_id")); });
}

}  // namespace engine
