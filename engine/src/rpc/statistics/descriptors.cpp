#include "rpc/statistics/descriptors.h"

#include <string>
#include <string_view>
#include <vector>

namespace engine {

namespace {

enum class Kind : uint8_t { bar, gauge, counter };

struct Row {
  Kind kind;
  size_t index;  ///< into the gauges or counters
  const char* name;
  const char* units;
  bool always;
  bool error;
  const char* help;
};

constexpr std::string_view kAlways = "always";
constexpr std::string_view kError = "error";

const Row kRows[] = {
#define BAR(caption) {Kind::bar, 0, caption, "", false, false, ""},
#define GAUGE(name, units, shown, help) \
  {Kind::gauge, static_cast<size_t>(Gauge::name), #name, units, #shown == kAlways, false, help},
#define COUNTER(name, severity, help) \
  {Kind::counter, static_cast<size_t>(Counter::name), #name, "", false, #severity == kError, help},
#include "stats/counters.def"
#undef BAR
#undef GAUGE
#undef COUNTER
};

/// Whole numbers as integers, as TRex writes them.
nlohmann::json as_number(double value) {
  const auto whole = static_cast<int64_t>(value);
  if (static_cast<double>(whole) == value) return whole;
  return value;
}

nlohmann::json describe_rows() {
  nlohmann::json list = nlohmann::json::array();
  for (const Row& row : kRows)
    list.push_back({{"id", list.size()},
                    {"name", row.name},
                    {"help", row.help},
                    {"units", row.units},
                    {"zero", row.always},
                    {"info", row.error ? "error" : "info"},
                    {"real", row.kind != Kind::bar},
                    {"abs", row.kind != Kind::counter}});
  return list;
}

}  // namespace

const nlohmann::json& counter_descriptors() {
  static const nlohmann::json list = describe_rows();
  return list;
}

nlohmann::json counter_values(const CounterBlock& counters, const GaugeValues& gauges) {
  nlohmann::json values = nlohmann::json::object();
  size_t id = 0;
  for (const Row& row : kRows) {
    const std::string key = std::to_string(id++);
    if (row.kind == Kind::counter && counters.values[row.index] != 0)
      values[key] = counters.values[row.index];
    if (row.kind == Kind::gauge && (row.always || gauges[row.index] != 0))
      values[key] = as_number(gauges[row.index]);
  }
  return values;
}

}  // namespace engine
