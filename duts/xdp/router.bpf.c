// Forwards IPv4 frames as the kernel's own routes and neighbours say, before its stack sees them.
//
// With SERVICE (an address) it is also a balancer of layer 4: clients of that address get one of
// ENDPOINTS by a hash of their address and port, so it keeps no table of connections; what the
// endpoints send comes from the service again. What it does not understand goes to the kernel.

// clang-format off
#include <linux/bpf.h>  // first: the others need its types
// clang-format on

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/tcp.h>

#define AF_INET 2

#ifdef SERVICE

#define COUNT (sizeof endpoints / sizeof *endpoints)

const volatile __u32 endpoints[] = {ENDPOINTS};

// A checksum after a change of one address that it covers (RFC 1624).
static __always_inline __u16 changed(__u16 sum, __be32 before, __be32 after) {
  __u32 all = bpf_csum_diff(&before, 4, &after, 4, (__u16)~sum);
  all = (all & 0xffff) + (all >> 16);
  return ~(__u16)(all + (all >> 16));
}

static __always_inline void translate(struct iphdr* ip, void* end) {
  struct tcphdr* tcp = (void*)(ip + 1);
  if (ip->protocol != IPPROTO_TCP || (void*)(tcp + 1) > end) return;
  __be32* place = 0;
  __u32 address = 0;
  if (ip->daddr == bpf_htonl(SERVICE)) {
    __u32 hash = (ip->saddr ^ tcp->source) * 0x9e3779b1u;  // 2^32 divided by the golden ratio
    __u32 chosen = ((__u64)hash * COUNT) >> 32;
    barrier_var(chosen);  // the compiler knows that it is in the table, the verifier does not
    if (chosen >= COUNT) return;
    place = &ip->daddr;
    address = endpoints[chosen];
  } else {
    for (__u32 at = 0; at < COUNT; at++) {
      if (ip->saddr == bpf_htonl(endpoints[at])) place = &ip->saddr;
    }
    address = SERVICE;
  }
  if (!place) return;
  address = bpf_htonl(address);
  ip->check = changed(ip->check, *place, address);
  tcp->check = changed(tcp->check, *place, address);
  *place = address;
}

#else

static __always_inline void translate(struct iphdr* ip, void* end) {}

#endif

SEC("xdp")
int route(struct xdp_md* frame) {
  void* end = (void*)(long)frame->data_end;
  struct ethhdr* ethernet = (void*)(long)frame->data;
  struct iphdr* ip = (void*)(ethernet + 1);
  if ((void*)(ip + 1) > end || ethernet->h_proto != bpf_htons(ETH_P_IP)) return XDP_PASS;
  if (ip->ihl != 5 || ip->ttl <= 1 || ip->frag_off & bpf_htons(0x3fff)) return XDP_PASS;
  translate(ip, end);
  struct bpf_fib_lookup way = {
      .family = AF_INET,
      .tos = ip->tos,
      .l4_protocol = ip->protocol,
      .tot_len = bpf_ntohs(ip->tot_len),
      .ipv4_src = ip->saddr,
      .ipv4_dst = ip->daddr,
      .ifindex = frame->ingress_ifindex,
  };
  if (bpf_fib_lookup(frame, &way, sizeof way, 0) != BPF_FIB_LKUP_RET_SUCCESS) return XDP_PASS;
  __u32 sum = ip->check + bpf_htons(0x0100);  // one less in the upper byte of its word
  ip->check = sum + (sum >= 0xffff);
  ip->ttl--;
  __builtin_memcpy(ethernet->h_dest, way.dmac, ETH_ALEN);
  __builtin_memcpy(ethernet->h_source, way.smac, ETH_ALEN);
  return bpf_redirect(way.ifindex, 0);
}

char _license[] SEC("license") = "GPL";
