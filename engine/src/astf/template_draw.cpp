#include <cmath>
#include <numeric>

#include "astf/schedule.h"

namespace engine {

TemplateDraw::TemplateDraw(const std::vector<double>& weights, uint64_t seed)
    : weights_(weights), state_(seed) {
  rebuild();
}

void TemplateDraw::remove(uint32_t index) {
  restore(index, 0);
}

void TemplateDraw::restore(uint32_t index, double weight) {
  weights_[index] = weight;
  rebuild();
}

// Vose 1991: pair a column that has less than its share with one that has more, again and again.
void TemplateDraw::rebuild() {
  constexpr double kFull = 4294967296.0;
  columns_.clear();
  const double total = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  for (uint32_t i = 0; i < weights_.size(); ++i)
    if (weights_[i] > 0) columns_.push_back({0, i, i});

  shares_.clear();
  small_.clear();
  large_.clear();
  for (uint32_t i = 0; i < columns_.size(); ++i) {
    shares_.push_back(weights_[columns_[i].own] / total * static_cast<double>(columns_.size()));
    (shares_[i] < 1 ? small_ : large_).push_back(i);
  }
  while (!small_.empty() && !large_.empty()) {
    const uint32_t less = small_.back();
    const uint32_t more = large_.back();
    small_.pop_back();
    columns_[less].threshold = static_cast<uint64_t>(std::llround(shares_[less] * kFull));
    columns_[less].alias = columns_[more].own;
    shares_[more] -= 1 - shares_[less];
    if (shares_[more] < 1) {
      large_.pop_back();
      small_.push_back(more);
    }
  }
  // What is left over is full but for rounding.
  for (const uint32_t i : small_) columns_[i].threshold = static_cast<uint64_t>(kFull);
  for (const uint32_t i : large_) columns_[i].threshold = static_cast<uint64_t>(kFull);
}

}  // namespace engine
