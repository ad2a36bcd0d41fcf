// The most that clients may ask for, owners of the context or not: it is answered, and what would
// take more memory than a budget has is refused by the budget's name.

#include <gmock/gmock.h>
#include <malloc.h>

#include "rpc/control_client.h"

namespace engine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kRepliesBytes = 64 * kMiB;
constexpr size_t kCapturesBytes = 256 * kMiB;
constexpr size_t kProfilesBytes = 512 * kMiB;

/// Bytes that the program holds on its heap.
size_t held() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

class LargestRequestsTest : public ControlTest {
 protected:
  LargestRequestsTest() {
    acquire();
    stand_in().clients.known.add(0x10000000, 0x10000000 + 99'999);
  }

  Json request(const std::string& method, Json params) {
    params["api_h"] = api_;
    params["handler"] = handlers_["handler"];
    return {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", std::move(params)}};
  }
  Json captured(Json params) {
    params.update({{"command", "start"}, {"tx", Json::array()}, {"rx", Json::array({0})}});
    return params;
  }
  void upload(const std::string& id, const std::string& text) {
    for (size_t from = 0; from < text.size(); from += 500'000)
      result("profile_fragment", {{"profile_id", id},
                                  {"fragment", text.substr(from, 500'000)},
                                  {"frag_first", from == 0},
                                  {"frag_last", from + 500'000 >= text.size()}});
  }
  /// The reason in the event that the profile's start brought.
  std::string start_error() {
    result("start", {{"profile_id", "_"}, {"mult", 1}, {"nc", false}, {"duration", -1}});
    pass(0.1);
    const Json events = result("get_async_events", {{"session_id", 1}})["data"];
    for (const Json& event : events)
      if (event["data"].contains("error")) return event["data"]["error"];
    return "";
  }
  static Json all_clients() {
    return {{"is_range", true},
            {"attr", {{{"client_start_ip", 0x10000000}, {"client_end_ip", 0x10000000 + 99'999}}}}};
  }
};

TEST_F(LargestRequestsTest, ABatchOfLargeAnswersIsCutWhereTheBudgetEnds) {
  Json batch = Json::array();
  for (int i = 0; i < 20; ++i) {
    batch.push_back(request("get_clients_info_start", all_clients()));
    batch.push_back(request("get_clients_info_pull", Json::object()));
  }
  const std::string reply = answer_to(batch.dump());
  EXPECT_LT(reply.size(), kRepliesBytes + kMiB);
  EXPECT_GT(reply.size(), kRepliesBytes - 8 * kMiB);
  const size_t refusal = reply.find("Memory budget 'replies'");
  ASSERT_NE(refusal, std::string::npos) << "nothing was refused";
  const std::string why = reply.substr(refusal, 200);
  EXPECT_THAT(why, HasSubstr("4500000 bytes"));
  EXPECT_THAT(why, HasSubstr("of 67108864 are left"));
  EXPECT_THAT(why, HasSubstr("one by one"));
  EXPECT_EQ(result("get_clients_info_pull").size(), 100'000u) << "nothing is lost by a refusal";
}

TEST_F(LargestRequestsTest, TenCapturesOfAMillionFramesKeepNoMoreThanTheirBudget) {
  std::vector<Json> ids;
  for (int i = 0; i < 10; ++i)
    ids.push_back(
        result("capture", captured({{"limit", 1'000'000}, {"mode", "fixed"}}))["capture_id"]);
  const size_t before = held();
  const std::vector<uint8_t> frame(9000, 1);
  for (int i = 0; i < 4000; ++i) {
    stand_in().pass({{0, false, frame}});
    if (i % 100 == 0) control_.advance();
  }
  const Json status = result("capture", {{"command", "status"}});
  EXPECT_LT(held() - before, kCapturesBytes + 16 * kMiB);
  EXPECT_EQ(status[0]["matched"], 4000);
  EXPECT_EQ(status[9]["count"].get<int>() + status[9]["without_memory"].get<int>(), 4000);
  EXPECT_GT(status[9]["without_memory"], 0);

  const std::string why = refusal("capture", captured({{"limit", 1'000'000}, {"mode", "fixed"}}));
  EXPECT_THAT(why, HasSubstr("limit of 10"));
  result("capture", {{"command", "remove"}, {"capture_id", ids[9]}});
  result("capture", captured({{"limit", 1000}, {"mode", "fixed"}}));
  result("capture", {{"command", "remove"}, {"capture_id", ids[8]}});
  EXPECT_THAT(refusal("capture", captured({{"limit", 1'000'000}, {"mode", "fixed"}})),
              AllOf(HasSubstr("Memory budget 'captures'"), HasSubstr("140000000 bytes"),
                    HasSubstr("'snaplen'")));
  for (int i = 0; i < 8; ++i) result("capture", {{"command", "remove"}, {"capture_id", ids[i]}});
  result("capture", captured({{"limit", 1'000'000}, {"mode", "fixed"}}));
}

TEST_F(LargestRequestsTest, ACyclicCaptureGivesUpItsOldestFrames) {
  const Json id = result("capture", captured({{"limit", 100'000}, {"mode", "cyclic"}}));
  const std::vector<uint8_t> frame(9000, 1);
  for (int i = 0; i < 40'000; ++i) {
    stand_in().pass({{0, false, frame}});
    if (i % 100 == 0) control_.advance();
  }
  const Json status = result("capture", {{"command", "status"}})[0];
  EXPECT_EQ(status["count"].get<int>() + status["without_memory"].get<int>(), 40'000);
  const Json fetched =
      result("capture",
             {{"command", "fetch"}, {"capture_id", id["capture_id"]}, {"pkt_limit", 1}})["pkts"];
  EXPECT_EQ(fetched[0]["index"], status["without_memory"].get<int>() + 1);
}

TEST_F(LargestRequestsTest, AFetchTakesWhatItsAnswerHasRoomForAndLosesNothing) {
  const Json id = result("capture", captured({{"limit", 10'000}, {"mode", "fixed"}}))["capture_id"];
  const std::vector<uint8_t> frame(9000, 1);
  for (int i = 0; i < 10'000; ++i) {
    stand_in().pass({{0, false, frame}});
    if (i % 100 == 0) control_.advance();
  }
  const Json fetch = {{"command", "fetch"}, {"capture_id", id}, {"pkt_limit", 10'000}};
  const std::string reply = answer_to(request("capture", fetch).dump());
  EXPECT_LT(reply.size(), kRepliesBytes);
  const Json first = Json::parse(reply)["result"];
  EXPECT_EQ(first["pkts"].size() + first["pending"].get<size_t>(), 10'000u);
  EXPECT_GT(first["pending"], 0);
  const Json rest = result("capture", fetch);
  EXPECT_EQ(rest["pkts"][0]["index"], first["pkts"].size() + 1);
  EXPECT_EQ(rest["pending"], 0);
}

TEST_F(LargestRequestsTest, ProfilesAreBoundedAllTogether) {
  const std::string piece(900'000, 'x');
  int pieces = 0;
  const auto next = [&] { return std::pair(std::to_string(pieces / 100), pieces % 100 == 0); };
  for (; (pieces + 1) * piece.size() < kProfilesBytes; ++pieces)
    control_.state().profiles.upload(next().first, piece, next().second, pieces % 100 == 99, "");
  const std::string why = refusal("profile_fragment", {{"profile_id", next().first},
                                                       {"fragment", piece},
                                                       {"frag_first", next().second},
                                                       {"frag_last", false}});
  EXPECT_THAT(why, AllOf(HasSubstr("Memory budget 'profiles'"), HasSubstr("900000 bytes"),
                         HasSubstr("of 536870912 are left"), HasSubstr("profile_clear")));
  result("profile_clear", {{"profile_id", "0"}});
  pass(3);
  load();
  EXPECT_EQ(start_error(), "");
}

TEST_F(LargestRequestsTest, ProfilesAreBoundedInNumberAndName) {
  const auto first = [&](const std::string& id) {
    return call("profile_fragment", {{"profile_id", id}, {"fragment", ""}, {"frag_first", true}});
  };
  EXPECT_THAT(first(std::string(1001, 'x'))["error"]["specific_err"], HasSubstr("1 to 1000 bytes"));
  for (int i = 1; i < 10'000; ++i) ASSERT_TRUE(first(std::to_string(i)).contains("result"));
  EXPECT_THAT(first("10000")["error"]["specific_err"], HasSubstr("there are 10000 profiles"));
}

TEST_F(LargestRequestsTest, AProfileThatNestsDeepOrHasTooManyValuesIsRefusedByName) {
  upload("_", "{\"buf_list\":" + std::string(400'000, '[') + std::string(400'000, ']') + "}");
  EXPECT_THAT(start_error(), HasSubstr("nests deeper than 100 levels"));
  std::string values = "{\"buf_list\":[";
  for (int i = 0; i < 4'000'000; ++i) values += "{},";
  upload("_", values + "{}]}");
  EXPECT_THAT(start_error(), AllOf(HasSubstr("Memory budget 'profiles'"), HasSubstr("parsed")));
}

/// As the client of TRex sends one of so many templates, each on a port of its own.
std::string profile_of(size_t templates) {
  Json profile = Json::parse(kProfileText);
  const Json one = profile["templates"][0];
  for (size_t i = 1; i < templates; ++i) {
    Json next = one;
    next["client_template"]["port"] = next["server_template"]["assoc"][0]["port"] = i;
    profile["templates"].push_back(next);
  }
  profile["templates"][0]["client_template"]["port"] = templates;
  profile["templates"][0]["server_template"]["assoc"][0]["port"] = templates;
  return profile.dump();
}

TEST_F(LargestRequestsTest, TheLargestProfilesOfTrexsClientStart) {
  upload("_", profile_of(65'535));
  EXPECT_EQ(start_error(), "");
  EXPECT_EQ(control_.state().profiles.find("_").state, ProfileState::transmit);
}

TEST_F(LargestRequestsTest, WhatReadersMayAskForOfALargeProfileIsAnswered) {
  upload("_", profile_of(1'500));
  EXPECT_EQ(start_error(), "");
  for (const char* method :
       {"get_counter_values", "stackcost_get_latency", "stackcost_get_payload_check",
        "stackcost_get_tls", "stackcost_get_schedule", "stackcost_get_notices", "get_flow_info"})
    result(method, {{"profile_id", "_"}});
  for (const char* method : {"get_counter_desc", "get_tg_names"})
    result(method, {{"profile_id", "_"}, {"initialized", false}});
}

TEST_F(LargestRequestsTest, EventsOfSessionsThatDoNotAskAreBounded) {
  for (int session = 2; session < 1000; ++session)
    result("get_async_events", {{"session_id", session}});
  const size_t before = held();
  for (int i = 0; i < 300; ++i)
    call("profile_fragment",
         {{"profile_id", "_"}, {"fragment", ""}, {"frag_first", true}, {"frag_last", true}});
  EXPECT_LT(held() - before, 100 * kMiB);
  EXPECT_EQ(result("get_async_events", {{"session_id", 1}})["data"].back()["seq"],
            result("get_async_events", {{"session_id", 2}})["data"].back()["seq"]);
}

}  // namespace
}  // namespace engine
