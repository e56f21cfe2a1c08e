# SPDX-License-Identifier: Apache-2.0
# The per-file rules of tools/check_includes, which sets `rooms` to the room order. Prints one
# line per violation and exits with 1 if there was any. Used with source_text.awk.

function is_product(path) {
  return path !~ /(_test|\/test_main)\.cpp$|\/testing\//
}

# The headers that device code includes reach no header of the operating system, through whichever
# of our own.
function check_device_headers(path, name, i) {
  for (path in include_count) {
    if (path !~ /^tidemark\/(schema|transport|record)\/.*\.h$/ || !is_product(path)) continue
    split("", seen)
    name = system_header_behind(path)
    if (name == "") continue
    file = path
    violation(1, "device code includes it, and it reaches " name)
  }
}

function system_header_behind(path, i, found) {
  if (path in seen) return ""
  seen[path] = 1
  for (i = 1; i <= include_count[path]; i++) {
    if (includes[path, i] ~ /^<.*\.h>$/) return includes[path, i] " (in " path ")"
    found = system_header_behind(includes[path, i])
    if (found != "") return found
  }
  return ""
}

function check_include(included, used) {
  if (room != "" && is_umbrella(included)) {
    violation(FNR, room " includes " included ", which is for users: name the header of the room")
  }
  if (file !~ /^tests\// && included ~ /^tests\//) {
    violation(FNR, "includes " included ": what tests share is in a testing/ folder of a room")
  }
  if (room != "" && is_product(file) && included ~ /\/testing\//) {
    violation(FNR, "includes " included ", which is for tests")
  }
  used = room_of(included)
  if (room == "" || used == "" || used == room) return
  if (is_product(file)) met[room, used] = 1
  if (!(used in rank)) {
    violation(FNR, "includes " included ", and " used " is not in cmake/rooms.txt")
  } else if (rank[used] >= rank[room]) {
    violation(FNR, room " includes " included ", which is not in a room above it")
  } else if ((room in declares) && is_product(file) && !((room, used) in declared)) {
    violation(FNR, room " includes " included ", and does not say that it USES " used)
  }
}

function begin_file(name) {
  file = FILENAME
  room = room_of(file)
  if (is_product(file)) has_sources[room] = 1
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
  declaration_count = split(uses, declarations, ";")
  for (i = 1; i < declaration_count; i++) {
    split(declarations[i], parts, ":")
    gsub(/ /, "", parts[1])
    declares[parts[1]] = 1
    used_count = split(parts[2], names, " ")
    for (k = 1; k <= used_count; k++) declared[parts[1], names[k]] = 1
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
    bracket = substr($0, index($0, "<"), 1)
    sub(/[">].*/, "", included)
    check_include(included)
    includes[file, ++include_count[file]] = bracket == "<" && included !~ /^tidemark\// ? \
      "<" included ">" : included
  }
  if ($0 ~ /^#pragma once/) has_pragma_once = 1

  code = code_of($0)
  # An installed header puts its macros into the sources of its users. XXH_INLINE_ALL is a setting
  # of another library.
  if (file ~ /^tidemark\/.*\.(h|cuh)$/ && code ~ /^[ \t]*#[ \t]*define[ \t]/ &&
      code !~ /define[ \t]+(TM_[A-Z]|XXH_INLINE_ALL[ \t]*$)/) {
    violation(FNR, "a macro of a header begins with TM_")
  }
  if (code ~ /__CUDACC__|__CUDA_ARCH__/ && !may_test_cuda) {
    violation(FNR, "only base/host_device.h and transport/shared_word.h test for CUDA")
  }
  if (file ~ /^tidemark\/(bench|cli)\// && file !~ /^tidemark\/cli\/terminal\.cpp$/ &&
      code ~ /fmt::print|std::(cout|cerr|printf|fprintf|fputs|puts|fwrite)|(^|[^A-Za-z0-9_:])f?printf\(/) {
    violation(FNR, "print through cli/terminal.h, which lets no control character pass")
  }
  gsub(/asm[ \t]+volatile/, "asm", code)
  if (file ~ /^tidemark\// && code ~ /(^|[^A-Za-z0-9_])volatile([^A-Za-z0-9_]|$)/) {
    violation(FNR, "volatile is no protocol: use SharedWord")
  }
  if (code ~ /no_unique_address/) {
    violation(FNR, "nvcc lays out an object with no_unique_address otherwise than its sizeof says")
  }
}

# What a room says that it USES, it includes.
function check_declarations(pair, parts) {
  for (pair in declared) {
    split(pair, parts, SUBSEP)
    if ((pair in met) || !(parts[1] in has_sources)) continue
    file = (parts[1] == "workloads" ? "" : "tidemark/") parts[1] "/CMakeLists.txt"
    violation(1, parts[1] " says that it USES " parts[2] " and includes nothing of it")
  }
}

END {
  end_file()
  check_device_headers()
  check_declarations()
  if (violation_count) exit 1
}
