#include "json/parse_profile.h"

#include <fmt/format.h>

#include "json/json_text.h"
#include "json/parse.h"
#include "net/address_text.h"

namespace engine {
namespace {

using nlohmann::json;

constexpr uint32_t kMaxClients = 50'000'000;  ///< of one range; TRex's limit
constexpr size_t kMaxGroupName = 20;

json parse_text(std::string_view text, uint64_t most_bytes) {
  try {
    return parse_json(text, most_bytes);
  } catch (const JsonTooLarge& error) {
    throw ProfileTooLarge(fmt::format("the profile is too large: {}", error.what()));
  } catch (const JsonError& error) {
    throw ProfileError(fmt::format("the profile is not JSON: {}", error.what()));
  }
}

std::vector<std::string> parse_group_names(const JsonFields& profile) {
  std::vector<std::string> names;
  if (!profile.has("tg_names")) return names;
  for (const json& element : profile.list("tg_names")) {
    if (!element.is_string()) profile.fail("tg_names must be a list of strings");
    names.push_back(element.get<std::string>());
    if (names.back().empty() || names.back().size() > kMaxGroupName)
      profile.fail(fmt::format("template group name {} must have 1 to {} characters", names.size(),
                               kMaxGroupName));
  }
  return names;
}

AddressRange parse_range(const JsonFields& fields) {
  AddressRange range;
  range.first = fields.ipv4("ip_start");
  range.last = fields.ipv4("ip_end");
  if (range.last < range.first)
    fields.fail(fmt::format("IP start: {} is bigger than IP end: {}", fields.text("ip_start"),
                            fields.text("ip_end")));
  const std::string& direction = fields.text("dir");
  if (direction != "c" && direction != "s") fields.fail("dir must be \"c\" or \"s\"");
  range.client = direction == "c";
  const uint32_t most = range.client ? kMaxClients : UINT32_MAX;
  if (range.last - range.first >= most)
    fields.fail(fmt::format("has more than {} addresses", most));
  range.pair_offset = fields.ipv4("ip_offset");
  // `distribution` has no effect in TRex either: addresses are always taken in turn.
  range.per_core =
      fields.has("per_core_distribution") && fields.text("per_core_distribution") == "seq";
  return range;
}

std::vector<AddressRange> parse_ranges(const JsonFields& profile) {
  std::vector<AddressRange> ranges;
  for (const json& element : profile.list("ip_gen_dist_list"))
    ranges.push_back(
        parse_range(JsonFields(element, fmt::format("ip_gen_dist_list {}", ranges.size()))));
  return ranges;
}

}  // namespace

uint64_t Profile::memory() const {
  uint64_t bytes = sizeof *this + templates.capacity() * sizeof(Template) +
                   ranges.capacity() * sizeof(AddressRange);
  for (const Buffer& buffer : buffers) bytes += buffer.memory();
  for (const Program& program : programs)
    bytes += sizeof program + program.commands.capacity() * sizeof(Command);
  for (const Template& one : templates)
    if (one.layer7_map) bytes += 4 * one.layer7_map->offsets.capacity();
  for (const std::vector<std::string>* lines : {&group_names, &notices})
    for (const std::string& line : *lines) bytes += sizeof line + line.capacity();
  return bytes;
}

std::shared_ptr<const Profile> parse_profile(std::string_view text, bool force_ipv6,
                                             uint64_t most_bytes) {
  const json document = parse_text(text, most_bytes);
  const JsonFields fields(document, "profile");
  auto profile = std::make_shared<Profile>();
  profile->buffers = parse_buffers(fields, most_bytes);
  profile->group_names = parse_group_names(fields);
  profile->programs = parse_programs(fields, profile->buffers.size(), profile->group_names.size(),
                                     profile->notices);
  profile->ranges = parse_ranges(fields);
  profile->client_defaults =
      parse_global_tunables(fields, "c_glob_info", force_ipv6, profile->notices);
  // Servers answer in the version they are spoken to.
  profile->server_defaults =
      parse_global_tunables(fields, "s_glob_info", profile->client_defaults.ipv6, profile->notices);
  profile->rampup_s = parse_rampup(fields, profile->notices);
  parse_templates(fields, force_ipv6, *profile);
  return profile;
}

}  // namespace engine
