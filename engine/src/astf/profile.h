#pragma once
// A parsed and validated ASTF profile: immutable, shared by all data cores.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "flow/buffer.h"
#include "flow/tunables.h"
#include "program/program.h"

namespace engine {

/// What is wrong with a profile, in words for its author: which template, program, command and key.
struct ProfileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A profile that takes more memory than it may.
struct ProfileTooLarge : ProfileError {
  using ProfileError::ProfileError;
};

/// An inclusive range of IPv4 addresses (ip_gen_dist_list), host order.
struct AddressRange {
  uint32_t first = 0;
  uint32_t last = 0;
  uint32_t pair_offset = 0;  ///< added once per port pair
  bool client = true;
  bool per_core = false;  ///< per_core_distribution "seq": split among the cores of a pair only
};

/// Selects a server template by bytes of the first payload (l7_map).
struct Layer7Map {
  std::vector<uint16_t> offsets;
  std::vector<uint8_t> masks;
  std::vector<uint8_t> values;
};

/// One template: what a client opens and what the server answers.
struct Template {
  // client side
  uint32_t client_program = 0;
  uint32_t client_range = 0;  ///< index into Profile::ranges
  uint32_t server_range = 0;
  uint16_t destination_port = 0;
  double cps = 0;      ///< new flows per second at multiplier 1; 0: only by exec_template
  uint64_t limit = 0;  ///< 0: none
  bool limit_is_concurrent = false;  ///< `cont`
  Tunables client_tunables;
  // server side
  uint32_t server_program = 0;
  uint16_t server_port = 0;
  uint32_t server_first = 0;  ///< addresses answered, host order, inclusive
  uint32_t server_last = UINT32_MAX;
  std::optional<Layer7Map> layer7_map;
  Tunables server_tunables;
  // both
  uint32_t group = 0;  ///< tg_id; 0: none
};

struct Profile {
  std::vector<Buffer> buffers;
  std::vector<Program> programs;
  std::vector<AddressRange> ranges;
  std::vector<Template> templates;
  std::vector<std::string> group_names;  ///< group n is group_names[n - 1]
  Tunables client_defaults;              ///< c_glob_info, for what no template decides
  Tunables server_defaults;
  double rampup_s = 0;               ///< scheduler.rampup_sec; 0: none
  std::vector<std::string> notices;  ///< what was passed over: tunables out of range

  /// Bytes of memory held.
  uint64_t memory() const;
};

}  // namespace engine
