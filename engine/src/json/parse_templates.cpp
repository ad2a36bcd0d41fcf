#include <fmt/format.h>

#include <cmath>

#include "json/parse.h"

namespace engine {
namespace {

constexpr double kMaxCps = 1e9;
constexpr int64_t kMaxOffset = 65534;  ///< of a byte within one payload

uint32_t read_range(const JsonFields& ip_gen, const char* key, bool client,
                    const Profile& profile) {
  const JsonFields fields = ip_gen.object(key);
  const int64_t index = fields.integer("index", 0, UINT32_MAX);
  if (static_cast<size_t>(index) >= profile.ranges.size())
    fields.fail(fmt::format("index is {}, but there is no such range in ip_gen_dist_list", index));
  if (profile.ranges[static_cast<size_t>(index)].client != client)
    fields.fail(
        fmt::format("range {} is not of {} addresses", index, client ? "client" : "server"));
  return static_cast<uint32_t>(index);
}

uint32_t read_program(const JsonFields& fields, const Profile& profile) {
  const int64_t index = fields.integer("program_index", 0, UINT32_MAX);
  if (static_cast<size_t>(index) >= profile.programs.size())
    fields.fail(fmt::format("program_index is {}, but there is no such program", index));
  return static_cast<uint32_t>(index);
}

uint16_t read_port(const JsonFields& fields) {
  return static_cast<uint16_t>(fields.integer("port", 1, UINT16_MAX));
}

/// The defaults of a side as parse_global_tunables has read them, and the same of IPv6.
SideTunables side_tunables(const JsonFields& profile, const char* key, const Tunables& all) {
  std::vector<std::string> again;  // they were noticed before
  return {all, parse_global_tunables(profile, key, true, again)};
}

void read_client(const JsonFields& fields, const SideTunables& global, bool force_ipv6,
                 Profile& profile, Template& into) {
  into.client_program = read_program(fields, profile);
  const JsonFields ip_gen = fields.object("ip_gen");
  into.client_range = read_range(ip_gen, "dist_client", true, profile);
  into.server_range = read_range(ip_gen, "dist_server", false, profile);
  into.destination_port = read_port(fields);
  if (fields.has("cps")) into.cps = fields.number("cps", 0, kMaxCps);
  into.limit = static_cast<uint64_t>(fields.integer_or("limit", 0, UINT32_MAX, 0));
  into.limit_is_concurrent = fields.flag("cont");
  into.client_tunables = parse_template_tunables(fields, global, force_ipv6, profile.notices);
}

/// Buffers whose bytes tell which template a client's flow is of: the first one of a stream, every
/// datagram.
std::vector<const Buffer*> first_payload(const JsonFields& place, const Program& program,
                                         const Profile& profile) {
  std::vector<const Buffer*> buffers;
  for (const Command& command : program.commands) {
    if (command.operation == Operation::rx)
      place.fail("l7_map without value needs a client program that sends first");
    if (command.operation != Operation::tx && command.operation != Operation::tx_msg) continue;
    buffers.push_back(&profile.buffers[command.index]);
    if (program.stream) break;
  }
  if (buffers.empty()) place.fail("l7_map needs value, as the client program sends nothing");
  return buffers;
}

void take_values_from_client(const JsonFields& fields, const Profile& profile,
                             const Program& program, Layer7Map& map) {
  const std::vector<const Buffer*> buffers = first_payload(fields, program, profile);
  for (size_t i = 0; i < map.offsets.size(); ++i) {
    const auto byte = [&](const Buffer& buffer) {
      if (map.offsets[i] >= buffer.size())
        fields.fail(fmt::format("offset {} lies beyond the client's first payload of {} bytes",
                                map.offsets[i], buffer.size()));
      return static_cast<uint8_t>(*buffer.at(map.offsets[i], 1) & map.masks[i]);
    };
    map.values.push_back(byte(*buffers[0]));
    for (const Buffer* buffer : buffers)
      if (byte(*buffer) != map.values[i])
        fields.fail(fmt::format("the client's datagrams differ at offset {}", map.offsets[i]));
  }
}

Layer7Map read_layer7_map(const JsonFields& fields, const Profile& profile,
                          const Program& client_program) {
  Layer7Map map;
  for (const int64_t offset : fields.integers("offset", 0, kMaxOffset)) {
    if (!map.offsets.empty() && offset < map.offsets.back()) fields.fail("offset must ascend");
    map.offsets.push_back(static_cast<uint16_t>(offset));
  }
  if (map.offsets.empty()) fields.fail("offset is empty");
  map.masks.assign(map.offsets.size(), UINT8_MAX);
  if (fields.has("mask")) {
    const std::vector<int64_t> masks = fields.integers("mask", 0, UINT8_MAX);
    for (size_t i = 0; i < std::min(masks.size(), map.masks.size()); ++i)
      map.masks[i] = static_cast<uint8_t>(masks[i]);
  }
  if (!fields.has("value")) {
    take_values_from_client(fields, profile, client_program, map);
    return map;
  }
  for (const int64_t value : fields.integers("value", 0, UINT8_MAX))
    map.values.push_back(static_cast<uint8_t>(value));
  if (map.values.size() != map.offsets.size())
    fields.fail("value must have as many elements as offset");
  return map;
}

void read_server(const JsonFields& fields, const SideTunables& global, bool force_ipv6,
                 Profile& profile, Template& into) {
  into.server_program = read_program(fields, profile);
  if (profile.programs[into.server_program].opens_flows)
    fields.fail("only a client's program can have exec_template");
  const auto& assoc = fields.list("assoc");
  if (assoc.empty()) fields.fail("assoc must have one element");
  // TRex evaluates the first element only.
  const JsonFields where(assoc[0], fields.place() + ", assoc");
  into.server_port = read_port(where);
  if (where.has("ip_start")) into.server_first = where.ipv4("ip_start");
  if (where.has("ip_end")) into.server_last = where.ipv4("ip_end");
  if (into.server_first > into.server_last) where.fail("ip_start is greater than ip_end");
  if (where.has("l7_map") && where.object("l7_map").has("offset"))
    into.layer7_map =
        read_layer7_map(where.object("l7_map"), profile, profile.programs[into.client_program]);
  into.server_tunables = parse_template_tunables(
      fields, global, force_ipv6 || into.client_tunables.ipv6, profile.notices);
}

}  // namespace

void parse_templates(const JsonFields& profile, bool force_ipv6, Profile& into) {
  const SideTunables clients = side_tunables(profile, "c_glob_info", into.client_defaults);
  const SideTunables servers = side_tunables(profile, "s_glob_info", into.server_defaults);
  for (const nlohmann::json& element : profile.list("templates")) {
    const JsonFields fields(element, fmt::format("template {}", into.templates.size()));
    Template& added = into.templates.emplace_back();
    read_client(fields.object("client_template"), clients, force_ipv6, into, added);
    read_server(fields.object("server_template"), servers, force_ipv6, into, added);
    if (into.programs[added.client_program].stream != into.programs[added.server_program].stream)
      fields.fail("one of its programs is for TCP, the other for UDP");
    added.group = static_cast<uint32_t>(
        fields.integer_or("tg_id", 0, static_cast<int64_t>(into.group_names.size()), 0));
  }
  if (into.templates.empty()) profile.fail("templates is empty");
}

}  // namespace engine
