// SPDX-License-Identifier: Apache-2.0
// hang.json and hang.txt: the autopsy of a run that was stopped.
#include "tidemark/export/hang_json.h"

#include "tidemark/analyze/hang_fields.h"
#include "tidemark/export/json_file.h"

namespace tidemark {

Expected<void> write_hang_files(const HangReport& report, const std::string& directory) {
  TM_TRY_DO(write_json(directory + "/hang.json",
                       [&](JsonFile& file) { put_hang_report(file.json(), report); }));
  return write_part_file(directory + "/hang.txt", hang_summary(report, directory));
}

}  // namespace tidemark
