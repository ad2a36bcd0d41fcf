// Headers of libraries that most files include, compiled once for each part of the engine: a file
// still includes what it uses.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>
