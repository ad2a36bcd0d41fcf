// Starts that wait for a gateway: what is answered meanwhile, and how they end.

#include <gmock/gmock.h>

#include "rpc/control_client.h"

namespace engine {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kSilent = "port 0: its gateway does not answer ARP";

class ResolutionTest : public ControlTest {
 protected:
  ResolutionTest() {
    acquire();
    load();
    take_errors();
    stand_in().ports[0].resolved = false;
    stand_in().ports[0].address.gateway = 0x01010101;
  }

  /// Asks what may have to wait. Its answer is null until it comes.
  std::shared_ptr<Json> ask(const std::string& method, Json params = Json::object()) {
    params["api_h"] = api_;
    params["handler"] = handlers_["handler"];
    const Json request = {{"jsonrpc", "2.0"}, {"id", 7}, {"method", method}, {"params", params}};
    auto answer = std::make_shared<Json>();
    control_.handle(request.dump(), [answer](const std::string& reply) {
      EXPECT_TRUE(answer->is_null()) << "answered twice";
      *answer = Json::parse(reply);
    });
    return answer;
  }

  std::shared_ptr<Json> start_latency(uint32_t mask = 1) {
    return ask("start_latency", {{"mult", 100},
                                 {"src_addr", "16.0.0.1"},
                                 {"dst_addr", "48.0.0.1"},
                                 {"dual_port_addr", "1.0.0.0"},
                                 {"mask", mask}});
  }
  static std::string error_of(const Json& answer) {
    return answer.value("/error/specific_err"_json_pointer, "");
  }

  ProfileState state() { return control_.state().profiles.find("_").state; }

  /// What events say went wrong since the last call.
  std::vector<std::string> take_errors(int64_t session = 1) {
    std::vector<std::string> errors;
    for (const Json& event : control_.state().subscribers.take(session, stand_in().now))
      if (event["data"].contains("error")) errors.push_back(event["data"]["error"]);
    return errors;
  }

