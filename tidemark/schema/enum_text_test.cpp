// SPDX-License-Identifier: Apache-2.0
// Every enum has a text for each of its values, and says of any other that it is none.
#include "tidemark/schema/enum_text.h"

#include <set>

#include <gtest/gtest.h>

#include "tidemark/schema/core_type.h"
#include "tidemark/schema/dump_selection.h"
#include "tidemark/schema/error_code.h"
#include "tidemark/schema/hang_class.h"
#include "tidemark/schema/stream_registry.h"
#include "tidemark/schema/unit_image.h"

namespace tidemark {
namespace {

// The texts of all values of 16 bits.
template <class Enum>
std::set<std::string_view> texts_of(std::size_t expected, std::string_view unknown) {
  std::set<std::string_view> texts;
  std::size_t known = 0;
  for (std::uint32_t value = 0; value < 65536; ++value) {
    if (value > 255 && sizeof(Enum) == 1) break;
    const std::string_view text = to_text(static_cast<Enum>(value));
    EXPECT_FALSE(text.empty()) << value;
    if (text == unknown) continue;
    texts.insert(text);
    ++known;
  }
  EXPECT_EQ(known, expected);
  EXPECT_EQ(texts.size(), expected) << "no two values have the same text";
  return texts;
}

TEST(EnumText, EveryValueHasOneAndAnyOtherNumberIsUnknown) {
  texts_of<Access>(5, "unknown");
  texts_of<CoreType>(2, "unknown");
  texts_of<DType>(kDTypeCount, "unknown");
  texts_of<DropReason>(kDropReasonCount, "unknown");
  texts_of<DumpLevel>(5, "unknown");
  texts_of<DumpStage>(3, "unknown");
  texts_of<EdgeSource>(3, "unknown");
  texts_of<EventKind>(2, "unknown");
  texts_of<FieldType>(9, "unknown");
  texts_of<HangClass>(kHangClassCount, "unknown");
  texts_of<Overflow>(3, "unknown");
  texts_of<Resource>(kResourceCount, "unknown");
  texts_of<UnitState>(6, "damaged");
}

TEST(EnumText, OfAnErrorIsTheNameInItsMessage) {
  EXPECT_EQ(texts_of<ErrorCode>(18, "UNKNOWN").count("DEVICE_FAULT"), 1u);
  EXPECT_EQ(to_text(ErrorCode::kNone), "NONE");
  EXPECT_EQ(to_text(ErrorCode::kTensormapOverflow), "TENSORMAP_OVERFLOW");
  EXPECT_EQ(to_text(ErrorCode::kRingBufferBackpressure), "RING_BUFFER_BACKPRESSURE");
  EXPECT_EQ(to_text(ErrorCode::kAborted), "ABORTED");
  EXPECT_EQ(to_text(ErrorCode::kDeviceFault), "DEVICE_FAULT");
}

}  // namespace
}  // namespace tidemark
