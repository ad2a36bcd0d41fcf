#include "capture/packet_filter.h"

#include <nss.h>
#include <pcap/pcap.h>

namespace engine {

namespace {

constexpr int kFilteredLength = 65535;

/// Has names in filters looked up in /etc/hosts and /etc/networks alone. Asking a name server would
/// send packets out of this machine, and the control thread would wait for the answer.
void look_up_names_in_files() {
  static const bool once = [] {
    __nss_configure_lookup("hosts", "files");
    __nss_configure_lookup("networks", "files");
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace

struct PacketFilter::Program {
  Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { pcap_freecode(&code); }

  bpf_program code{};
};

std::optional<PacketFilter> PacketFilter::compile(const std::string& text) {
  PacketFilter filter;
  if (text.empty()) return filter;
  look_up_names_in_files();
  const std::unique_ptr<pcap_t, decltype(&pcap_close)> ethernet(
      pcap_open_dead(DLT_EN10MB, kFilteredLength), pcap_close);
  auto program = std::make_shared<Program>();
  constexpr int kOptimize = 1;
  if (!ethernet || pcap_compile(ethernet.get(), &program->code, text.c_str(), kOptimize,
                                PCAP_NETMASK_UNKNOWN) != 0)
    return std::nullopt;
  filter.program_ = std::move(program);
  return filter;
}

bool PacketFilter::matches(std::span<const uint8_t> bytes) const {
  if (program_ == nullptr) return true;
  pcap_pkthdr header{};
  header.caplen = header.len = static_cast<bpf_u_int32>(bytes.size());
  return pcap_offline_filter(&program_->code, &header, bytes.data()) != 0;
}

}  // namespace engine
