#pragma once
// One side of one template of a run, as the flows of one data core see it.

#include <cstdint>

#include "astf/payload_check.h"
#include "flow/context.h"
#include "stats/counters.h"
#include "tls/endpoint.h"

namespace engine {

class ProfileRun;
struct UndecidedClass;

/// A flow's class with what only the run and its core act upon.
struct TemplateClass : FlowClass {
  ProfileRun* run = nullptr;              ///< it belongs to this run
  PayloadCheck* payload_check = nullptr;  ///< of received payload; nullptr: none
  UndecidedClass* undecided = nullptr;    ///< itself, where it is of one undecided flow
  uint32_t template_index = 0;            ///< in the run's profile
  uint32_t client_range = 0;              ///< whose pool the ports of its clients are from

  /// The class's coder, which is no other; nullptr: without TLS.
  tls::Endpoint* tls() const { return static_cast<tls::Endpoint*>(coder); }
};

/// The class of one server flow whose template its first payload decides on (l7_map). What is
/// counted until then goes along to the template's counters.
struct UndecidedClass : TemplateClass {
  static constexpr uint32_t kNone = UINT32_MAX;

  CounterBlock own_counters;
  uint32_t number = kNone;  ///< of this class, from the first time that a flow had it
  uint32_t reference = 0;   ///< class of one of the templates in question
  uint32_t next = 0;

  uint32_t& pool_next() { return next; }
};

}  // namespace engine
