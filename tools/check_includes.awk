# SPDX-License-Identifier: Apache-2.0
# The per-file rules of tools/check_includes, which sets `rooms` to the room order. Prints one
# line per violation and exits with 1 if there was any.

function violation(line_number, text) {
  printf "%s:%d: %s\n", file, line_number, text
  violation_count++
}

# An umbrella: a header directly in tidemark/, for users.
function is_umbrella(path) { return path ~ /^tidemark\/[^\/]*$/ }

# The room a path stands in, "" outside of rooms.
function room_of(path, parts) {
  if (is_umbrella(path)) return ""
  split(path, parts, "/")
  if (parts[1] == "tidemark") return parts[2]
  return parts[1] == "workloads" ? "workloads" : ""
}

function check_include(included, used) {
  if (room != "" && is_umbrella(included)) {
    violation(FNR, room " includes " included ", which is for users: name the header of the room")
  }
  used = room_of(included)
  if (room == "" || used == "" || used == room) return
  if (!(used in rank)) {
    violation(FNR, "includes " included ", and " used " is not in cmake/rooms.txt")
  } else if (rank[used] >= rank[room]) {
    violation(FNR, room " includes " included ", which is not in a room above it")
  }
}

# The line without string literals and comments; block comments may span lines.
function code_of(line, begin, end) {
  gsub(/\\./, "", line)
  gsub(/'.'/, "", line)
  gsub(/"[^"]*"/, "\"\"", line)
  if (in_comment) {
    end = index(line, "*/")
    if (!end) return ""
    line = substr(line, end + 2)
    in_comment = 0
  }
  sub(/\/\/.*/, "", line)
  while ((begin = index(line, "/*")) > 0) {
    end = index(substr(line, begin + 2), "*/")
    if (!end) {
      in_comment = 1
      return substr(line, 1, begin - 1)
    }
    line = substr(line, 1, begin - 1) " " substr(line, begin + end + 3)
  }
  return line
}

function begin_file(name) {
  file = FILENAME
  room = room_of(file)
  in_comment = 0
  has_pragma_once = 0
  may_test_cuda = file ~ /^tidemark\/(base\/host_device|transport\/shared_word)\.h$/
  if (room != "" && !(room in rank)) violation(1, room " is not in cmake/rooms.txt")

  name = file
  sub(/.*\//, "", name)
  sub(/\..*/, "", name)
  if (("_" name "_") ~ /_(utils?|common|helpers?|managers?)_/) {
    violation(1, "a file is named after its one idea, not " name)
  }
  if ($0 != "// SPDX-License-Identifier: Apache-2.0") violation(1, "no SPDX line")
}

function end_file() {
  if (file == "") return
  if (file ~ /\.(h|cuh)$/ && !has_pragma_once) violation(1, "no #pragma once")
  if (line_count > 400) violation(line_count, "more than 400 lines")
}

BEGIN {
  room_count = split(rooms, order, " ")
  for (i = 1; i <= room_count; i++) {
    rank[order[i]] = i
    if (order[i] == "session") rank["workloads"] = i + 0.5  # and so below session only
  }
}

FNR == 1 {
  end_file()
  begin_file()
}

{
  line_count = FNR
  columns = $0
  gsub(/[\200-\277]/, "", columns)  # continuation bytes of UTF-8 take no column
  if (length(columns) > 100) violation(FNR, "longer than 100 columns")

  if ($0 ~ /^[ \t]*#[ \t]*include[ \t]*["<]/) {
    included = $0
    sub(/^[^"<]*["<]/, "", included)
    sub(/[">].*/, "", included)
    check_include(included)
  }
  if ($0 ~ /^#pragma once/) has_pragma_once = 1

  code = code_of($0)
  if (code ~ /__CUDACC__|__CUDA_ARCH__/ && !may_test_cuda) {
    violation(FNR, "only base/host_device.h and transport/shared_word.h test for CUDA")
  }
  if (file ~ /^tidemark\/cli\// && file !~ /^tidemark\/cli\/terminal\.cpp$/ &&
      code ~ /fmt::print|std::(cout|cerr|printf|fprintf|fputs|puts|fwrite)|(^|[^A-Za-z0-9_:])f?printf\(/) {
    violation(FNR, "print through cli/terminal.h, which lets no control character pass")
  }
  gsub(/asm[ \t]+volatile/, "asm", code)
  if (file ~ /^tidemark\// && code ~ /(^|[^A-Za-z0-9_])volatile([^A-Za-z0-9_]|$)/) {
    violation(FNR, "volatile is no protocol: use SharedWord")
  }
}

END {
  end_file()
  if (violation_count) exit 1
}
