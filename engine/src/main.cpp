// astf-engine: an ASTF server that TRex's own clients drive.

#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdio>

#include "io/config.h"
#include "io/engine.h"
#include "rpc/server.h"

namespace {

constexpr int kUsageError = 2;
constexpr int kFailure = 1;
constexpr int kPriority = -10;

std::atomic<bool> stop = false;

void serve(const engine::EngineConfig& config) {
  engine::Engine machine(config);
  const engine::Subjects subjects = machine.subjects();
  for (const std::string& notice : machine.notices())
    fmt::print(stderr, "astf-engine: notice: {}\n", notice);
  engine::RpcServer server(subjects, config);
  fmt::print("astf-engine ready rpc={} async={} ports={} cores={}\n", config.rpc_port,
             config.async_port, subjects.ports.infos().size(), subjects.cores.count());
  fflush(stdout);
  server.run(stop);
}

}  // namespace

int main(int argc, char** argv) {
  std::string path = "/etc/trex_cfg.yaml";
  std::optional<uint32_t> cores;
  std::optional<uint16_t> rpc_port;
  std::optional<uint16_t> async_port;
  std::string bind = "127.0.0.1";
  std::string pcap_folder;
  bool no_huge = false;
  bool no_segmentation_offload = false;
  bool sleep = false;

  CLI::App app("ASTF traffic server for TRex's clients");
  app.set_version_flag("--version", std::string("astf-engine ") + ENGINE_VERSION);
  app.add_option("--cfg", path, "TRex configuration file (YAML)")->capture_default_str();
  app.add_option("-c", cores, "data cores for each port pair")->check(CLI::Range(1, 128));
  app.add_option("--rpc-port", rpc_port, "TCP port of the control plane, else zmq_rpc_port")
      ->check(CLI::Range(1, 65535));
  app.add_option("--async-port", async_port, "TCP port of its events, else zmq_pub_port")
      ->check(CLI::Range(1, 65535));
  app.add_option("--bind", bind, "address the control plane listens on")->capture_default_str();
  app.add_option("--pcap-folder", pcap_folder,
                 "folder for captures that clients may have written (stackcost_start_pcap)")
      ->check(CLI::ExistingDirectory);
  app.add_flag("--no-huge", no_huge, "use ordinary memory pages");
  app.add_flag("--tso-disable", no_segmentation_offload,
               "cut segments here, on every kind of port: no frame is longer than the MSS allows");
  app.add_flag("--sleep", sleep,
               "an idle data core sleeps until a frame arrives at its packet sockets or a flow is "
               "due, instead of polling: for a machine whose clock is its work");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // help, version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "astf-engine: {} (see astf-engine --help)\n", error.what());
    return kUsageError;
  }

  // Data cores that share a CPU with what drives the test come first, or flows open late; without
  // the right to it (CAP_SYS_NICE) they take their chance.
  setpriority(PRIO_PROCESS, 0, kPriority);
  std::signal(SIGINT, [](int) { stop = true; });
  std::signal(SIGTERM, [](int) { stop = true; });
  try {
    engine::EngineConfig config = engine::load_config(path);
    config.cores_per_pair = cores.value_or(config.cores_per_pair);
    config.rpc_port = rpc_port.value_or(config.rpc_port);
    config.async_port = async_port.value_or(config.async_port);
    config.bind = bind;
    config.pcap_folder = pcap_folder;
    config.huge_pages = config.huge_pages && !no_huge;
    config.cut_by_device = !no_segmentation_offload;
    config.sleeps = sleep;
    serve(config);
  } catch (const std::exception& error) {
    fmt::print(stderr, "astf-engine: {}\n", error.what());
    return kFailure;
  }
  return 0;
}
