#pragma once
// DPDK's memory of one test process: ordinary pages, or huge ones.

#include <gtest/gtest.h>
#include <rte_eal.h>

#include <cstdlib>

#include "control/config.h"
#include "io/eal.h"

namespace engine {

/// Starts DPDK for all tests of this process, on ordinary pages, or on huge pages when
/// ENGINE_TEST_HUGE_PAGES is set.
inline void start_test_memory() {
  constexpr uint32_t kMemoryMb = 256;
  EngineConfig config;
  config.huge_pages = std::getenv("ENGINE_TEST_HUGE_PAGES") != nullptr;
  start_eal(config, {}, kMemoryMb);
  ASSERT_EQ(rte_eal_has_hugepages() != 0, config.huge_pages) << "too few huge pages are free";
}

}  // namespace engine
