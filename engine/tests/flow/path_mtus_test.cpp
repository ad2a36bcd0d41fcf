#include "flow/path_mtus.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

TEST(PathMtus, AreForgottenAfterTenMinutes) {
  PathMtus paths;
  const auto near = IpAddress::v4(0x10000001), far = IpAddress::v4(0x10000002);
  EXPECT_TRUE(paths.empty());
  paths.learn(near, 1400, 0);
  paths.learn(far, 1300, kSecond);
  EXPECT_EQ(paths.find(near, PathMtus::kLifetime - 1), 1400u);
  EXPECT_EQ(paths.find(near, PathMtus::kLifetime), 0u);
  EXPECT_EQ(paths.find(far, PathMtus::kLifetime), 1300u);
  EXPECT_FALSE(paths.empty());
  EXPECT_EQ(paths.find(far, PathMtus::kLifetime + kSecond), 0u);
  EXPECT_TRUE(paths.empty());
}

TEST(PathMtus, AreNotMoreThanTheyMayBe) {
  PathMtus paths;
  for (uint32_t at = 0; at < PathMtus::kMost + 10; ++at) paths.learn(IpAddress::v4(at), 1400, at);
  EXPECT_EQ(paths.find(IpAddress::v4(0), 0), 1400u);
  EXPECT_EQ(paths.find(IpAddress::v4(PathMtus::kMost), 0), 0u);
  paths.learn(IpAddress::v4(0), 1300, kSecond);
  EXPECT_EQ(paths.find(IpAddress::v4(0), kSecond), 1300u) << "one that is known may change";
  const Nanoseconds later = PathMtus::kLifetime + PathMtus::kMost;
  paths.learn(IpAddress::v4(PathMtus::kMost), 1200, later);
  EXPECT_EQ(paths.find(IpAddress::v4(PathMtus::kMost), later), 1200u) << "old ones made room";
}

}  // namespace
}  // namespace engine
