#include "json/json_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <string>

namespace engine {
namespace {

/// Bytes that the program holds on its heap; 0 under a sanitizer, whose heap this does not see.
size_t held() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/// `element` so many times, with its number in the place of '#'.
std::string many(const std::string& element, int count, char open, char close) {
  std::string text(1, open);
  for (int i = 0; i < count; ++i) {
    std::string next = element;
    if (const size_t place = next.find('#'); place != std::string::npos)
      next.replace(place, 1, std::to_string(i));
    text += (i == 0 ? "" : ",") + next;
  }
  return text + close;
}

TEST(JsonText, NothingTakesMoreMemoryThanItsBound) {
  constexpr int kMany = 20'000;
  for (const std::string& text :
       {many("[]", kMany, '[', ']'), many("{}", kMany, '[', ']'), many("\"\"", kMany, '[', ']'),
        many("1", kMany, '[', ']'), many("[[[1]]]", kMany, '[', ']'),
        many("{\"a\":{\"b\":{}}}", kMany, '[', ']'), many("\"#\":{}", kMany, '{', '}'),
        many("\"#\":[]", kMany, '{', '}'),
        many("\"a long key that has the number #\":\"\"", kMany, '{', '}')}) {
    uint64_t bound = 0;
    const size_t before = held();
    const nlohmann::json value = parse_json(text, UINT64_MAX, &bound);
    EXPECT_LE(held() - before, bound) << text.substr(0, 40);
    EXPECT_EQ(value.size(), size_t{kMany});
  }
}

TEST(JsonText, WhatExceedsItsBoundIsNotHeld) {
  const std::string text = many("{}", 1'000'000, '[', ']');
  const size_t before = held();
  try {
    parse_json(text, 10'000'000);
    FAIL();
  } catch (const JsonTooLarge& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("take more than 10000000 bytes"));
  }
  EXPECT_LE(held() - before, size_t{1'000'000});
  EXPECT_NO_THROW(parse_json("[1]", 3 + 2 * kBytesPerJsonValue));
  EXPECT_THROW(parse_json("[1]", 2 + 2 * kBytesPerJsonValue), JsonTooLarge);
}

TEST(JsonText, ValuesAreThoseOfTheText) {
  for (const char* text :
       {"null", "true", "-1", "18446744073709551615", "1.5", "\"\\u00e9\"", "[]", "{}",
        "[1,[2,{\"a\":[3,[]]},{}],\"x\"]", "{\"b\":{\"c\":[{}]},\"a\":false}"})
    EXPECT_EQ(parse_json(text), nlohmann::json::parse(text)) << text;
  EXPECT_EQ(parse_json("{\"a\":1,\"a\":[2]}")["a"], nlohmann::json::array({2}));
  for (const char* text : {"", "[", "{\"a\"}", "[1,]", "1 2", "\"\xff\"", "1e999"})
    EXPECT_THROW(parse_json(text), JsonError) << text;
}

TEST(JsonText, DeepNestingIsRefused) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_NO_THROW(parse_json(nested(kMaxNesting)));
  EXPECT_THROW(parse_json(nested(400'000)), JsonError);
}

}  // namespace
}  // namespace engine
