# SPDX-License-Identifier: Apache-2.0
# The law of memory orders, over all product sources at once; see tidemark/transport/README.md.
#
#   word.store_release(x);         // [label]            what is published here
#   word.load_acquire();           // pairs with [label] … and where it is received
#   word.store_release(x);         // alone: why nothing pairs with it
#   void store_release(T value) …  // caller's label: a wrapper has none of its own
#   atomic_thread_fence(seq_cst);  // alone: why, and nothing else may be seq_cst
#
# The comment is on the statement, or directly above it, and is for all of the statement; one above
# a row of such statements is for all of them. A statement that is both (acq_rel) has a comment for
# one of the two at least. Every label has a partner, and every partner a label. An atomic names its
# order.

BEGIN {
  split("transport record runtime collect capture device", names, " ")
  for (i in names) ordered[names[i]] = 1
}

# Remembers the labels in the comment: those behind "pairs with" are partners, the others are
# definitions where the statement is a release.
function note_labels(text, line_number, releases, pairs, label) {
  pairs = 0
  while (match(text, /pairs with|\[[a-z][a-z ]*\]/)) {
    label = substr(text, RSTART, RLENGTH)
    text = substr(text, RSTART + RLENGTH)
    if (label == "pairs with") {
      pairs = 1
    } else if (pairs) {
      partner[label] = file ":" line_number
    } else if (releases && !(label in published)) {
      published[label] = file ":" line_number
    }
  }
}

function end_statement() {
  if (needs && !explained) violation(needs_line, needs)
  needs = ""
  explained = 0
}

# What an order needs; "" if nothing.
function need_of(code) {
  if (code ~ /^inline constexpr auto k[A-Z]/) return ""
  if (code ~ /[a-z]_acq_rel\(|memory_order_acq_rel|kAcqRel/)
    return "an acquire and release without [label], 'pairs with [label]' or 'alone: why'"
  if (code ~ /(store|replace)_release\(|store_after_fence\(|memory_order_release|kRelease[^A-Z]/ ||
      code ~ /[pP]ort_?(->|\.)store(32)?\(/)
    return "a release without [label] or 'alone: why'"
  if (code ~ /load_acquire\(|memory_order_acquire|kAcquire[^A-Z]/ ||
      code ~ /[pP]ort_?(->|\.)load(32)?\(/)
    return "an acquire without 'pairs with [label]' or 'alone: why'"
  return ""
}

function explains(text, need) {
  if (text ~ /alone: [^ ]|caller's label/) return 1
  return need ~ /^an acquire without/ ? text ~ /pairs with +\[/ : text ~ /\[[a-z][a-z ]*\]/
}

# The code ends a statement: not inside of parentheses.
function ends_statement(code, opened, closed) {
  opened = gsub(/\(/, "(", code)
  closed = gsub(/\)/, ")", code)
  depth += opened - closed
  if (depth < 0) depth = 0
  return depth == 0 && code ~ /[;{}][ \t]*$/
}

function is_order_file() {
  return room in ordered && file !~ /_test\.cpp$|\/testing\//
}

# Atomics by their names: declared in this room, and used without an order.
function note_atomics(code, rest, name) {
  rest = code
  if (match(rest, /std::atomic(<[^;]*>|_[a-z]+)[&*]?[ \t]+[A-Za-z_]+/) && rest !~ /using|#include/) {
    name = substr(rest, RSTART, RLENGTH)
    sub(/.*[ \t&*]/, "", name)
    atomic[room, name] = 1
    return
  }
  # Only a fence may have this order, and only with its reason.
  if (code ~ /seq_cst/ && !(code ~ /atomic_thread_fence/ && (comment above) ~ /alone: [^ ]/))
    violation(FNR, "seq_cst: say which order is meant, and why")
}

function note_use(statement, line_number, rest, name) {
  if (statement ~ /memory_order_|kRelaxed|kAcquire|kRelease|kAcqRel/) return
  rest = statement
  while (match(rest, /[A-Za-z_][A-Za-z_0-9]*(\[[^]]*\])?(\.|->)(load|store|exchange|fetch_[a-z]+|compare_exchange_[a-z]+)\(/)) {
    name = substr(rest, RSTART, RLENGTH)
    rest = substr(rest, RSTART + RLENGTH)
    sub(/[^A-Za-z_0-9].*/, "", name)
    use_count++
    use_room[use_count] = room
    use_name[use_count] = name
    use_at[use_count] = file ":" line_number
  }
  rest = statement
  while (match(rest, /[A-Za-z_]*[a-z]_ *(\+\+|--|[-+|&^]?= |[<>!=]=? )|(\+\+|--)[A-Za-z_]*_[^A-Za-z_.]/)) {
    name = substr(rest, RSTART, RLENGTH)
    rest = substr(rest, RSTART + RLENGTH)
    gsub(/[^A-Za-z_]/, "", name)
    use_count++
    use_room[use_count] = room
    use_name[use_count] = name
    use_at[use_count] = file ":" line_number
  }
}

FNR == 1 {
  end_statement()
  file = FILENAME
  room = room_of(file)
  in_comment = 0
  above = statement = ""
  above_is_row = depth = 0
}

{
  code = code_of($0)
  is_code = code ~ /[^ \t]/
  # A comment on its own line collects until code comes.
  if (!is_code) {
    if (needs) next
    if (above_is_row) above = ""
    above_is_row = 0
    above = comment == "" ? "" : above " " comment
    note_labels(comment, FNR, 0)
    next
  }
  if (!is_order_file()) {
    note_labels(comment, FNR, is_release_anywhere(code))
    if (is_release_anywhere(code)) note_labels(above, FNR, 1)
    above = ""
    next
  }
  note_atomics(code)
  statement = statement " " code
  need = need_of(code)
  ends = ends_statement(code)
  if (need) {
    if (explains(comment, need) || explains(above, need)) explained = 1
    needs = need
    needs_line = FNR
    releases = need !~ /^an acquire without/
    note_labels(comment, FNR, releases)
    note_labels(above, FNR, releases)
    above_is_row = above != ""
  } else {
    if (needs && explains(comment, needs)) explained = 1
    note_labels(comment, FNR, needs != "" && releases)
    if (!needs) {
      # The beginning of a statement whose order is on a later line carries its comments there.
      above = ends ? "" : above " " comment
      above_is_row = 0
    }
  }
  if (ends) {
    end_statement()
    note_use(statement, FNR)
    statement = ""
  }
}

function is_release_anywhere(code) {
  return code ~ /(store|replace)_release\(|[pP]ort_?(->|\.)store(32)?\(/
}

END {
  end_statement()
  for (label in published)
    if (!(label in partner)) {
      print published[label] ": nothing 'pairs with " label "'"
      violation_count++
    }
  for (label in partner)
    if (!(label in published)) {
      print partner[label] ": pairs with " label ", which no release has"
      violation_count++
    }
  for (i = 1; i <= use_count; i++)
    if ((use_room[i], use_name[i]) in atomic) {
      print use_at[i] ": " use_name[i] " is an atomic: name the order"
      violation_count++
    }
  if (violation_count) exit 1
}
