// Any bytes as a configuration file: a ConfigError, or a configuration within its bounds.
// script/fuzz builds and runs it.

#include <cstdlib>

#include "io/config.h"

namespace engine {
namespace {

void require(bool good) {
  if (!good) std::abort();
}

void check(const EngineConfig& config) {
  require(!config.ports.empty() && config.ports.size() % 2 == 0);
  require(config.ports.size() <= kMostPorts);
  require(config.cores_per_pair >= 1 && config.cores_per_pair <= 128);
  require(config.max_flows >= 1 && config.rpc_port != 0 && config.async_port != 0);
  require(!config.control_cpu || *config.control_cpu <= 1023);
  for (const uint32_t cpu : config.data_cpus) require(cpu <= 1023);
  for (size_t i = 0; i < config.ports.size(); ++i) {
    const PortAddress& address = config.ports[i].address;
    require(address.tags.any() || address.tags.inner == 0);
    require(!address.gateway || address.ipv4);
    require(!address.ipv6_gateway || address.ipv6);
    require((config.ports[i].device == "wire") == (config.ports[i ^ 1].device == "wire"));
  }
}

}  // namespace
}  // namespace engine

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    engine::check(engine::parse_config(text, "fuzzed.yaml"));
  } catch (const engine::ConfigError&) {
  }
  return 0;
}
