#include "rpc/json_rpc.h"

#include <gtest/gtest.h>

#include "rpc/rpc_error.h"

namespace engine {
namespace {

Outcome echo(const std::string& method, const Json& params) {
  if (method == "refuse") throw refused("not now");
  if (method == "fail") throw std::runtime_error("broken");
  return {{{"method", method}, {"params", params}}, {}};
}

std::string answered(const std::string& bytes) {
  ByteBudget replies("replies", 1 << 20, "ask for less");
  return Exchange(bytes, replies, echo).advance().value();
}

Json answer(const std::string& text) {
  return Json::parse(answered(text));
}

int code_of(const std::string& text) {
  return answer(text)["error"]["code"];
}

TEST(JsonRpc, AnswersWithResultAndId) {
  const Json reply = answer(R"({"jsonrpc":"2.0","id":"x","method":"m","params":{"a":1}})");
  EXPECT_EQ(reply,
            Json::parse(R"({"jsonrpc":"2.0","id":"x","result":{"method":"m","params":{"a":1}}})"));
}

TEST(JsonRpc, TakesAbsentParametersAsNone) {
  EXPECT_EQ(answer(R"({"jsonrpc":"2.0","id":1,"method":"m"})")["result"]["params"], Json::object());
}

TEST(JsonRpc, NamesWhatIsWrongWithARequest) {
  EXPECT_EQ(code_of("nonsense"), -32700);
  EXPECT_EQ(code_of(""), -32700);
  EXPECT_EQ(answer("{")["error"]["message"], "Bad JSON Format");
  EXPECT_EQ(answer(R"({"jsonrpc":"2.0","method":"m"})")["error"]["message"], "Missing 'id' field");
  EXPECT_EQ(answer(R"({"id":1,"method":"m"})")["error"]["message"], "Invalid JSONRPC Version");
  EXPECT_EQ(answer(R"({"jsonrpc":2.0,"id":1,"method":"m"})")["error"]["message"],
            "Invalid JSONRPC Version");
  EXPECT_EQ(answer(R"({"jsonrpc":"2.0","id":1})")["error"]["message"], "Missing Method Name");
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1,"method":["m"]})"), -32600);
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1,"method":"m","params":[1]})"), -32602);
  for (const char* scalar : {"5", "null", "true", "\"text\""}) EXPECT_EQ(code_of(scalar), -32600);
}

TEST(JsonRpc, PassesOnRefusalsAndFailures) {
  const Json refusal = answer(R"({"jsonrpc":"2.0","id":1,"method":"refuse"})")["error"];
  EXPECT_EQ(refusal["code"], -32000);
  EXPECT_EQ(refusal["message"], "Failed To Execute Method");
  EXPECT_EQ(refusal["specific_err"], "not now");
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1,"method":"fail"})"), -32603);
}

TEST(JsonRpc, AnswersBatchesInOrderAndABatchOfOneBare) {
  const std::string one = R"({"jsonrpc":"2.0","id":1,"method":"m"})";
  const std::string bad = R"({"jsonrpc":"2.0","id":2})";
  EXPECT_TRUE(answer("[" + one + "]").is_object());
  const Json replies = answer("[" + one + "," + bad + ",7]");
  ASSERT_EQ(replies.size(), 3u);
  EXPECT_EQ(replies[0]["id"], 1);
  EXPECT_EQ(replies[1]["error"]["code"], -32600);
  EXPECT_EQ(replies[2]["error"]["code"], -32600);
  EXPECT_EQ(code_of("[]"), -32600);
}

TEST(JsonRpc, ABatchIsCarriedOutAsFarAsItsAnswersHaveRoom) {
  ByteBudget replies("replies", 500, "ask for less");
  std::vector<uint64_t> left;
  const auto long_answer = [&](const std::string&, const Json&) -> Outcome {
    left.push_back(replies.left());
    return {std::string(200, 'x'), {}};
  };
  const std::string one = R"({"jsonrpc":"2.0","id":7,"method":"m"})";
  const std::string batch = "[" + one + "," + one + "," + one + "," + one + "]";
  for (int again = 0; again < 2; ++again) {
    left.clear();
    const Json answers = Json::parse(Exchange(batch, replies, long_answer).advance().value());
    ASSERT_EQ(left.size(), 3u) << "the last one is not carried out";
    EXPECT_EQ(left[0], 500u);
    EXPECT_LT(left[2], 200u);
    EXPECT_EQ(answers[1]["result"].get<std::string>().size(), 200u);
    EXPECT_NE(answers[2]["error"]["specific_err"].get<std::string>().find("the answer to what was"),
              std::string::npos);
    EXPECT_NE(answers[3]["error"]["specific_err"].get<std::string>().find("not carried out"),
              std::string::npos);
    EXPECT_EQ(answers[3]["id"], 7);
  }
  EXPECT_EQ(replies.left(), 500u);
}

