#pragma once
// Libraries that talk to standard error while a device is opened, kept quiet unless it fails.

#include <string>

namespace engine {

/// While it lives, what the process writes to standard error goes to memory instead.
class CapturedErrors {
 public:
  CapturedErrors();
  ~CapturedErrors();
  CapturedErrors(const CapturedErrors&) = delete;
  CapturedErrors& operator=(const CapturedErrors&) = delete;

  /// What was written so far, its lines joined by "; ".
  std::string text() const;

 private:
  int memory_;
  int standard_error_;
};

}  // namespace engine
