# SPDX-License-Identifier: Apache-2.0
# A function has at most 60 lines, from the line of its opening brace's statement to its closing
# brace. Counts braces: what opens one is a namespace, a type, an initializer, or else code; the
# outermost code is a function. Used with source_text.awk.

BEGIN { most = 60 }

# What a brace opens, from the code before it in its statement.
function kind_of(text) {
  # What is in parentheses and angle brackets says nothing about the statement.
  while (gsub(/\([^()]+\)/, "()", text)) {
  }
  while (gsub(/<[^<>]+>/, "<>", text)) {
  }
  if (depth > 0 && kind[depth] == "code") return "code"
  if (text ~ /(^|[^A-Za-z0-9_])(namespace|extern)([^A-Za-z0-9_]|$)/ && text !~ /\(/) return "scope"
  if (text ~ /(^|[^A-Za-z0-9_])enum([^A-Za-z0-9_]|$)/) return "list"
  if (text ~ /\)[^=]*$/ && text !~ /(^|[^=!<>])=[ \t]*[^=;]*$/) return "code"
  if (text ~ /(^|[^A-Za-z0-9_])operator[^A-Za-z0-9_]/) return "code"
  if (text ~ /\][ \t]*$/) return "code"
  if (text ~ /(^|[^A-Za-z0-9_<,])(class|struct|union)([^A-Za-z0-9_]|$)/) return "scope"
  if (text ~ /(^|[^A-Za-z0-9_])concept([^A-Za-z0-9_]|$)/) return "list"
  return "list"
}

function take_brace(character) {
  if (character == "{") {
    opened = kind_of(statement)
    depth++
    kind[depth] = opened
    begin[depth] = statement_line
    head[depth] = statement
    statement = ""
    return
  }
  if (depth == 0) return
  if (kind[depth] == "code" && (depth == 1 || kind[depth - 1] != "code") &&
      FNR - begin[depth] + 1 > most)
    violation(begin[depth], "a function of " (FNR - begin[depth] + 1) " lines; at most " most)
  # What follows an initializer still belongs to its statement.
  statement = kind[depth] == "list" ? head[depth] " x" : ""
  statement_line = begin[depth]
  depth--
}

# A count that is wrong must not pass for a good one.
function end_file() {
  if (file != "" && depth != 0) violation(line_count, "its braces could not be counted")
}

FNR == 1 {
  end_file()
  file = FILENAME
  in_comment = depth = in_macro = conditions = 0
  statement = ""
}

{
  line_count = FNR
  code = code_of($0)
  # A preprocessor line and its continuations hold no function; of an #else only one side counts.
  if (in_macro || code ~ /^[ \t]*#/) {
    in_macro = code ~ /\\$/ || $0 ~ /\\$/
    if (code ~ /^[ \t]*#[ \t]*(if|ifdef|ifndef)/) saved[++conditions] = depth
    if (code ~ /^[ \t]*#[ \t]*(else|elif)/ && conditions) depth = saved[conditions]
    if (code ~ /^[ \t]*#[ \t]*endif/ && conditions) conditions--
    next
  }
  while (match(code, /[{};]/)) {
    before = substr(code, 1, RSTART - 1)
    character = substr(code, RSTART, 1)
    code = substr(code, RSTART + 1)
    if (statement !~ /[^ \t]/) statement_line = FNR
    statement = statement " " before
    if (character == ";") {
      statement = ""
    } else {
      take_brace(character)
    }
  }
  if (statement !~ /[^ \t]/ && code ~ /[^ \t]/) statement_line = FNR
  # A label of access is no beginning.
  if (code ~ /^[ \t]*(public|protected|private):[ \t]*$/) code = ""
  statement = statement " " code
}

END {
  end_file()
  if (violation_count) exit 1
}
