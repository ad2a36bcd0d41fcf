#pragma once
// TRex's configuration file.

#include <string>

#include "control/config.h"

namespace engine {

/// Reads TRex's YAML (list of one mapping, or a mapping). TRex's keys that mean nothing here are
/// passed over; keys unknown to both are named in one notice. Throws ConfigError naming the file,
/// the line, the key and what is expected. `path`: what messages call the file.
EngineConfig parse_config(const std::string& text, const std::string& path);
/// Reads the file at `path`. Throws ConfigError as parse_config does, or when there is no such
/// file.
EngineConfig load_config(const std::string& path);

}  // namespace engine
