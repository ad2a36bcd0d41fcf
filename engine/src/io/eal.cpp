#include "io/eal.h"

#include <fmt/format.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace engine {

CapturedErrors::CapturedErrors()
    : memory_(memfd_create("errors", MFD_CLOEXEC)), standard_error_(dup(STDERR_FILENO)) {
  fflush(stderr);
  dup2(memory_, STDERR_FILENO);
}

CapturedErrors::~CapturedErrors() {
  fflush(stderr);
  dup2(standard_error_, STDERR_FILENO);
  close(standard_error_);
  close(memory_);
}

std::string CapturedErrors::text() const {
  std::string text;
  std::array<char, 4096> part;
  ssize_t length = 0;
  for (off_t at = 0; (length = pread(memory_, part.data(), part.size(), at)) > 0; at += length)
    text.append(part.data(), static_cast<size_t>(length));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (size_t at = 0; (at = text.find('\n', at)) != text.npos;) text.replace(at, 1, "; ");
  return text;
}

namespace {

/// Memory in free huge pages of all sizes (/sys/kernel/mm/hugepages).
uint64_t free_huge_mb() {
  uint64_t kilobytes = 0;
  std::error_code ignored;
  for (const auto& size :
       std::filesystem::directory_iterator("/sys/kernel/mm/hugepages", ignored)) {
    uint64_t page_kb = 0;
    uint64_t pages = 0;
    std::ifstream(size.path() / "free_hugepages") >> pages;
    if (sscanf(size.path().filename().c_str(), "hugepages-%lukB", &page_kb) == 1)
      kilobytes += page_kb * pages;
  }
  return kilobytes / 1024;
}

/// The first CPU this thread may run on: DPDK wants to pin it and must be given one it can have.
int first_cpu(const cpu_set_t& cpus) {
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &cpus)) return cpu;
  return 0;
}

}  // namespace

std::string start_eal(const EngineConfig& config, const std::vector<std::string>& pci_devices,
                      uint32_t packet_memory_mb) {
  static bool started = false;
  if (started) return "";
  cpu_set_t cpus;
  sched_getaffinity(0, sizeof cpus, &cpus);

  const uint32_t memory_mb = config.memory_mb > 0 ? config.memory_mb : packet_memory_mb;
  const uint64_t free_mb = free_huge_mb();
  const bool huge = config.huge_pages && free_mb >= memory_mb;
  std::vector<std::string> arguments = {"astf-engine", "--no-telemetry",
                                        "--no-shconf", "--log-level=notice",
                                        "--lcores",    fmt::format("0@{}", first_cpu(cpus))};
  // Where DPDK goes by physical addresses, as with vhost-user, no buffer crosses a page, and an
  // ordinary one holds a single buffer.
  const uint32_t ordinary_mb = config.memory_mb > 0 ? memory_mb : 2 * memory_mb;
  if (huge)
    arguments.push_back("--in-memory");
  else
    arguments.insert(arguments.end(), {"--no-huge", "-m", std::to_string(ordinary_mb)});
  if (!config.prefix.empty()) arguments.push_back("--file-prefix=" + config.prefix);
  if (pci_devices.empty()) arguments.push_back("--no-pci");
  for (const std::string& device : pci_devices) arguments.insert(arguments.end(), {"-a", device});

  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  const CapturedErrors errors;
  const int result = rte_eal_init(static_cast<int>(argv.size()), argv.data());
  sched_setaffinity(0, sizeof cpus, &cpus);
  if (result < 0)
    throw ConfigError(
        fmt::format("DPDK does not start: {} ({})", rte_strerror(rte_errno), errors.text()));
  started = true;
  if (huge || !config.huge_pages) return "";
  uint64_t pages = 0;
  std::ifstream("/proc/sys/vm/nr_hugepages") >> pages;
  return fmt::format(
      "{} MB of free huge pages, {} MB needed: going on with ordinary pages, which is slower; for "
      "huge "
      "pages: sysctl vm.nr_hugepages={}",
      free_mb, memory_mb, pages + (memory_mb - free_mb + 1) / 2);
}

}  // namespace engine
