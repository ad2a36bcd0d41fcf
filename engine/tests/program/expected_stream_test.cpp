#include "program/expected_stream.h"

#include <gtest/gtest.h>

#include <string>

namespace engine {
namespace {

class ExpectedStreamTest : public testing::Test {
 protected:
  static Command command(Operation operation, uint32_t index = 0, uint64_t amount = 0,
                         uint32_t target = 0) {
    Command made;
    made.operation = operation;
    made.index = index;
    made.amount = amount;
    made.target = target;
    return made;
  }
  static Command tx(uint32_t buffer) { return command(Operation::tx, buffer); }

  ExpectedStream stream(std::vector<Command> commands) {
    commands.push_back(command(Operation::end));
    return {Program{.commands = std::move(commands)}, buffers_};
  }

  /// Known and differing bytes of `text` at `position`.
  static std::pair<uint64_t, uint64_t> compare(const ExpectedStream& expected, uint64_t position,
                                               const std::string& text) {
    const auto found =
        expected.compare(position, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
    return {found.known, found.differs};
  }
  using Found = std::pair<uint64_t, uint64_t>;

  std::vector<Buffer> buffers_{Buffer("abc", 3, ""), Buffer("de", 2, ""), Buffer("x", 100'000, "x"),
                               Buffer("", 0, "")};
};

TEST_F(ExpectedStreamTest, JoinsBuffersAndFindsEveryByteThatDiffers) {
  const ExpectedStream expected =
      stream({tx(0), command(Operation::rx, 0, 10), tx(3), tx(1), tx(0)});
  EXPECT_EQ(compare(expected, 0, "abcdeabc"), Found(8, 0));
  EXPECT_EQ(compare(expected, 2, "cdea"), Found(4, 0));
  EXPECT_EQ(compare(expected, 3, "de"), Found(2, 0));
  EXPECT_EQ(compare(expected, 2, "cDeA"), Found(4, 2));
  EXPECT_EQ(compare(expected, 0, ""), Found(0, 0));
}

TEST_F(ExpectedStreamTest, WhatComesBehindTheEndDiffers) {
  const ExpectedStream expected = stream({tx(0)});
  EXPECT_EQ(compare(expected, 1, "bcabc"), Found(5, 3));
  EXPECT_EQ(compare(expected, 1'000'000, "a"), Found(1, 1));
}

TEST_F(ExpectedStreamTest, LongBuffersAreComparedInTheirWholeLength) {
  const ExpectedStream expected = stream({tx(2), tx(0)});
  std::string text(100'000, 'x');
  EXPECT_EQ(compare(expected, 0, text + "abc"), Found(100'003, 0));
  text[70'000] = 'y';
  EXPECT_EQ(compare(expected, 0, text + "abc"), Found(100'003, 1));
}

TEST_F(ExpectedStreamTest, LoopsThatCountAreFollowed) {
  Command unless_ten = command(Operation::jmp_cmp, 1, 2, 3);
  unless_ten.comparison = Comparison::less;
  const ExpectedStream expected =
      stream({command(Operation::set_var, 0, 3), tx(0), command(Operation::jmp_nz, 0, 0, 1), tx(1),
              command(Operation::add_var, 1, 1), unless_ten});
  EXPECT_EQ(compare(expected, 0, "abcabcabcdede"), Found(13, 0));
  EXPECT_EQ(compare(expected, 12, "ex"), Found(2, 1));
}

TEST_F(ExpectedStreamTest, BehindAJumpByTimeNothingIsKnown) {
  const ExpectedStream expected = stream({tx(0), command(Operation::jmp_dp, 0, 1000, 0), tx(1)});
  EXPECT_EQ(compare(expected, 0, "abX"), Found(3, 1));
  EXPECT_EQ(compare(expected, 1, "bcde"), Found(2, 0));
  EXPECT_EQ(compare(expected, 5, "de"), Found(0, 0));
}

TEST_F(ExpectedStreamTest, AnEndlessLoopIsKnownForAWhile) {
  const ExpectedStream expected = stream({tx(0), command(Operation::jmp_cmp, 0, 0, 0)});
  EXPECT_EQ(compare(expected, 3000, "abcabc"), Found(6, 0));
  EXPECT_EQ(compare(expected, uint64_t{3} << 32, "abc"), Found(0, 0));
}

TEST_F(ExpectedStreamTest, DatagramsMayComeInAnyOrder) {
  const ExpectedStream expected(
      Program{.stream = false,
              .commands = {command(Operation::tx_msg, 0), command(Operation::jmp_dp, 0, 5, 0),
                           command(Operation::tx_msg, 1), command(Operation::close_msg)}},
      buffers_);
  const auto compare_text = [&](const std::string& text) {
    const auto found =
        expected.compare_datagram({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
    return Found(found.known, found.differs);
  };
  EXPECT_EQ(compare_text("de"), Found(2, 0));
  EXPECT_EQ(compare_text("abc"), Found(3, 0));
  EXPECT_EQ(compare_text("aXc"), Found(3, 1));
  EXPECT_EQ(compare_text("abcd"), Found(4, 4));
}

}  // namespace
}  // namespace engine
