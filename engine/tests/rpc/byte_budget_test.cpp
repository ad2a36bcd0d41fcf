#include <gtest/gtest.h>

#include "rpc/budgets.h"
#include "rpc/rpc_error.h"

namespace engine {
namespace {

TEST(ByteBudget, GivesOutWhatItHasAndTakesItBack) {
  ByteBudget budget("things", 100, "have fewer");
  {
    Charge one(budget);
    EXPECT_TRUE(one.grow(60));
    Charge other(budget);
    EXPECT_FALSE(other.grow(41));
    EXPECT_TRUE(other.grow(40));
    EXPECT_EQ(budget.left(), 0u);
    one.shrink(10);
    EXPECT_EQ(budget.left(), 10u);
    EXPECT_FALSE(one.set(61));
    EXPECT_TRUE(one.set(5));
    EXPECT_EQ(budget.left(), 55u);
    other = std::move(one);
    EXPECT_EQ(budget.left(), 95u);
    Charge third(std::move(other));
    EXPECT_EQ(third.bytes(), 5u);
  }
  EXPECT_EQ(budget.left(), 100u);
}

TEST(ByteBudget, ARefusalNamesItWhatIsAskedWhatIsLeftAndWhatToDo) {
  ByteBudget budget("things", 100, "have fewer");
  Charge charge(budget);
  charge.grow(90);
  try {
    charge.grow(11, "a thing");
    FAIL();
  } catch (const RpcError& error) {
    EXPECT_EQ(error.code, -32000);
    EXPECT_EQ(error.specific,
              "Memory budget 'things': a thing takes 11 bytes, 10 of 100 are left: have fewer");
  }
}

}  // namespace
}  // namespace engine
