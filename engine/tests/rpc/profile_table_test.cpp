#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rpc/engine_stand_in.h"
#include "rpc/profile_text.h"
#include "rpc/profiles.h"
#include "rpc/rpc_error.h"

namespace engine {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kOwner = 1;

/// Events in short: "60 _ 4" or "60 _ 1 error" or "50 4" or "61 _".
std::string short_form(const Json& event) {
  const Json& data = event["data"];
  std::string text = std::to_string(event["type"].get<int>());
  if (data.contains("profile_id")) text += " " + data["profile_id"].get<std::string>();
  if (data.contains("state")) text += " " + std::to_string(data["state"].get<int>());
  if (data.contains("error")) text += " " + data["error"].get<std::string>();
  return text;
}

class ProfileTableTest : public ::testing::Test {
 protected:
  ProfileTableTest() : table_(engine_.subjects(), subscribers_, budget_, runs_) {
    subscribers_.acquire(kOwner, 0);
  }

  std::vector<std::string> events() {
    std::vector<std::string> list;
    for (const Json& event : subscribers_.take(kOwner, stand_in().now)) {
      EXPECT_TRUE(event["data"].contains("epoch"));
      list.push_back(short_form(event));
    }
    return list;
  }

  void load(const std::string& id = "_", const std::string& text = kProfileText) {
    table_.upload(id, text, true, true, "");
  }

  /// Lets `seconds` pass in ticks of 10 ms.
  void pass(double seconds) {
    for (double end = stand_in().now + seconds; stand_in().now < end; stand_in().now += 0.01)
      table_.advance();
  }

  void start(const StartOptions& options = {}, const std::string& id = "_") {
    table_.start(id, options);
    pass(0.05);
  }

  EngineStandIn& stand_in() { return engine_; }

  ProfileState state(const std::string& id = "_") { return table_.find(id).state; }

  std::string refusal(const std::function<void()>& action) {
    try {
      action();
    } catch (const RpcError& error) {
      return error.specific;
    }
    return "not refused";
  }