  static Json starting(double latency_rate = 0) {
    return {{"profile_id", "_"},
            {"mult", 1},
            {"nc", false},
            {"duration", -1},
            {"latency_pps", latency_rate}};
  }
};

TEST_F(ResolutionTest, OtherRequestsAreAnsweredWhileAStartWaitsForItsGateway) {
  result("start", starting());
  for (int look = 0; look < 90; ++look) {
    pass(0.01);
    EXPECT_TRUE(raw("ping", Json::object()).contains("result"));
    ASSERT_EQ(state(), ProfileState::build);
    EXPECT_THAT(take_errors(), IsEmpty());
  }
  EXPECT_THAT(stand_in().calls, IsEmpty());
  pass(0.2);
  EXPECT_THAT(take_errors(), Contains(HasSubstr(kSilent)));
  EXPECT_EQ(state(), ProfileState::loaded);
  EXPECT_THAT(stand_in().calls, IsEmpty());
}

TEST_F(ResolutionTest, AStartGoesOnWhenItsGatewayAnswers) {
  result("start", starting());
  pass(0.5);
  stand_in().ports[0].resolved = true;
  pass(0.03);
  EXPECT_EQ(state(), ProfileState::transmit);
}

TEST_F(ResolutionTest, TimeInWhichNobodyLookedDoesNotCount) {
  result("start", starting());
  pass(0.1);
  stand_in().now += 10;
  pass(0.1);
  EXPECT_EQ(state(), ProfileState::build);
}

TEST_F(ResolutionTest, NothingIsWaitedForWithoutAGateway) {
  stand_in().ports[0].address.gateway.reset();
  start(starting());
  EXPECT_THAT(take_errors(), Contains(HasSubstr("port 0 has no destination: give it default_gw")));
}

TEST_F(ResolutionTest, AnIpv6GatewayIsNamedByWhatItDoesNotAnswer) {
  stand_in().ports[0].address.gateway.reset();
  stand_in().ports[0].address.ipv6_gateway = IpAddress::v4(1);
  result("start", starting());
  pass(1.2);
  EXPECT_THAT(take_errors(), Contains(HasSubstr("does not answer neighbour solicitations")));
}

TEST_F(ResolutionTest, PortsThatOpenNothingAreNotWaitedFor) {
  Json one = starting();
  one["client_mask"] = 0;
  start(one);
  EXPECT_EQ(state(), ProfileState::transmit);
}

TEST_F(ResolutionTest, LatencyStreamsOfAProfileWaitForTheirPortsToo) {
  Json with_latency = starting(100);
  with_latency["client_mask"] = 0;
  result("start", with_latency);
  pass(0.5);
  EXPECT_EQ(state(), ProfileState::build);
  EXPECT_THAT(stand_in().calls, IsEmpty());
  stand_in().ports[0].resolved = true;
  pass(0.03);
  EXPECT_EQ(stand_in().calls,
            (std::vector<std::string>{"start 1", "start_latency 0", "start_latency 1"}));
}

TEST_F(ResolutionTest, AStopEndsTheWait) {
  result("start", starting());
  pass(0.1);
  result("stop", {{"profile_id", "_"}});
  EXPECT_EQ(state(), ProfileState::loaded);
  EXPECT_THAT(take_errors(), Contains("it was stopped before its run began"));
  stand_in().ports[0].resolved = true;
  pass(2);
  EXPECT_THAT(stand_in().calls, IsEmpty());
  start(starting());
  EXPECT_EQ(state(), ProfileState::transmit);
}

TEST_F(ResolutionTest, AReleaseEndsAllWaits) {
  result("start", starting());
  const auto latency = start_latency();
  pass(0.1);
  result("release");
  EXPECT_EQ(state(), ProfileState::loaded);
  pass(0.02);
  EXPECT_EQ(error_of(*latency), "the context was released");
  stand_in().ports[0].resolved = true;
  pass(2);
  EXPECT_THAT(stand_in().calls, IsEmpty());
}

TEST_F(ResolutionTest, AClientThatTakesOverFindsNoWait) {
  result("start", starting());
  const auto latency = start_latency();
  pass(0.1);
  acquire(2, true);
  EXPECT_EQ(state(), ProfileState::loaded);
  pass(0.02);
  EXPECT_EQ(error_of(*latency), "another client took the context over");
}

TEST_F(ResolutionTest, AShutdownAnswersWhoWaits) {
  result("start", starting());
  const auto latency = start_latency();
  control_.abandon("the server stops");
  EXPECT_EQ(error_of(*latency), "the server stops");
  EXPECT_EQ(state(), ProfileState::loaded);
}

TEST_F(ResolutionTest, LatencyStreamsAreAnsweredOnceTheGatewayAnswers) {
  const auto answer = start_latency();
  pass(0.5);
  EXPECT_TRUE(answer->is_null());
  EXPECT_TRUE(raw("ping", Json::object()).contains("result"));
  EXPECT_THAT(error_of(*start_latency()), HasSubstr("Latency state is not idle"));
  EXPECT_THAT(refusal("start", starting(100)), HasSubstr("Latency state is not idle"));
  stand_in().ports[0].resolved = true;
  pass(0.03);
  EXPECT_TRUE(answer->contains("result"));
  EXPECT_EQ((*answer)["id"], 7);
  EXPECT_THAT(stand_in().calls, Contains("start_latency 0"));
}

TEST_F(ResolutionTest, LatencyStreamsAreRefusedAfterTheSameTime) {
  const auto answer = start_latency();
  pass(0.9);
  EXPECT_TRUE(answer->is_null());
  pass(0.2);
  EXPECT_THAT(error_of(*answer), HasSubstr(kSilent));
  EXPECT_THAT(stand_in().calls, IsEmpty());
  stand_in().ports[0].resolved = true;
  EXPECT_TRUE(start_latency()->contains("result"));
}

TEST_F(ResolutionTest, LatencyStreamsThatAreStoppedMeanwhileDoNotBegin) {
  const auto answer = start_latency();
  pass(0.1);
  result("stop_latency");
  stand_in().ports[0].resolved = true;
  pass(0.02);
  EXPECT_THAT(error_of(*answer), HasSubstr("stopped before"));
  EXPECT_THAT(stand_in().calls, IsEmpty());
  EXPECT_TRUE(start_latency()->contains("result"));
}

}  // namespace
}  // namespace engine
