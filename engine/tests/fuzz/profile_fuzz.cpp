// Any bytes as a profile: a ProfileError, or a profile whose every reference and span is good.
// script/fuzz builds and runs it.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "astf/address_pool.h"
#include "astf/profile.h"
#include "astf/server_table.h"
#include "json/parse_profile.h"

namespace engine {
namespace {

void require(bool good) {
  if (!good) std::abort();
}

void check_buffer(const Buffer& buffer) {
  const uint32_t length = std::min(buffer.size(), Buffer::kMaxSpan);
  for (const uint32_t offset : {0u, (buffer.size() - length) / 2, buffer.size() - length}) {
    // Reads every byte, so that the sanitizer sees a span that is not there.
    const ChecksumSum added = checksum_add(0, buffer.at(offset, length), length);
    require(checksum_fold(added) % 0xffff == checksum_fold(buffer.sum(offset, length)) % 0xffff);
  }
}

void check_program(const Program& program, const Profile& profile) {
  require(!program.commands.empty() && program.commands.back().operation == Operation::end);
  for (const Command& command : program.commands) {
    require(command.target < program.commands.size());
    switch (command.operation) {
      case Operation::tx:
      case Operation::tx_msg:
        require(command.index < profile.buffers.size());
        break;
      case Operation::set_template:
        require(command.index >= 1 && command.index <= profile.group_names.size());
        break;
      case Operation::add_tick_stats:
        require(command.amount < kVariables);
        break;
      default:
        require(command.index < kVariables);
    }
  }
}

void check_template(const Template& t, const Profile& profile) {
  require(t.client_program < profile.programs.size());
  require(t.server_program < profile.programs.size());
  require(t.group <= profile.group_names.size());
  require(profile.ranges.at(t.client_range).client && !profile.ranges.at(t.server_range).client);
  require(t.cps >= 0 && t.cps <= 1e9);
  if (!t.layer7_map) return;
  require(t.layer7_map->masks.size() == t.layer7_map->offsets.size());
  require(t.layer7_map->values.size() == t.layer7_map->offsets.size());
}

void check_range(const AddressRange& range) {
  for (uint32_t thread = 0; thread < 4; ++thread) try {
      require(slice_of(range, thread, 4, 2).count > 0);
    } catch (const ProfileError&) {
    }
}

void check(const Profile& profile) {
  for (const Buffer& buffer : profile.buffers) check_buffer(buffer);
  for (const Program& program : profile.programs) check_program(program, profile);
  for (const AddressRange& range : profile.ranges) check_range(range);
  ServerTable table;
  for (uint32_t i = 0; i < profile.templates.size(); ++i) {
    const Template& t = profile.templates[i];
    check_template(t, profile);
    const bool tcp = profile.programs[t.server_program].stream;
    try {
      table.add(tcp, t.server_port, t.server_first, t.server_last, i);
    } catch (const ProfileError&) {
      continue;
    }
    require(table.find(tcp, t.server_port, t.server_first) == i);
    require(table.find(tcp, t.server_port, t.server_last) == i);
  }
}

}  // namespace
}  // namespace engine

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    engine::check(*engine::parse_profile(text, size % 2 == 1));
  } catch (const engine::ProfileError&) {
  }
  return 0;
}
