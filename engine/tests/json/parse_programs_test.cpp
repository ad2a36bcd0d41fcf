#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astf/profile.h"
#include "json/parse_profile.h"
#include "json/profile_json.h"

namespace engine {
namespace {

using nlohmann::json;

/// Parses one program, put in place of the small profile's client program (TCP) or program 2 (UDP).
Program parse_program(const json& commands, bool stream = true) {
  json profile = small_profile();
  profile["tg_names"] = {"A", "B"};
  profile["program_list"][stream ? 0 : 2]["commands"] = commands;
  return parse_profile(profile.dump(), false)->programs[stream ? 0 : 2];
}

void expect_program_refused(const json& commands, const std::string& message, bool stream = true) {
  try {
    parse_program(commands, stream);
    ADD_FAILURE() << "accepted, expected: " << message;
  } catch (const ProfileError& error) {
    EXPECT_EQ(error.what(), message);
  }
}

json command(const std::string& text) {
  return json::parse(text);
}

TEST(Programs, EndWithEnd) {
  EXPECT_EQ(parse_program(json::array()).commands.size(), 1u);
  const Program program =
      parse_program({command(R"({"name": "connect"})"), command(R"({"name": "nc"})")});
  ASSERT_EQ(program.commands.size(), 3u);
  EXPECT_EQ(program.commands[0].operation, Operation::connect);
  EXPECT_EQ(program.commands[1].operation, Operation::nc);
  EXPECT_EQ(program.commands[2].operation, Operation::end);
  EXPECT_TRUE(program.stream);
  EXPECT_FALSE(program.uses_variables);
}

TEST(Programs, RunningTotalsBecomeDifferences) {
  const Program program = parse_program(
      {command(R"({"name": "rx", "min_bytes": 100})"),
       command(R"({"name": "rx", "min_bytes": 250, "clear": true})"),
       command(R"({"name": "rx", "min_bytes": 30})"), command(R"({"name": "rx", "min_bytes": 20})"),
       command(R"({"name": "rx", "min_bytes": 31, "clear": false})")});
  const uint64_t expected[] = {100, 150, 30, 0, 1};
  for (size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(program.commands[i].amount, expected[i]) << i;
    EXPECT_EQ(program.commands[i].flag, i == 1) << i;
  }
}

/// A flow has memory for variables only when its program says so.
TEST(Programs, EveryCommandThatReadsOrSetsAVariableSaysThatTheyAreNeeded) {
  for (const char* text :
       {R"({"name": "set_var", "id": 0, "val": 1})", R"({"name": "add_var", "id": 0, "val": 1})",
        R"({"name": "set_tick_var", "id": 0})",
        R"({"name": "add_tick_var", "id": 0, "duration": 1})",
        R"({"name": "jmp_nz", "id": 0, "offset": 1})",
        R"({"name": "jmp_dp", "id": 0, "offset": 1, "duration": 1})",
        R"({"name": "jmp_cmp", "id": 0, "offset": 1, "cmp_op": "ne", "cmp_val": 1})",
        R"({"name": "add_tick_stats", "stats_id": 0, "var_id": 0})",
        R"({"name": "set_template", "tg_id": 1})", R"({"name": "exec_template"})"})
    for (const bool stream : {true, false})
      EXPECT_TRUE(parse_program(json::array({command(text)}), stream).uses_variables) << text;
}

/// In the order of the list, not of execution: a loop takes the same difference each time.
TEST(Programs, JumpsDoNotChangeDifferences) {
  const Program program = parse_program({command(R"({"name": "set_var", "id": 0, "val": 9})"),
                                         command(R"({"name": "rx", "min_bytes": 100})"),
                                         command(R"({"name": "jmp_nz", "id": 0, "offset": -1})"),
                                         command(R"({"name": "rx", "min_bytes": 150})")});
  EXPECT_EQ(program.commands[1].amount, 100u);
  EXPECT_EQ(program.commands[2].target, 1u);
  EXPECT_EQ(program.commands[3].amount, 50u);
  EXPECT_TRUE(program.uses_variables);
}

TEST(Programs, DatagramCommands) {
  const Program program =
      parse_program({command(R"({"name": "keepalive", "msec": 500, "rx_mode": true})"),
                     command(R"({"name": "tx_msg", "buf_index": 1})"),
                     command(R"({"name": "rx_msg", "min_pkts": 1})"),
                     command(R"({"name": "rx_msg", "min_pkts": 3, "clear": true})"),
                     command(R"({"name": "close_msg"})")},
                    false);
  EXPECT_FALSE(program.stream);
  EXPECT_EQ(program.commands[0].amount, 500u);
  EXPECT_TRUE(program.commands[0].flag);
  EXPECT_EQ(program.commands[1].index, 1u);
  EXPECT_EQ(program.commands[2].amount, 1u);
  EXPECT_EQ(program.commands[3].amount, 2u);
  EXPECT_TRUE(program.commands[3].flag);
  EXPECT_EQ(program.commands[4].operation, Operation::close_msg);
}

TEST(Programs, Arguments) {
  const Program program = parse_program(
      {command(R"({"name": "delay", "usec": 10})"),
       command(R"({"name": "delay_rnd", "min_usec": 5, "max_usec": 7})"),
       command(R"({"name": "add_var", "id": 4, "val": -2})"),
       command(R"({"name": "set_var", "id": 1, "val": 18446744073709551615})"),
       command(R"({"name": "set_tick_var", "id": 2})"),
       command(R"({"name": "add_tick_var", "id": 2, "duration": 1.5})"),
       command(R"({"name": "jmp_dp", "id": 2, "offset": -3, "duration": 0.01})"),
       command(R"({"name": "jmp_cmp", "offset": 1})"),
       command(R"({"name": "jmp_cmp", "offset": 100, "id": 3, "cmp_op": "ge", "cmp_val": 8})"),
       command(R"({"name": "add_stats", "stats_id": 3, "val": 6})"),
       command(R"({"name": "add_tick_stats", "stats_id": 1, "var_id": 2})"),
       command(R"({"name": "tx_mode", "flags": 3})"),
       command(R"({"name": "set_template", "tg_id": 2})"),
       command(R"({"name": "exec_template"})")});
  const auto& c = program.commands;
  EXPECT_EQ(c[0].amount, 10u);
  EXPECT_EQ(c[1].amount, 5u);
  EXPECT_EQ(c[1].amount2, 7u);
  EXPECT_EQ(c[2].index, 4u);
  EXPECT_EQ(c[2].amount, UINT64_MAX - 1);
  EXPECT_EQ(c[3].amount, UINT64_MAX);
  EXPECT_EQ(c[5].amount, 1'500'000'000u);
  EXPECT_EQ(c[6].amount, 10'000'000u);
  EXPECT_EQ(c[6].target, 3u);
  EXPECT_EQ(c[7].comparison, Comparison::always);
  EXPECT_EQ(c[7].target, 8u);
  EXPECT_EQ(c[8].comparison, Comparison::greater_equal);
  EXPECT_EQ(c[8].index, 3u);
  EXPECT_EQ(c[8].amount, 8u);
  EXPECT_EQ(c[8].target, 14u) << "clipped to the end";
  EXPECT_EQ(c[9].index, 3u);
  EXPECT_EQ(c[9].amount, 6u);
  EXPECT_EQ(c[10].index, 1u);
  EXPECT_EQ(c[10].amount, 2u);
  EXPECT_TRUE(c[11].flag);
  EXPECT_EQ(c[12].index, 2u);
  EXPECT_EQ(c[14].operation, Operation::end);
}

TEST(Programs, AnUnconditionalJumpNeedsNoVariables) {
  EXPECT_FALSE(
      parse_program(json::array({command(R"({"name": "jmp_cmp", "offset": 1})")})).uses_variables);
}

TEST(Programs, OneThatRunsForEverWithoutSendingReceivingOrWaitingIsRefused) {
  const json add = command(R"({"name": "add_stats", "stats_id": 0, "val": 1})");
  const json back = command(R"({"name": "jmp_cmp", "offset": -1})");
  const json tx = command(R"({"name": "tx", "buf_index": 0})");
  const std::string place = "program 0, command 1 (add_stats): ";
  const std::string what =
      "from here on it runs for ever, and never sends, receives, waits or ends";
  expect_program_refused({tx, add, back}, place + what);
  expect_program_refused({tx, add, back, tx}, place + what);
  expect_program_refused({command(R"({"name": "rx", "min_bytes": 4})"), add,
                          command(R"({"name": "rx", "min_bytes": 4})"),
                          command(R"({"name": "jmp_cmp", "offset": -2})")},
                         place + what);
  parse_program({tx, back});
  parse_program({add, command(R"({"name": "jmp_nz", "id": 0, "offset": -1})"), tx});
  parse_program({command(R"({"name": "delay", "usec": 1})"), back});
}

TEST(Programs, WhatIsWrongIsNamed) {
  struct Case {
    const char* command;
    const char* problem;
  };
  const Case cases[] = {
      {R"({"name": "rx"})", "(rx): min_bytes is missing"},
      {R"({"name": "rx", "min_bytes": -1})", "(rx): min_bytes must be a non-negative integer"},
      {R"({"name": "rx", "min_bytes": "x"})", "(rx): min_bytes must be a non-negative integer"},
      {R"({"name": "rx", "min_bytes": 1, "clear": "x"})", "(rx): clear must be true or false"},
      {R"({"name": "tx", "buf_index": 2})", "(tx): buf_index is 2, but there is no such buffer"},
      {R"({"name": "tx", "buf_index": -1})", "(tx): buf_index is -1, but there is no such buffer"},
      {R"({"name": "jmp_nz", "id": 5, "offset": 0})",
       "(jmp_nz): id is 5, but there is no such variable"},
      {R"({"name": "jmp_nz", "id": 0, "offset": -2})",
       "(jmp_nz): offset leads to before the first command"},
      {R"({"name": "jmp_dp", "id": 0, "offset": 0, "duration": -1})",
       "(jmp_dp): duration must be a number from 0 to 1000000000"},
      {R"({"name": "jmp_cmp", "id": 0, "offset": 0, "cmp_op": "no", "cmp_val": 1})",
       "(jmp_cmp): cmp_op must be gt, lt, eq, ge, le or ne"},
      {R"({"name": "delay_rnd", "min_usec": 5, "max_usec": 4})",
       "(delay_rnd): min_usec is greater than max_usec"},
      {R"({"name": "add_stats", "stats_id": 4, "val": 0})",
       "(add_stats): stats_id is 4, but there is no such user counter"},
      {R"({"name": "set_template", "tg_id": 3})",
       "(set_template): tg_id is 3, but there is no such template group"},
      {R"({"name": "set_template", "tg_id": 0})",
       "(set_template): tg_id is 0, but there is no such template group"},
      {R"({"name": "connect"})", "(connect): must come first"},
      {R"({"name": "dance"})", "(dance): is no command"},
      {R"({"name": "rx_msg", "min_pkts": 1})",
       "(rx_msg): only a UDP program (stream false) can have this"},
      {R"({})", ": name is missing"},
      {R"([])", ": must be an object"},
  };
  for (const Case& c : cases) {
    const std::string problem = c.problem;
    expect_program_refused({command(R"({"name": "delay", "usec": 1})"), command(c.command)},
                           "program 0, command 1" + (problem[0] == '(' ? " " + problem : problem));
  }
  for (const char* last : {"nc", "reset"})
    expect_program_refused({{{"name", last}}, {{"name", "exec_template"}}},
                           std::string("program 0, command 0 (") + last + "): must come last");
  for (const char* name : {"tx", "rx", "connect", "reset", "nc", "tx_mode"})
    expect_program_refused(json::array({{{"name", name}}}),
                           std::string("program 2, command 0 (") + name +
                               "): only a TCP program (stream true) can have this",
                           false);
}

TEST(Programs, RunWithoutTheLatencyAddOnWhichTheyAreToldOf) {
  json profile = small_profile();
  profile["program_list"][2]["addon"] = "latency";
  const auto parsed = parse_profile(profile.dump(), false);
  ASSERT_EQ(parsed->notices.size(), 1u);
  EXPECT_THAT(parsed->notices[0], testing::HasSubstr("program 2: runs without its add-on"));
}

TEST(Programs, OtherAddOnsAreRefused) {
  json profile = small_profile();
  profile["program_list"][1]["addon"] = "latency";  // of a TCP program
  EXPECT_THROW(parse_profile(profile.dump(), false), ProfileError);
  profile = small_profile();
  profile["program_list"][2]["addon"] = "other";
  EXPECT_THROW(parse_profile(profile.dump(), false), ProfileError);
}

TEST(Programs, OnlyClientsOpenFlows) {
  json profile = small_profile();
  profile["program_list"][0]["commands"].push_back({{"name", "exec_template"}});
  EXPECT_NO_THROW(parse_profile(profile.dump(), false));
  profile["program_list"][1]["commands"].push_back({{"name", "exec_template"}});
  EXPECT_THROW(parse_profile(profile.dump(), false), ProfileError);
}

TEST(Programs, TooLongOnesAreRefused) {
  json commands = json::array();
  for (int i = 0; i < 65001; ++i) commands.push_back({{"name", "exec_template"}});
  expect_program_refused(commands, "program 0: has 65001 commands, at most 65000 can be");
}

}  // namespace
}  // namespace engine
