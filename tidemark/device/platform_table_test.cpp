// SPDX-License-Identifier: Apache-2.0
// The platform table: the rows of the design, found by their exact names.
#include "tidemark/device/platform_table.h"

#include <set>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(PlatformTable, HoldsTheRowsOfTheDesign) {
  struct Row {
    std::string_view name;
    Transport transport;
    std::uint32_t clusters, schedulers;
  };
  for (const Row& row :
       {Row{"sim", Transport::kMapped, 0, 1}, Row{"a2a3sim", Transport::kMapped, 24, 3},
        Row{"a5sim", Transport::kCopied, 36, 4}, Row{"cuda", Transport::kMapped, 0, 1},
        Row{"cuda-copy", Transport::kPulled, 0, 1}}) {
    const Platform* platform = find_platform(row.name);
    ASSERT_NE(platform, nullptr) << row.name;
    EXPECT_EQ(platform->name, row.name);
    EXPECT_EQ(platform->transport, row.transport) << row.name;
    EXPECT_EQ(platform->cluster_count, row.clusters) << row.name;
    EXPECT_EQ(platform->scheduler_count, row.schedulers) << row.name;
    EXPECT_FALSE(platform->description.empty());
  }
}

TEST(PlatformTable, TheFirstOfAKindIsTheMappedOne) {
  for (const DeviceKind kind : {DeviceKind::kSimulated, DeviceKind::kCuda}) {
    EXPECT_EQ(platform_of(kind).device, kind);
    EXPECT_EQ(platform_of(kind).transport, Transport::kMapped);
  }
}

TEST(PlatformTable, FindsOnlyExactNames) {
  for (const std::string_view name : {"", "SIM", "sim ", "a5", "cuda9"})
    EXPECT_EQ(find_platform(name), nullptr) << name;
}

TEST(PlatformTable, NamesAreUniqueAndTheDefaultComesFirst) {
  std::set<std::string_view> names;
  for (const Platform& platform : platforms()) EXPECT_TRUE(names.insert(platform.name).second);
  EXPECT_EQ(platforms().front().name, "sim");
}

TEST(PlatformTable, TransportsHaveTheirWords) {
  EXPECT_EQ(to_text(Transport::kMapped), "mapped");
  EXPECT_EQ(to_text(Transport::kCopied), "copied");
  EXPECT_EQ(to_text(Transport::kPulled), "copied");
}

}  // namespace
}  // namespace tidemark
