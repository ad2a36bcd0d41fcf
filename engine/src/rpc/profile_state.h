#pragma once
// The states of profiles and of the server, and their names.

#include <cstdint>

namespace engine {

/// Of a profile and of the server, numbered and named as ASTF clients know them.
enum class ProfileState : uint8_t { idle, loaded, parse, build, transmit, cleanup, remove };

/// The words TRex uses in "Invalid state: ...".
constexpr const char* name_of(ProfileState state) {
  switch (state) {
    case ProfileState::idle:
      return "Idle";
    case ProfileState::loaded:
      return "Loaded profile";
    case ProfileState::parse:
      return "Parsing profile";
    case ProfileState::build:
      return "Setup traffic";
    case ProfileState::transmit:
      return "Transmitting";
    case ProfileState::cleanup:
      return "Cleanup traffic";
    case ProfileState::remove:
      return "Delete profile";
  }
  return "";
}

/// The name of a port's state in get_port_status; clients know these and no other.
constexpr const char* port_state_name(ProfileState state) {
  switch (state) {
    case ProfileState::idle:
      return "IDLE";
    case ProfileState::loaded:
      return "ASTF_LOADED";
    case ProfileState::parse:
      return "ASTF_PARSE";
    case ProfileState::build:
      return "ASTF_BUILD";
    case ProfileState::transmit:
      return "TX";
    case ProfileState::cleanup:
      return "ASTF_CLEANUP";
    case ProfileState::remove:
      return "ASTF_LOADED";
  }
  return "";
}

constexpr bool is_transient(ProfileState state) {
  return state == ProfileState::parse || state == ProfileState::build ||
         state == ProfileState::cleanup || state == ProfileState::remove;
}

/// Among the states of all profiles the one with the highest rank is the server's.
constexpr int rank_of(ProfileState state) {
  switch (state) {
    case ProfileState::transmit:
      return 6;
    case ProfileState::build:
      return 5;
    case ProfileState::parse:
      return 4;
    case ProfileState::cleanup:
      return 3;
    case ProfileState::loaded:
      return 2;
    case ProfileState::remove:
      return 1;
    case ProfileState::idle:
      return 0;
  }
  return 0;
}

/// A profile being deleted counts as loaded in the server's state.
constexpr ProfileState as_server_state(ProfileState state) {
  return state == ProfileState::remove ? ProfileState::loaded : state;
}

}  // namespace engine