TEST(JsonRpc, AMessageWaitsForTheOutcomeOfItsRequestsInTheirOrder) {
  std::vector<std::string> calls;
  int looks = 0;
  const auto slow = [&](const std::string& method, const Json&) -> Outcome {
    calls.push_back(method);
    if (method != "slow") return {"at once", {}};
    return {{}, [&looks]() -> std::optional<Json> {
              if (++looks < 3) return std::nullopt;
              if (looks > 3) throw refused("too late");
              return "later";
            }};
  };
  const auto one = [](const std::string& id, const std::string& method) {
    return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + "\"}";
  };
  ByteBudget replies("replies", 1 << 20, "ask for less");
  Exchange batch("[" + one("1", "slow") + "," + one("2", "quick") + "," + one("3", "slow") + "]",
                 replies, slow);
  EXPECT_EQ(batch.advance(), std::nullopt);
  EXPECT_EQ(batch.advance(), std::nullopt);
  EXPECT_EQ(calls, std::vector<std::string>{"slow"});
  const Json answers = Json::parse(batch.advance().value());
  EXPECT_EQ(calls, (std::vector<std::string>{"slow", "quick", "slow"}));
  EXPECT_EQ(answers[0]["result"], "later");
  EXPECT_EQ(answers[1]["result"], "at once");
  EXPECT_EQ(answers[2]["error"]["specific_err"], "too late");

  looks = 0;
  Exchange packed(pack_message(one("7", "slow")), replies, slow);
  EXPECT_EQ(packed.advance(), std::nullopt);
  EXPECT_EQ(packed.advance(), std::nullopt);
  const Message reply = unpack_message(packed.advance().value(), kRequestLimit);
  EXPECT_TRUE(reply.compressed);
  EXPECT_EQ(Json::parse(reply.text)["id"], 7);
}

TEST(JsonRpc, RefusesNestingThatWouldEatTheStack) {
  for (size_t depth : {size_t{kMaxNesting} + 10, size_t{190'000}}) {
    EXPECT_EQ(code_of(std::string(depth, '[') + std::string(depth, ']')), -32700);
    EXPECT_EQ(code_of(std::string(depth, '[')), -32700);
    std::string objects;
    for (size_t i = 0; i < depth; ++i) objects += R"({"a":)";
    EXPECT_EQ(code_of(objects), -32700);
  }
}

TEST(JsonRpc, SurvivesBytesThatAreNoText) {
  EXPECT_EQ(code_of("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}"), -32700);
  EXPECT_EQ(code_of(std::string("{\"a\0\":1}", 8)), -32700);
  const Json reply = answer(R"({"jsonrpc":"2.0","id":"\u0000","method":"a\u0000b"})");
  EXPECT_EQ(reply["result"]["method"], std::string("a\0b", 3));
  EXPECT_NO_THROW(dump_json("\xff\xfe"));
}

TEST(JsonRpc, CompressesTheAnswerIfTheRequestWas) {
  const std::string request = R"({"jsonrpc":"2.0","id":1,"method":"m"})";
  EXPECT_EQ(Json::parse(answered(request))["id"], 1);
  const Message reply = unpack_message(answered(pack_message(request)), kRequestLimit);
  EXPECT_TRUE(reply.compressed);
  EXPECT_EQ(Json::parse(reply.text)["id"], 1);
}

TEST(JsonRpc, RefusesLargeRequestsInTrexsWords) {
  const Json error = Json::parse(answered(std::string(kRequestLimit, ' ')))["error"];
  EXPECT_EQ(error["code"], -32603);
  EXPECT_EQ(error["message"],
            "Request is too large (1000000 bytes). Consider breaking down request to smaller "
            "requests");
}

}  // namespace
}  // namespace engine
