#include <gtest/gtest.h>

#include "net/address.h"
#include "rpc/json_rpc.h"

namespace engine {
namespace {

constexpr size_t kLimit = 1'000'000;

std::string with_length(std::string message, uint32_t length) {
  store_be(message.data() + 4, length);
  return message;
}

TEST(Compression, GivesBackWhatWasPacked) {
  for (const std::string& text : {std::string(), std::string("{}"), std::string(300'000, 'a')}) {
    const Message message = unpack_message(pack_message(text), kLimit);
    EXPECT_TRUE(message.compressed);
    EXPECT_EQ(message.text, text);
  }
}

TEST(Compression, HasTrexsHeader) {
  const std::string packed = pack_message("hello");
  EXPECT_EQ(load_be<uint32_t>(packed.data()), 0xABE85CEAu);
  EXPECT_EQ(load_be<uint32_t>(packed.data() + 4), 5u);
}

TEST(Compression, TakesEverythingElseAsPlainText) {
  const std::string packed = pack_message("hello");
  for (const std::string& plain :
       {std::string("{}"), packed.substr(0, 7), packed.substr(0, packed.size() - 1),
        with_length(packed, 4), with_length(packed, 6), packed.substr(0, 8) + "not zlib"}) {
    const Message message = unpack_message(plain, kLimit);
    EXPECT_FALSE(message.compressed);
    EXPECT_EQ(message.text, plain);
  }
}

TEST(Compression, RefusesWhatIsTooLongBeforeOrAfterInflation) {
  EXPECT_THROW(unpack_message(std::string(kLimit, 'x'), kLimit), MessageTooLarge);
  EXPECT_NO_THROW(unpack_message(std::string(kLimit - 1, 'x'), kLimit));
  const std::string bomb = pack_message(std::string(kLimit, 'x'));
  ASSERT_LT(bomb.size(), 10'000u);
  EXPECT_THROW(unpack_message(bomb, kLimit), MessageTooLarge);
  EXPECT_NO_THROW(unpack_message(pack_message(std::string(kLimit - 1, 'x')), kLimit));
}

TEST(Compression, InflatesABombThatLiesAboutItsLengthNoFurtherThanItSays) {
  const std::string bomb = with_length(pack_message(std::string(20'000'000, 'x')), 1000);
  EXPECT_FALSE(unpack_message(bomb, kLimit).compressed);
}

}  // namespace
}  // namespace engine
