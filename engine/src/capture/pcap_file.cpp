#include "capture/pcap_file.h"

#include <fcntl.h>
#include <pcap/pcap.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace engine {

namespace {

constexpr int kSnapLength = 262'144;  // what tcpdump writes for "all"
// pcap-savefile(5)
constexpr uint64_t kFileHeader = 24;
constexpr uint64_t kFrameHeader = 16;

}  // namespace

struct PcapFile::Handles {
  pcap_t* ethernet;
  pcap_dumper_t* dumper;
};

void PcapFile::Close::operator()(Handles* handles) const {
  pcap_dump_close(handles->dumper);
  pcap_close(handles->ethernet);
  delete handles;
}

PcapFile::PcapFile(const std::string& path) : size_(kFileHeader) {
  const int descriptor =
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR | S_IRGRP);
  FILE* const file = descriptor < 0 ? nullptr : fdopen(descriptor, "wb");
  if (file == nullptr) throw std::system_error(errno, std::generic_category());
  pcap_t* const ethernet =
      pcap_open_dead_with_tstamp_precision(DLT_EN10MB, kSnapLength, PCAP_TSTAMP_PRECISION_NANO);
  pcap_dumper_t* const dumper = ethernet == nullptr ? nullptr : pcap_dump_fopen(ethernet, file);
  if (dumper == nullptr) throw std::bad_alloc();
  handles_.reset(new Handles{ethernet, dumper});
}

void PcapFile::write(Nanoseconds time, std::span<const uint8_t> bytes, uint32_t wire_length) {
  pcap_pkthdr header{};
  header.ts.tv_sec = time / kSecond;
  header.ts.tv_usec = time % kSecond;  // in nanoseconds, by the file's precision
  header.caplen = static_cast<bpf_u_int32>(bytes.size());
  header.len = wire_length;
  pcap_dump(reinterpret_cast<u_char*>(handles_->dumper), &header, bytes.data());
  size_ += kFrameHeader + bytes.size();
}

bool PcapFile::flush() {
  return pcap_dump_flush(handles_->dumper) == 0 && ferror(pcap_dump_file(handles_->dumper)) == 0;
}

}  // namespace engine
