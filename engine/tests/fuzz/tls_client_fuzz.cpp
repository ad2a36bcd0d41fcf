// The engine as a TLS client: whatever a server says, no access out of bounds, and nothing of a
// connection is left when its run is closed. script/fuzz builds and runs it.

#include "fuzz/tls_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  engine::netsim::fuzz_tls(engine::Side::server, data, size);
  return 0;
}
