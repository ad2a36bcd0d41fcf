#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "json/parse.h"

namespace engine {
namespace {

enum class Protocol : uint8_t { any, tcp, udp };

struct CommandName {
  std::string_view name;
  Operation operation;
  Protocol protocol;
};

constexpr CommandName kCommands[] = {
    {"tx", Operation::tx, Protocol::tcp},
    {"rx", Operation::rx, Protocol::tcp},
    {"tx_msg", Operation::tx_msg, Protocol::udp},
    {"rx_msg", Operation::rx_msg, Protocol::udp},
    {"keepalive", Operation::keepalive, Protocol::udp},
    {"close_msg", Operation::close_msg, Protocol::udp},
    {"delay", Operation::delay, Protocol::any},
    {"delay_rnd", Operation::delay_rnd, Protocol::any},
    {"connect", Operation::connect, Protocol::tcp},
    {"reset", Operation::reset, Protocol::tcp},
    {"nc", Operation::nc, Protocol::tcp},
    {"set_var", Operation::set_var, Protocol::any},
    {"add_var", Operation::add_var, Protocol::any},
    {"set_tick_var", Operation::set_tick_var, Protocol::any},
    {"add_tick_var", Operation::add_tick_var, Protocol::any},
    {"jmp_nz", Operation::jmp_nz, Protocol::any},
    {"jmp_dp", Operation::jmp_dp, Protocol::any},
    {"jmp_cmp", Operation::jmp_cmp, Protocol::any},
    {"add_stats", Operation::add_stats, Protocol::any},
    {"add_tick_stats", Operation::add_tick_stats, Protocol::any},
    {"tx_mode", Operation::tx_mode, Protocol::tcp},
    {"set_template", Operation::set_template, Protocol::any},
    {"exec_template", Operation::exec_template, Protocol::any},
};

constexpr std::pair<std::string_view, Comparison> kComparisons[] = {
    {"gt", Comparison::greater},    {"lt", Comparison::less},
    {"eq", Comparison::equal},      {"ge", Comparison::greater_equal},
    {"le", Comparison::less_equal}, {"ne", Comparison::not_equal},
};

constexpr size_t kMaxCommands = 65000;  ///< a flow counts its commands in 16 bits
constexpr uint32_t kUserCounters = 4;

/// Parses the commands of one program.
class ProgramParser {
 public:
  ProgramParser(const JsonFields& fields, size_t buffers, size_t groups,
                std::vector<std::string>& notices)
      : fields_(fields), buffers_(buffers), groups_(groups), notices_(notices) {}

  Program parse() {
    program_.stream = !fields_.has("stream") || fields_.flag("stream");
    read_addon();
    const auto& list = fields_.list("commands");
    if (list.size() > kMaxCommands)
      fields_.fail(fmt::format("has {} commands, at most {} can be", list.size(), kMaxCommands));
    count_ = list.size();
    program_.commands.reserve(count_ + 1);
    for (const nlohmann::json& element : list) add(element);
    program_.commands.push_back({});
    program_.connects_first =
        program_.stream && needs_connection(program_.commands.front().operation);
    check_pauses(list);
    return std::move(program_);
  }

 private:
  /// TRex's only add-on takes times of a UDP program's messages. The program runs without it just
  /// as well; the engine takes the times of all flows anyway.
  void read_addon() {
    if (!fields_.has("addon")) return;
    const std::string& name = fields_.text("addon");
    if (name != "latency" || program_.stream)
      fields_.fail(fmt::format("add-on \"{}\" is not supported", name));
    notices_.push_back(
        fmt::format("{}: runs without its add-on \"latency\"; stackcost_get_latency "
                    "has the times of its flows",
                    fields_.place()));
  }

  void add(const nlohmann::json& element) {
    const size_t number = program_.commands.size();
    const std::string place = fmt::format("{}, command {}", fields_.place(), number);
    const JsonFields unnamed(element, place);
    const std::string& name = unnamed.text("name");
    const JsonFields fields(element, fmt::format("{} ({})", place, name));
    const auto known = std::ranges::find(kCommands, name, &CommandName::name);
    if (known == std::end(kCommands)) fields.fail("is no command");
    if (known->protocol == (program_.stream ? Protocol::udp : Protocol::tcp))
      fields.fail(program_.stream ? "only a UDP program (stream false) can have this"
                                  : "only a TCP program (stream true) can have this");
    if (known->operation == Operation::connect && number != 0) fields.fail("must come first");
    if ((known->operation == Operation::reset || known->operation == Operation::nc) &&
        number + 1 != count_)
      fields.fail("must come last");
    Command command;
    command.operation = known->operation;
    read_arguments(fields, command);
    program_.commands.push_back(command);
  }

