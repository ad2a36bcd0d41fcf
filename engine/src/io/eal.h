#pragma once
// DPDK's environment: started once per process, and only when a port needs it; and what it says on
// standard error, kept quiet unless it fails.

#include <cstdint>
#include <string>
#include <vector>

#include "control/config.h"

namespace engine {

/// Starts DPDK, quietly and without files, for `pci_devices` (full addresses; empty: the PCI bus is
/// left alone) and `packet_memory_mb`. Without enough free huge pages it goes on with ordinary
/// pages and returns a notice that says how many were missing and how to get them, else "". The
/// calling thread keeps its CPU affinity. Throws ConfigError with DPDK's own words.
std::string start_eal(const EngineConfig& config, const std::vector<std::string>& pci_devices,
                      uint32_t packet_memory_mb);

/// While it lives, what the process writes to standard error goes to memory instead.
class CapturedErrors {
 public:
  CapturedErrors();
  ~CapturedErrors();
  CapturedErrors(const CapturedErrors&) = delete;
  CapturedErrors& operator=(const CapturedErrors&) = delete;

  /// What was written so far, its lines joined by "; ".
  std::string text() const;

 private:
  int memory_;
  int standard_error_;
};

}  // namespace engine