  EngineStandIn engine_;
  RpcSubscribers subscribers_;
  ByteBudget budget_{"profiles", 1 << 20, "upload less"};
  ByteBudget runs_{"runs", 1000, "start less"};
  ProfileTable table_;
};

TEST_F(ProfileTableTest, LoadingToldByEvents) {
  load();
  EXPECT_THAT(events(), ElementsAre("60 _ 1", "50 1"));
  load();  // replaces
  EXPECT_THAT(events(), ElementsAre("60 _ 0", "50 0", "60 _ 1", "50 1"));
}

TEST_F(ProfileTableTest, NewProfilesAreIdleFirst) {
  load("other");
  EXPECT_THAT(events(), ElementsAre("60 other 0", "60 other 1", "50 1"));
}

TEST_F(ProfileTableTest, FragmentsMakeOneProfile) {
  const std::string text = kProfileText;
  table_.upload("_", text.substr(0, 100), true, false, "hash");
  table_.upload("_", text.substr(100, 100), false, false, "");
  EXPECT_EQ(state(), ProfileState::idle);
  table_.upload("_", text.substr(200), false, true, "");
  EXPECT_EQ(table_.find("_").source.text, text);
  EXPECT_TRUE(table_.upload("_", text.substr(0, 100), true, false, "hash"));
  EXPECT_EQ(state(), ProfileState::loaded);
  EXPECT_FALSE(table_.upload("_", text.substr(0, 100), true, false, "other hash"));
  EXPECT_EQ(state(), ProfileState::idle);
}

/// What was said of a profile goes with it, whether its text came again or was known.
TEST_F(ProfileTableTest, AnUploadOfTheSameTextForgetsWhatWasSaidOfTheLastOne) {
  table_.upload("_", kProfileText, true, true, "hash");
  table_.set_payload_check("_", {.enabled = true, .skip_bytes = 7});
  table_.add_tls("_", {}, 1);
  EXPECT_TRUE(table_.upload("_", kProfileText, true, true, "hash"));
  EXPECT_FALSE(table_.find("_").payload_check.enabled);
  EXPECT_EQ(table_.find("_").payload_check.skip_bytes, 0u);
  EXPECT_TRUE(table_.find("_").tls.empty());
}

TEST_F(ProfileTableTest, FragmentsNeedABeginning) {
  EXPECT_THAT(refusal([&] { table_.upload("_", "x", false, true, ""); }),
              ::testing::HasSubstr("frag_first"));
  table_.upload("_", "x", true, false, "");
  table_.drop_uploads();
  EXPECT_THROW(table_.upload("_", "x", false, true, ""), RpcError);
  EXPECT_EQ(refusal([&] { table_.upload("new", "x", false, true, ""); }), "Invalid profile : new");
}

TEST_F(ProfileTableTest, StartPassesThroughParseAndBuild) {
  load();
  events();
  table_.start("_", {});
  EXPECT_THAT(stand_in().calls, IsEmpty());  // the client has its answer before the work begins
  EXPECT_THAT(events(), ElementsAre("60 _ 2", "50 2"));
  pass(0.05);
  EXPECT_THAT(events(), ElementsAre("60 _ 3", "50 3", "60 _ 4", "50 4"));
}

TEST_F(ProfileTableTest, AParsedProfileIsNotParsedAgain) {
  load();
  start();
  table_.stop("_");
  pass(0.1);
  events();
  start();
  EXPECT_THAT(events(), ElementsAre("60 _ 3", "50 3", "60 _ 4", "50 4"));
}

TEST_F(ProfileTableTest, WhatDoesNotParseIsToldAtStart) {
  load("_", "{\"no\": \"profile\"}");
  events();
  start();
  const auto list = events();
  ASSERT_EQ(list.size(), 4u);
  EXPECT_THAT(list[2], ::testing::StartsWith("60 _ 1 "));  // with words
  EXPECT_GT(list[2].size(), 10u);
  EXPECT_EQ(list[3], "50 1");
}

TEST_F(ProfileTableTest, WhatCannotBeBuiltIsToldByCleanup) {
  load();
  events();
  stand_in().start_error = "port 80 is taken";
  start();
  EXPECT_THAT(events(), ElementsAre("60 _ 2", "50 2", "60 _ 3", "50 3", "60 _ 5 port 80 is taken",
                                    "50 5", "60 _ 1", "50 1"));
}

TEST_F(ProfileTableTest, DurationEndsWithADrain) {
  stand_in().drain_s = 0.5;
  load();
  start({.duration_s = 2});
  events();
  pass(2.2);
  EXPECT_EQ(state(), ProfileState::transmit);
  pass(0.5);
  EXPECT_THAT(events(), ElementsAre("60 _ 5", "50 5", "60 _ 1", "50 1"));
  EXPECT_THAT(stand_in().calls, ElementsAre("start 1", "stop_opening 1", "close 1", "remove 1"));
}

TEST_F(ProfileTableTest, WithoutCloseNothingIsWaitedFor) {
  stand_in().drain_s = 100;
  load();
  start({.duration_s = 2, .no_close = true});
  pass(2.1);
  EXPECT_EQ(state(), ProfileState::loaded);
}

TEST_F(ProfileTableTest, TheDrainIsBoundedIfAsked) {
  stand_in().drain_s = 100;
  load();
  start({.duration_s = 1, .no_close = true, .drain_limit_s = 3});
  pass(3.8);
  EXPECT_EQ(state(), ProfileState::transmit);
  pass(0.4);
  EXPECT_EQ(state(), ProfileState::loaded);
}

TEST_F(ProfileTableTest, AnEndlessRunIsBoundedIfAsked) {
  load();
  start({.drain_limit_s = 3});
  pass(2.8);
  EXPECT_EQ(state(), ProfileState::transmit);
  pass(0.4);
  EXPECT_EQ(state(), ProfileState::loaded);
}

TEST_F(ProfileTableTest, ServersGetTimeToEndAfterTheLastClient) {
  stand_in().lingering_servers = 3;
  load();
  start({.duration_s = 1});
  pass(1.8);
  EXPECT_EQ(state(), ProfileState::transmit);
  pass(0.5);
  EXPECT_EQ(state(), ProfileState::loaded);
}

TEST_F(ProfileTableTest, OpeningStopsWhenNothingIsEstablished) {
  stand_in().establishes = false;
  load();
  start({.establish_limit_s = 1});
  pass(1.2);
  EXPECT_THAT(stand_in().calls, ::testing::Contains("stop_opening 1"));
  EXPECT_EQ(state(), ProfileState::loaded);
}

TEST_F(ProfileTableTest, OpeningGoesOnOnceSomethingIsEstablished) {
  load();
  start({.establish_limit_s = 1});
  pass(2);
  EXPECT_EQ(state(), ProfileState::transmit);
}

TEST_F(ProfileTableTest, StopEndsAtOnceAndOtherwiseDoesNothing) {
  load();
  events();
  table_.stop("_");
  EXPECT_THAT(events(), IsEmpty());
  start();
  events();
  table_.stop("_");
  table_.stop("_");
  pass(0.05);
  EXPECT_THAT(events(), ElementsAre("60 _ 5", "50 5", "60 _ 1", "50 1"));
}

TEST_F(ProfileTableTest, CommandsNeedTheRightState) {
  EXPECT_EQ(refusal([&] { table_.start("_", {}); }),
            "Invalid state: Idle, should be Loaded profile");
  EXPECT_EQ(refusal([&] { table_.start("x", {}); }), "Invalid profile : x");
  load();
  EXPECT_EQ(refusal([&] { table_.update("_", 2); }),
            "Invalid state: Loaded profile, should be Transmitting");
  start();
  const char* in_transmit =
      "Invalid state: Transmitting, should be one of following:Idle,Loaded profile";
  EXPECT_EQ(refusal([&] { load(); }), in_transmit);
  EXPECT_EQ(refusal([&] { table_.clear("_"); }), in_transmit);
  table_.update("_", 2);
  EXPECT_EQ(stand_in().runs.at(1).options.multiplier, 2);
}

TEST_F(ProfileTableTest, ClearingTheDefaultProfileEmptiesIt) {
  table_.clear("_");
  EXPECT_THAT(events(), ElementsAre("61 _", "60 _ 0"));
  load();
  events();
  table_.clear("_");
  EXPECT_THAT(events(), ElementsAre("60 _ 6"));  // the server's state stays "loaded"
  pass(0.2);
  EXPECT_THAT(events(), ElementsAre("61 _", "60 _ 0", "50 0"));
}

TEST_F(ProfileTableTest, DeletionWaitsUntilTheOwnerHasSeenIt) {
  load();
  events();
  table_.clear("_");
  pass(1);
  EXPECT_THAT(events(), ElementsAre("60 _ 6"));
  pass(0.02);
  EXPECT_THAT(events(), IsEmpty());
  pass(0.2);
  EXPECT_THAT(events(), ElementsAre("61 _", "60 _ 0", "50 0"));
}

TEST_F(ProfileTableTest, DeletionDoesNotWaitForEverForAnOwnerThatIsGone) {
  load();
  table_.clear("_");
  pass(3);
  EXPECT_EQ(state(), ProfileState::idle);
}

TEST_F(ProfileTableTest, ClearingAnotherProfileRemovesIt) {
  load("other");
  events();
  table_.clear("other");
  EXPECT_THAT(events(), ElementsAre("60 other 6"));
  pass(0.2);
  EXPECT_THAT(events(), ElementsAre("61 other", "50 0"));
  EXPECT_THROW(table_.find("other"), RpcError);
}

TEST_F(ProfileTableTest, TheServersStateIsTheMostActiveProfiles) {
  load("a");
  load("b");
  start({}, "a");
  events();
  start({}, "b");
  EXPECT_THAT(events(), ElementsAre("60 b 2", "60 b 3", "60 b 4"));  // "50 4" stands
  table_.stop("a");
  pass(0.05);
  EXPECT_THAT(events(), ElementsAre("60 a 5", "60 a 1"));
  table_.stop("b");
  pass(0.05);
  EXPECT_THAT(events(), ElementsAre("60 b 5", "50 5", "60 b 1", "50 1"));
}

TEST_F(ProfileTableTest, EpochsGrowWithTheFirstStartAfterQuiet) {
  const uint64_t server = table_.epoch();
  load("a");
  load("b");
  const uint64_t profile = table_.find("a").epoch;
  start({}, "a");
  EXPECT_EQ(table_.epoch(), server + 1);
  EXPECT_EQ(table_.find("a").epoch, profile + 1);
  start({}, "b");
  EXPECT_EQ(table_.epoch(), server + 1);
}

TEST_F(ProfileTableTest, CountersOfARunStayUntilTheNext) {
  load();
  start({.duration_s = 1});
  pass(1.5);
  const uint64_t opened = table_.counters("_").sum(Side::client)[Counter::tcps_connattempt];
  EXPECT_EQ(opened, 100u);
  EXPECT_EQ(table_.run_status("_").opened, 100u);
  table_.start("_", {});
  pass(0.02);
  EXPECT_LT(table_.counters("_").sum(Side::client)[Counter::tcps_connattempt], 10u);
}

TEST_F(ProfileTableTest, TotalsAddFinishedAndRunningProfilesOfTheEpoch) {
  const auto total = [&] {
    return table_.total_counters().sum(Side::client)[Counter::tcps_connattempt];
  };
  load("a");
  load("b");
  start({.duration_s = 1}, "a");
  start({}, "b");
  pass(2);
  const uint64_t running = table_.counters("b").sum(Side::client)[Counter::tcps_connattempt];
  EXPECT_EQ(total(), 100 + running);
  table_.stop("b");
  pass(0.1);
  EXPECT_GE(total(), 100 + running);
  start({}, "a");
  EXPECT_LT(total(), 100u);
}

/// A run that is being cleaned up is still there: a start beside it is not the first after quiet.
TEST_F(ProfileTableTest, TotalsGoOnAtAStartBesideACleanup) {
  const auto total = [&] {
    return table_.total_counters().sum(Side::client)[Counter::tcps_connattempt];
  };
  load("a");
  load("b");
  start({}, "a");
  pass(50);
  stand_in().closes = false;
  table_.stop("a");
  pass(0.1);
  ASSERT_EQ(state("a"), ProfileState::cleanup);
  const uint64_t epoch = table_.epoch();
  const uint64_t before = total();
  ASSERT_GE(before, 5000u);
  start({}, "b");
  EXPECT_EQ(table_.epoch(), epoch);
  EXPECT_GE(total(), before);
  table_.sample();
  stand_in().closes = true;
  pass(1);
  ASSERT_EQ(state("a"), ProfileState::loaded);
  table_.sample();
  EXPECT_GE(total(), before + 100);
  EXPECT_LT(total(), before + 120);
  EXPECT_LT(table_.total_statistics().opens_per_second(), 200);
}

TEST_F(ProfileTableTest, CountersOfOneAnswerAreOfOneMoment) {
  load("a");
  load("b");
  start({}, "a");
  start({}, "b");
  pass(1);
  // Flows go on between two calls: 10 of each profile are opened, on both sides.
  stand_in().on_call = [this](const std::string&) {
    stand_in().now += 0.1;
    for (CounterBlock& side : stand_in().table) ++side[Counter::err_no_syn];
  };
  for (const RunCounters& reading : {table_.counters("a"), table_.total_counters()}) {
    EXPECT_EQ(reading.sum(Side::client)[Counter::tcps_connattempt],
              reading.sum(Side::server)[Counter::tcps_accepts]);
    EXPECT_EQ(reading.sum(Side::client)[Counter::tcps_closed],
              reading.sum(Side::server)[Counter::tcps_closed]);
    EXPECT_EQ(reading.table[0][Counter::err_no_syn], reading.table[1][Counter::err_no_syn]);
  }
}

TEST_F(ProfileTableTest, ASampleOfAllProfilesIsOneReading) {
  load("a");
  load("b");
  start({}, "a");
  start({}, "b");
  std::vector<std::string> calls;
  stand_in().on_call = [&calls](const std::string& call) { calls.push_back(call); };
  table_.sample();
  EXPECT_THAT(calls, ElementsAre("counters"));
}

TEST_F(ProfileTableTest, AStepThatFailsEndsItsRunWithTheReasonAndNoOther) {
  load("a");
  load("b");
  start({}, "a");
  start({}, "b");
  events();
  int failures = 0;
  stand_in().on_call = [&failures](const std::string& call) {
    if (call == "status" && ++failures == 1) throw std::runtime_error("no memory for that");
  };
  pass(0.1);
  EXPECT_THAT(events(), ElementsAre("60 a 5 no memory for that", "60 a 1"));
  EXPECT_FALSE(stand_in().runs.contains(1));
  EXPECT_EQ(state("b"), ProfileState::transmit);
  start({}, "a");
  EXPECT_EQ(state("a"), ProfileState::transmit);
}

/// The second of two runs ends by a step that fails, and is read nevertheless.
TEST_F(ProfileTableTest, AStepThatFailsLeavesWhatItsRunHadMeasured) {
  const auto opened = [](const RunCounters& counters) {
    return counters.sum(Side::client)[Counter::tcps_connattempt];
  };
  load("a");
  load("b");
  start({}, "b");
  start({.duration_s = 1}, "a");
  pass(2);
  ASSERT_LT(opened(table_.counters("a")), 110u);
  start({}, "a");
  pass(3);
  int failures = 0;
  stand_in().on_call = [&failures](const std::string& call) {
    if (call == "status" && ++failures == 1) throw std::runtime_error("no memory for that");
  };
  const uint64_t before = opened(table_.total_counters());
  pass(0.1);
  ASSERT_EQ(state("a"), ProfileState::loaded);
  const uint64_t last = opened(table_.counters("a"));
  EXPECT_GE(last, 300u);
  EXPECT_LT(last, 320u);
  EXPECT_EQ(table_.latencies("a").at(0)[LatencyKind::connect].count(), last);
  EXPECT_EQ(table_.run_status("a").opened, last);
  EXPECT_GE(opened(table_.total_counters()), before);
  EXPECT_TRUE(table_.find("a").statistics.traffic.last.has_value());
}

/// What cannot be read of a run is absent, and not an earlier run's; the event says so.
TEST_F(ProfileTableTest, ResultsThatCannotBeReadAreNotThoseOfTheRunBefore) {
  for (const std::string lost : {"counters", "latencies", "report"}) {
    SCOPED_TRACE(lost);
    load();
    table_.set_payload_check("_", {.enabled = true});
    start({.duration_s = 1});
    pass(2);
    start({.duration_s = 2});
    events();
    stand_in().on_call = [&lost](const std::string& call) {
      if (call == lost) throw std::runtime_error("no memory for that");
    };
    pass(3);
    stand_in().on_call = [](const std::string&) {};
    EXPECT_THAT(events(),
                Contains(AllOf(HasSubstr("60 _ 1 its " + lost), HasSubstr("no memory for that"))));
    EXPECT_FALSE(table_.find("_").running());
    EXPECT_THAT(stand_in().runs, IsEmpty());
    const uint64_t opened = table_.run_status("_").opened;
    EXPECT_NEAR(static_cast<double>(opened), 200, 1);
    EXPECT_EQ(table_.counters("_").sum(Side::client)[Counter::tcps_connattempt],
              lost == "counters" ? 0 : opened);
    EXPECT_EQ(table_.latencies("_").size(), lost == "latencies" ? 0u : 1u);
    EXPECT_EQ(table_.report("_").payload.size(), lost == "report" ? 0u : 1u);
  }
}

TEST_F(ProfileTableTest, AFailureThatStaysIsNotMetForEver) {
  load();
  start();
  int failures = 0;
  stand_in().on_call = [&failures](const std::string& call) {
    if (call != "status" && call != "remove") return;
    ++failures;
    throw std::runtime_error("still no memory");
  };
  pass(1);
  EXPECT_LE(failures, 3);  // the step, the last look at the run, its removal
  EXPECT_EQ(state(), ProfileState::loaded);
}

TEST_F(ProfileTableTest, ARefusalThatCannotBeToldLeavesNoRunToCleanUp) {
  load();
  stand_in().start_error = "port taken";
  bool events_fail = false;
  stand_in().on_call = [&events_fail](const std::string& call) { events_fail |= call == "start"; };
  // Events carry the time, so without a clock nothing is published.
  const double now = stand_in().now;
  stand_in().clock = [&events_fail, now] {
    return events_fail ? throw std::runtime_error("no memory for that") : now;
  };
  table_.start("_", {});
  table_.advance();  // it is parsed
  EXPECT_THROW(table_.advance(), std::runtime_error);
  EXPECT_EQ(state(), ProfileState::cleanup);
  EXPECT_FALSE(table_.find("_").running());
  events_fail = false;
  stand_in().on_call = [](const std::string&) {};
  EXPECT_NO_THROW(table_.total_counters());
  table_.advance();
  EXPECT_EQ(state(), ProfileState::loaded);
}

TEST_F(ProfileTableTest, GroupNamesAreKnownBeforeTheStart) {
  EXPECT_THAT(table_.group_names("_"), IsEmpty());
  EXPECT_THAT(table_.group_names("unknown"), IsEmpty());
  load();
  EXPECT_THAT(table_.group_names("_"), ElementsAre("A"));
  load("_", "not a profile");
  EXPECT_THAT(table_.group_names("_"), IsEmpty());
}

TEST_F(ProfileTableTest, AProfilePaysForItselfUntilItIsCleared) {
  const uint64_t before = budget_.left();
  load("a");
  const uint64_t loaded = budget_.left();
  EXPECT_LT(loaded, before - std::string(kProfileText).size());
  start({.duration_s = 1}, "a");
  pass(2);
  const uint64_t parsed = budget_.left();
  EXPECT_LT(parsed, loaded);
  for (int i = 0; i < 3; ++i) {
    load("a");
    EXPECT_EQ(budget_.left(), loaded) << "an upload takes the place of the one before";
    table_.group_names("a");
    EXPECT_EQ(budget_.left(), parsed);
  }
  table_.upload("a", "half of it", true, false, "");
  table_.drop_uploads();
  EXPECT_EQ(budget_.left(), parsed);
  table_.clear("a");
  pass(3);
  EXPECT_EQ(budget_.left(), before);
}

TEST_F(ProfileTableTest, ARunPaysForWhatItMeasuresAndLeaves) {
  stand_in().run_memory = {.cores = 600, .results = 300};
  load("a");
  load("b");
  start({}, "a");
  EXPECT_EQ(runs_.left(), 100u);
  events();
  start({}, "b");
  EXPECT_THAT(events(), Contains(AllOf(HasSubstr("60 b 5"), HasSubstr("Memory budget 'runs'"),
                                       HasSubstr("900 bytes"), HasSubstr("start less"))));
  EXPECT_EQ(state("b"), ProfileState::loaded);
  EXPECT_EQ(runs_.left(), 100u);
  table_.stop("a");
  pass(0.1);
  EXPECT_EQ(runs_.left(), 700u);
  stand_in().run_memory = {.cores = 600, .results = 50};
  stand_in().start_error = "port taken";
  start({}, "a");
  EXPECT_EQ(runs_.left(), 700u) << "the results of the run before are still there";
  stand_in().start_error.clear();
  start({}, "a");
  EXPECT_EQ(runs_.left(), 350u);
  stand_in().on_call = [](const std::string& call) {
    if (call == "status") throw std::runtime_error("no memory for that");
  };
  pass(0.1);
  EXPECT_EQ(runs_.left(), 950u);
  stand_in().on_call = [](const std::string&) {};
  load("a");
  EXPECT_EQ(runs_.left(), 1000u);
}

TEST_F(ProfileTableTest, WhatTheBudgetDoesNotPayForIsRefusedByNameAndLeavesTheRest) {
  load("a");
  const uint64_t before = budget_.left();
  EXPECT_EQ(
      refusal([&] { table_.upload("b", std::string(2 << 20, 'x'), true, true, ""); }).substr(0, 24),
      "Memory budget 'profiles'");
  table_.clear("b");
  pass(3);
  EXPECT_EQ(budget_.left(), before);
  load("b", std::string(300'000, '[') + "]");
  events();
  start({}, "b");
  EXPECT_THAT(events(), Contains(HasSubstr("nests deeper")));
  std::string payload = kProfileText;  // 4 MB of 100 bytes
  for (int i = 0; i < 50; ++i)
    payload.replace(payload.find("\"R0VU\""), 0, R"({"base": "SA==", "size": 90000}, )");
  load("b", payload);
  events();
  start({}, "b");
  EXPECT_THAT(events(), Contains(AllOf(HasSubstr("Memory budget 'profiles'"),
                                       HasSubstr("profile 'b', when it is parsed"))));
  start({}, "a");
  EXPECT_EQ(state("a"), ProfileState::transmit);
}

TEST_F(ProfileTableTest, TheEpochIsNotCountedUpInTransientStates) {
  load();
  const uint64_t before = table_.epoch();
  table_.advance_epoch();
  EXPECT_EQ(table_.epoch(), before + 1);
  table_.start("_", {});
  EXPECT_THROW(table_.advance_epoch(), RpcError);
}

}  // namespace
}  // namespace engine