  /// Refuses a program that comes to a command from which on it only jumps: no way from there leads
  /// to one that `pauses`. Where a way depends on variables, the interpreter finds out.
  void check_pauses(const nlohmann::json& list) const {
    const std::vector<Command>& commands = program_.commands;
    std::vector<std::vector<uint32_t>> ways(commands.size());
    std::vector<std::vector<uint32_t>> back(commands.size());
    std::vector<uint32_t> pausing;
    for (uint32_t at = 0; at < commands.size(); ++at) {
      const Command& command = commands[at];
      const bool jumps = command.operation == Operation::jmp_nz ||
                         command.operation == Operation::jmp_dp ||
                         command.operation == Operation::jmp_cmp;
      const bool always =
          command.operation == Operation::jmp_cmp && command.comparison == Comparison::always;
      if (jumps) ways[at].push_back(command.target);
      if (!always && at + 1 < commands.size()) ways[at].push_back(at + 1);
      for (const uint32_t next : ways[at]) back[next].push_back(at);
      if (pauses(command)) pausing.push_back(at);
    }
    const std::vector<bool> reached = reachable(ways, {0});
    const std::vector<bool> ends = reachable(back, pausing);
    for (uint32_t at = 0; at < count_; ++at)
      if (reached[at] && !ends[at])
        JsonFields(list[at], fmt::format("{}, command {} ({})", fields_.place(), at,
                                         list[at]["name"].get<std::string>()))
            .fail("from here on it runs for ever, and never sends, receives, waits or ends");
  }

  /// Whether the program does something there that anyone else notices, waits, or asks the clock.
  static bool pauses(const Command& command) {
    switch (command.operation) {
      case Operation::rx:
      case Operation::rx_msg:
        return command.amount != 0;
      case Operation::keepalive:
      case Operation::set_var:
      case Operation::add_var:
      case Operation::set_tick_var:
      case Operation::add_tick_var:
      case Operation::jmp_nz:
      case Operation::jmp_cmp:
      case Operation::add_stats:
      case Operation::add_tick_stats:
      case Operation::tx_mode:
      case Operation::set_template:
        return false;
      default:
        return true;
    }
  }

  static std::vector<bool> reachable(const std::vector<std::vector<uint32_t>>& ways,
                                     std::vector<uint32_t> from) {
    std::vector<bool> reached(ways.size());
    while (!from.empty()) {
      const uint32_t at = from.back();
      from.pop_back();
      if (reached[at]) continue;
      reached[at] = true;
      from.insert(from.end(), ways[at].begin(), ways[at].end());
    }
    return reached;
  }

  void read_arguments(const JsonFields& fields, Command& command) {
    switch (command.operation) {
      case Operation::tx:
      case Operation::tx_msg:
        command.index = index(fields, "buf_index", 0, buffers_, "buffer");
        break;
      case Operation::rx:
        command.amount = difference(fields, "min_bytes");
        command.flag = clear(fields);
        break;
      case Operation::rx_msg:
        command.amount = difference(fields, "min_pkts");
        command.flag = clear(fields);
        break;
      case Operation::keepalive:
        command.amount = microseconds(fields, "msec");
        command.flag = fields.flag("rx_mode");
        break;
      case Operation::delay:
        command.amount = microseconds(fields, "usec");
        break;
      case Operation::delay_rnd:
        command.amount = microseconds(fields, "min_usec");
        command.amount2 = microseconds(fields, "max_usec");
        if (command.amount > command.amount2) fields.fail("min_usec is greater than max_usec");
        break;
      case Operation::set_var:
        command.index = variable(fields, "id");
        command.amount = fields.unsigned_integer("val");
        break;
      case Operation::add_var:
        command.index = variable(fields, "id");
        command.amount = static_cast<uint64_t>(fields.integer("val", INT64_MIN, INT64_MAX));
        break;
      case Operation::set_tick_var:
        command.index = variable(fields, "id");
        break;
      case Operation::add_tick_var:
        command.index = variable(fields, "id");
        command.amount = duration(fields);
        break;
      case Operation::jmp_nz:
        command.index = variable(fields, "id");
        command.target = target(fields);
        break;
      case Operation::jmp_dp:
        program_.asks_clock = true;
        command.index = variable(fields, "id");
        command.amount = duration(fields);
        command.target = target(fields);
        break;
      case Operation::jmp_cmp:
        read_comparison(fields, command);
        command.target = target(fields);
        break;
      case Operation::add_stats:
        command.index = index(fields, "stats_id", 0, kUserCounters, "user counter");
        command.amount = fields.unsigned_integer("val");
        break;
      case Operation::add_tick_stats:
        command.index = index(fields, "stats_id", 0, kUserCounters, "user counter");
        command.amount = variable(fields, "var_id");
        break;
      case Operation::tx_mode:
        command.flag = (fields.integer("flags", 0, UINT32_MAX) & 1) != 0;
        break;
      case Operation::set_template:
        program_.uses_variables = true;
        command.index = index(fields, "tg_id", 1, groups_, "template group");
        break;
      case Operation::exec_template:
        program_.uses_variables = true;
        program_.opens_flows = true;
        break;
      case Operation::connect:
      case Operation::reset:
      case Operation::nc:
      case Operation::close_msg:
      case Operation::end:
        break;
    }
  }

