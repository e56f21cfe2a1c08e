// SPDX-License-Identifier: Apache-2.0
#include "tidemark/cli/stream_options.h"

#include "tidemark/schema/stream_registry.h"

namespace tidemark::cli {

void bind_stream_options(Command& command, StreamSelection& streams) {
  command.group = "Streams (none: nothing is recorded, and nothing is paid)";
  for (const auto& stream : kStreams)
    if (stream.flag != nullptr) command.flag(stream.flag, &streams[stream.id], stream.flag_help);
}

Expected<StreamSelection> check_streams(StreamSelection streams) {
  for (const auto& stream : kStreams) {
    std::uint32_t& level = streams[stream.id];
    if (stream.level_max == 1) level = level > 0 ? 1 : 0;  // a flag may be given twice
    const std::string_view flag = stream.flag == nullptr ? "" : stream.flag;
    if (level > stream.level_max)
      return failure(ErrorKind::kUsage, "{}={}: a level from 1 to {}",
                     flag.substr(0, flag.find('{')), level, stream.level_max);
  }
  return streams;
}

}  // namespace tidemark::cli
