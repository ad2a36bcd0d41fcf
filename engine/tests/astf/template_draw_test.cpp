#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "astf/schedule.h"

namespace engine {
namespace {

/// Chi-square of `draws` draws against the weights, and that nothing of weight 0 comes.
double chi_square(TemplateDraw& draw, const std::vector<double>& weights, int draws) {
  std::vector<int> counts(weights.size());
  for (int i = 0; i < draws; ++i) ++counts[draw.draw()];
  double total = 0;
  for (const double weight : weights) total += weight;
  double chi = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const double expected = draws * weights[i] / total;
    if (weights[i] == 0)
      EXPECT_EQ(counts[i], 0);
    else
      chi += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  return chi;
}

TEST(TemplateDraw, FollowsTheWeights) {
  // The mix of TRex's sfr profile, with two templates that have no cps.
  const std::vector<double> weights = {404.52, 0,   130.8745, 709.89, 253.81, 101.5,
                                       8.75,   0.5, 0,        51.7,   1e-9};
  TemplateDraw draw(weights, 42);
  // 8 degrees of freedom: above 26 in one of a thousand cases. The seed is fixed.
  EXPECT_LT(chi_square(draw, weights, 1'000'000), 26);
}

TEST(TemplateDraw, RemovedTemplatesDoNotCome) {
  std::vector<double> weights = {1, 2, 3, 4};
  TemplateDraw draw(weights, 1);
  weights[3] = 0;
  draw.remove(3);
  EXPECT_LT(chi_square(draw, weights, 100'000), 14);
  weights[3] = 10;
  draw.restore(3, 10);
  EXPECT_LT(chi_square(draw, weights, 100'000), 17);
  for (const uint32_t index : {0u, 1u, 2u}) draw.remove(index);
  EXPECT_FALSE(draw.empty());
  EXPECT_EQ(draw.draw(), 3u);
  draw.remove(3);
  EXPECT_TRUE(draw.empty());
}

TEST(TemplateDraw, ASeedRepeatsARun) {
  const std::vector<double> weights(255, 0.1);
  TemplateDraw one(weights, 5);
  TemplateDraw same(weights, 5);
  TemplateDraw other(weights, 6);
  int different = 0;
  for (int i = 0; i < 1000; ++i) {
    const uint32_t drawn = one.draw();
    EXPECT_EQ(drawn, same.draw());
    different += drawn != other.draw();
  }
  EXPECT_GT(different, 900);
}

TEST(TemplateDraw, WithoutWeightsItIsEmpty) {
  EXPECT_TRUE(TemplateDraw({}, 1).empty());
  EXPECT_TRUE(TemplateDraw({0, 0}, 1).empty());
}

}  // namespace
}  // namespace engine
