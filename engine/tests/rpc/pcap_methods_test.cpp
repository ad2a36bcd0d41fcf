// Files of what ports send and receive, read back by libpcap.

#include <gmock/gmock.h>
#include <pcap/pcap.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <filesystem>

#include "rpc/control_client.h"

namespace engine {
namespace {

using ::testing::HasSubstr;

/// A folder of its own that goes with the test.
struct Folder {
  Folder() {
    char name[] = "/tmp/sc-pcap-XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};

struct ReadFrame {
  Nanoseconds time;
  uint32_t wire_length;
  std::vector<uint8_t> bytes;
  bool operator==(const ReadFrame&) const = default;
};

std::vector<ReadFrame> read_file(const std::string& path) {
  char error[PCAP_ERRBUF_SIZE] = "";
  pcap_t* file =
      pcap_open_offline_with_tstamp_precision(path.c_str(), PCAP_TSTAMP_PRECISION_NANO, error);
  EXPECT_NE(file, nullptr) << error;
  std::vector<ReadFrame> frames;
  pcap_pkthdr* header = nullptr;
  const u_char* bytes = nullptr;
  while (file != nullptr && pcap_next_ex(file, &header, &bytes) == 1)
    frames.push_back({header->ts.tv_sec * kSecond + header->ts.tv_usec,
                      header->len,
                      {bytes, bytes + header->caplen}});
  if (file != nullptr) pcap_close(file);
  return frames;
}

EngineConfig with_folder(const std::string& path) {
  EngineConfig config;
  config.pcap_folder = path;
  return config;
}

class PcapMethodsTest : public Folder, public ControlTest {
 protected:
  PcapMethodsTest() : ControlTest(with_folder(path)) { acquire(); }

  static Json start(const Json& more = Json::object()) {
    Json params = {{"port_id", 1}, {"file", "a.pcap"}};
    params.update(more);
    return params;
  }
};

std::vector<uint8_t> marked_frame(uint8_t mark) {
  std::vector<uint8_t> bytes(100, mark);
  bytes[12] = 0x88;
  bytes[13] = 0xb5;
  return bytes;
}

TEST_F(PcapMethodsTest, AFileHoldsWhatItsPortSentAndReceivedWithItsTime) {
  const Json begun = result("stackcost_start_pcap", start({{"filter", "ether[20] != 3"}}));
  EXPECT_EQ(begun["file"], path + "/a.pcap");
  EXPECT_EQ(begun["state"], "writing");
  stand_in().now = 2.25;
  stand_in().pass({{1, true, marked_frame(1)},
                   {1, false, marked_frame(2)},
                   {1, false, marked_frame(3)},
                   {0, true, marked_frame(4)}});
  control_.advance();
  const Nanoseconds then = stand_in().epoch + 2'250'000'000;
  const std::vector<ReadFrame> wanted{{then, 100, marked_frame(1)}, {then, 100, marked_frame(2)}};
  EXPECT_EQ(read_file(path + "/a.pcap"), wanted) << "complete at any time, were the engine killed";
  const Json told = result("stackcost_get_pcap")["files"];
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0]["frames"], 2);
  EXPECT_EQ(told[0]["bytes"], std::filesystem::file_size(path + "/a.pcap"));

  stand_in().pass({{1, true, marked_frame(5)}});
  control_.advance();
  const Json last = result("stackcost_stop_pcap", {{"port_id", 1}});
  EXPECT_EQ(last["frames"], 3);
  EXPECT_EQ(read_file(path + "/a.pcap").size(), 3u);
  EXPECT_FALSE(stand_in().watched());
  EXPECT_TRUE(result("stackcost_get_pcap")["files"].empty());
}

TEST_F(PcapMethodsTest, LongFramesAreCutToTheSnapLength) {
  result("stackcost_start_pcap", start({{"snaplen", 60}}));
  stand_in().pass({{1, true, marked_frame(1)}});
  control_.advance();
  result("stackcost_stop_pcap", {{"port_id", 1}});
  const std::vector<ReadFrame> frames = read_file(path + "/a.pcap");
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].bytes.size(), 60u);
  EXPECT_EQ(frames[0].wire_length, 100u);
}

TEST_F(PcapMethodsTest, AFullFileStaysWithinItsLimitAndLooksNoMore) {
  result("stackcost_start_pcap", start({{"limit_bytes", 1000}}));
  for (uint8_t mark = 0; mark < 20; ++mark) stand_in().pass({{1, true, marked_frame(mark)}});
  control_.advance();
  const Json told = result("stackcost_get_pcap")["files"][0];
  EXPECT_EQ(told["state"], "full");
  EXPECT_EQ(told["frames"], 8);  // 24 bytes of header, 116 for each frame
  EXPECT_EQ(std::filesystem::file_size(path + "/a.pcap"), 24u + 8 * 116);
  EXPECT_FALSE(stand_in().watched());
}

