// Passes every frame on: attached for a moment to see whether a driver runs XDP itself.
__attribute__((section("xdp"), used)) int pass(void *frame) { return 2; } // XDP_PASS, linux/bpf.h

char _license[] __attribute__((section("license"), used)) = "GPL";
