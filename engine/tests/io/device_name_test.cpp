#include "io/device_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/config.h"

namespace engine {
namespace {

TEST(DeviceName, TellsKindsApart) {
  EXPECT_EQ(parse_device_name("dummy").kind, DeviceKind::dummy);
  EXPECT_EQ(parse_device_name("wire").kind, DeviceKind::wire);
  EXPECT_EQ(parse_device_name("lo").kind, DeviceKind::interface);
  EXPECT_EQ(parse_device_name("packet:lo").kind, DeviceKind::packet_socket);
  EXPECT_EQ(parse_device_name("packet:lo").name, "lo");
  EXPECT_THROW(parse_device_name("packet:sc-nothing"), ConfigError);
  for (const char* text : {"03:00.0", "0000:03:00.0"}) {
    const DeviceName device = parse_device_name(text);
    EXPECT_EQ(device.kind, DeviceKind::pci);
    EXPECT_EQ(device.name, "0000:03:00.0");
  }
  for (const char* text :
       {"net_af_xdp0,iface=eth1,start_queue=0", "--vdev=net_af_xdp0,iface=eth1,start_queue=0"}) {
    const DeviceName device = parse_device_name(text);
    EXPECT_EQ(device.kind, DeviceKind::virtual_device);
    EXPECT_EQ(device.name, "net_af_xdp0");
    EXPECT_EQ(device.arguments, "iface=eth1,start_queue=0");
  }
  const DeviceName memif = parse_device_name("--vdev=net_memif0,role=client");
  EXPECT_EQ(memif.kind, DeviceKind::memif);
  EXPECT_EQ(memif.name, "net_memif0");
  EXPECT_EQ(memif.arguments, "role=client");
  EXPECT_EQ(parse_device_name("net_ring3").kind, DeviceKind::virtual_device);
  EXPECT_EQ(parse_device_name("net_ring3").arguments, "");
}

TEST(DeviceName, AnUnknownOneSaysWhatThereIs) {
  try {
    parse_device_name("sc-nothing");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr("sc-nothing"), testing::HasSubstr("lo"),
                               testing::HasSubstr("\"wire\"")));
  }
}

}  // namespace
}  // namespace engine
