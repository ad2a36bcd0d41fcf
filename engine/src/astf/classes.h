#pragma once
// The numbers by which flows name their classes.

#include <cstdint>
#include <vector>

#include "astf/template_class.h"
#include "flow/context.h"

namespace engine {

/// All classes of flows on one data core. A number is taken while a flow may have it, and is used
/// again later.
class Classes {
 public:
  explicit Classes(Context& context) : context_(context), numbered_(context.classes) {}

  uint32_t take(TemplateClass& template_side) {
    template_side.transmit = context_.transmit[index_of(template_side.side)];
    template_side.l2_headers = &context_.l2_headers[index_of(template_side.side)];
    if (free_.empty()) {
      numbered_.push_back(&template_side);
      return static_cast<uint32_t>(numbered_.size() - 1);
    }
    const uint32_t number = free_.back();
    free_.pop_back();
    numbered_[number] = &template_side;
    return number;
  }
  void give_back(uint32_t number) {
    numbered_[number] = nullptr;
    free_.push_back(number);
  }

  /// Only `take` enters any, so each is the class of a template.
  TemplateClass& operator[](uint32_t number) {
    return static_cast<TemplateClass&>(*numbered_[number]);
  }
  TemplateClass& of(const Flow& flow) { return (*this)[flow.flow_class]; }

 private:
  Context& context_;
  std::vector<FlowClass*>& numbered_;  ///< Context::classes
  std::vector<uint32_t> free_;
};

}  // namespace engine
