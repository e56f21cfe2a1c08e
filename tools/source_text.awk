# SPDX-License-Identifier: Apache-2.0
# Takes a line of C++ apart, for the checks of tools/check_includes.

# The line without its comments and without what is in string literals. Block comments may span
# lines. Sets `comment` to the text of the comments.
function code_of(line, begin, end) {
  comment = ""
  gsub(/\\./, "", line)
  gsub(/'.'/, "", line)
  gsub(/"[^"]*"/, "\"\"", line)
  if (in_comment) {
    end = index(line, "*/")
    if (!end) {
      comment = line
      return ""
    }
    comment = substr(line, 1, end - 1)
    line = substr(line, end + 2)
    in_comment = 0
  }
  for (;;) {
    begin = match(line, /\/[\/*]/)
    if (!begin) return line
    if (substr(line, begin, 2) == "//") {
      comment = comment " " substr(line, begin + 2)
      return substr(line, 1, begin - 1)
    }
    end = index(substr(line, begin + 2), "*/")
    if (!end) {
      in_comment = 1
      comment = comment " " substr(line, begin + 2)
      return substr(line, 1, begin - 1)
    }
    comment = comment " " substr(line, begin + 2, end - 1)
    line = substr(line, 1, begin - 1) " " substr(line, begin + end + 3)
  }
}

function violation(line_number, text) {
  printf "%s:%d: %s\n", file, line_number, text
  violation_count++
}

# An umbrella: a header directly in tidemark/, for users.
function is_umbrella(path) { return path ~ /^tidemark\/[^\/]*$/ }

# The room a path is in, "" outside of rooms.
function room_of(path, parts) {
  if (is_umbrella(path)) return ""
  split(path, parts, "/")
  if (parts[1] == "tidemark") return parts[2]
  return parts[1] == "workloads" ? "workloads" : ""
}