  void read_comparison(const JsonFields& fields, Command& command) {
    if (!fields.has("cmp_op")) return;
    const std::string& name = fields.text("cmp_op");
    const auto known =
        std::ranges::find(kComparisons, name, &std::pair<std::string_view, Comparison>::first);
    if (known == std::end(kComparisons)) fields.fail("cmp_op must be gt, lt, eq, ge, le or ne");
    command.comparison = known->second;
    command.index = variable(fields, "id");
    command.amount = fields.unsigned_integer("cmp_val");
  }

  /// The client writes a running total since the last clear, counted in the order of the list,
  /// whatever jumps there are; TRex's server takes the differences in the same order (astf_db.cpp).
  uint64_t difference(const JsonFields& fields, const char* key) {
    const uint64_t total = std::max(fields.unsigned_integer(key), total_);
    const uint64_t difference = total - total_;
    total_ = total;
    return difference;
  }

  bool clear(const JsonFields& fields) {
    const bool clear = fields.flag("clear");
    if (clear) total_ = 0;
    return clear;
  }

  /// A position in a list of `count` things, or one beyond when they count from 1.
  static uint32_t index(const JsonFields& fields, const char* key, uint32_t first, size_t count,
                        const char* what) {
    const int64_t value = fields.integer(key, INT64_MIN, INT64_MAX);
    if (value < first || value >= static_cast<int64_t>(first + count))
      fields.fail(fmt::format("{} is {}, but there is no such {}", key, value, what));
    return static_cast<uint32_t>(value);
  }

  uint32_t variable(const JsonFields& fields, const char* key) {
    program_.uses_variables = true;
    return index(fields, key, 0, kVariables, "variable");
  }

  static uint64_t microseconds(const JsonFields& fields, const char* key) {
    return static_cast<uint64_t>(fields.integer(key, 0, UINT32_MAX));
  }

  static uint64_t duration(const JsonFields& fields) {
    return static_cast<uint64_t>(fields.number("duration", 0, 1e9) * 1e9);
  }

  /// Offsets count from the jump itself; beyond the last command lies the program's end.
  uint32_t target(const JsonFields& fields) const {
    const auto here = static_cast<int64_t>(program_.commands.size());
    const int64_t target = here + fields.integer("offset", INT32_MIN, INT32_MAX);
    if (target < 0) fields.fail("offset leads to before the first command");
    return static_cast<uint32_t>(std::min(target, static_cast<int64_t>(count_)));
  }

  const JsonFields& fields_;
  size_t buffers_;
  size_t groups_;
  std::vector<std::string>& notices_;
  size_t count_ = 0;
  uint64_t total_ = 0;
  Program program_;
};

}  // namespace

std::vector<Program> parse_programs(const JsonFields& profile, size_t buffers, size_t groups,
                                    std::vector<std::string>& notices) {
  std::vector<Program> programs;
  for (const nlohmann::json& element : profile.list("program_list")) {
    const JsonFields fields(element, fmt::format("program {}", programs.size()));
    programs.push_back(ProgramParser(fields, buffers, groups, notices).parse());
  }
  return programs;
}

}  // namespace engine