TEST_F(PcapMethodsTest, OneFileForEachPortBesideCapturesOfTheSameFrames) {
  const uint64_t id = result("capture", {{"command", "start"},
                                         {"limit", 10},
                                         {"mode", "fixed"},
                                         {"tx", Json::array({1})},
                                         {"rx", Json::array()}})["capture_id"];
  result("stackcost_start_pcap", start());
  result("stackcost_start_pcap", start({{"port_id", 0}, {"file", "b.pcap"}}));
  EXPECT_THAT(refusal("stackcost_start_pcap", start({{"file", "c.pcap"}})),
              HasSubstr("being written to " + path + "/a.pcap"));
  stand_in().pass(
      {{1, true, marked_frame(1)}, {0, false, marked_frame(1)}, {0, true, marked_frame(2)}});
  control_.advance();
  EXPECT_EQ(result("capture", {{"command", "stop"}, {"capture_id", id}})["pkt_count"], 1);
  EXPECT_EQ(result("stackcost_stop_pcap", {{"port_id", 1}})["frames"], 1);
  EXPECT_EQ(result("stackcost_stop_pcap", {{"port_id", 0}})["frames"], 2);
  EXPECT_THAT(refusal("stackcost_stop_pcap", {{"port_id", 0}}), HasSubstr("not being written"));
}

TEST_F(PcapMethodsTest, WhatCannotBeWrittenIsRefusedAndNobodyLooks) {
  for (const char* name : {"", "/tmp/x", "../x", ".hidden", "a/b"})
    EXPECT_THAT(refusal("stackcost_start_pcap", start({{"file", name}})),
                HasSubstr("without a folder"));
  EXPECT_THAT(refusal("stackcost_start_pcap", start({{"filter", "no filter at all"}})),
              HasSubstr("not a valid pattern"));
  EXPECT_THAT(refusal("stackcost_start_pcap", start({{"limit_bytes", 5}})),
              HasSubstr("from 1000 to"));
  result("stackcost_start_pcap", start());
  result("stackcost_stop_pcap", {{"port_id", 1}});
  EXPECT_THAT(refusal("stackcost_start_pcap", start()), HasSubstr("File exists"));
  EXPECT_FALSE(stand_in().watched());
}

TEST_F(PcapMethodsTest, ARefusalUnderTrafficLeavesNothingBehind) {
  result("stackcost_start_pcap", start());
  result("stackcost_stop_pcap", {{"port_id", 1}});
  // Frames pass the port all the time.
  stand_in().on_call = [this](const std::string&) {
    stand_in().pass({{1, true, marked_frame(1)}});
  };
  EXPECT_THAT(refusal("stackcost_start_pcap", start()), HasSubstr("File exists"));
  EXPECT_THAT(refusal("stackcost_start_pcap", start({{"file", "b"}, {"filter", "no filter"}})),
              HasSubstr("not a valid pattern"));
  EXPECT_FALSE(std::filesystem::exists(path + "/b")) << "no file without a filter";
  for (int turn = 0; turn < 3; ++turn) control_.advance();
  EXPECT_FALSE(stand_in().watched());
  EXPECT_TRUE(result("stackcost_get_pcap")["files"].empty());

  result("stackcost_start_pcap", start({{"file", "c.pcap"}}));
  control_.advance();
  EXPECT_GT(result("stackcost_stop_pcap", {{"port_id", 1}})["frames"], 0);
}

TEST_F(PcapMethodsTest, AFileThatCannotGrowEndsWithItsReason) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{.rlim_cur = 200, .rlim_max = before.rlim_max};
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  result("stackcost_start_pcap", start());
  setrlimit(RLIMIT_FSIZE, &small);
  for (uint8_t mark = 0; mark < 20; ++mark) stand_in().pass({{1, true, marked_frame(mark)}});
  control_.advance();
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  const Json told = result("stackcost_get_pcap")["files"][0];
  EXPECT_EQ(told["state"], "failed");
  EXPECT_EQ(told["error"], "File too large");
  EXPECT_FALSE(stand_in().watched());
}

class WithoutFolder : public ControlTest {};

TEST_F(WithoutFolder, TheOptionThatIsMissingIsNamed) {
  acquire();
  EXPECT_THAT(refusal("stackcost_start_pcap", {{"port_id", 0}, {"file", "a.pcap"}}),
              HasSubstr("--pcap-folder"));
}

}  // namespace
}  // namespace engine
