// SPDX-License-Identifier: Apache-2.0
// "; did you mean 'vector_example'?", for the end of an error about a name that nobody knows. The
// nearest name has the fewest edits; if even that one is far away, the answer is empty.
#pragma once

#include "tidemark/base/needs_cpp20.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

// How many edits lead from one name to the other. An edit inserts, removes or replaces a character,
// or swaps two neighbours. Capitals are like small letters, '-' is like '_'.
inline std::size_t edit_distance(std::string_view from, std::string_view to) {
  const auto folded = [](char c) {
    if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
    return c == '-' ? '_' : c;
  };
  // Rows of the usual table: distances of the first i, i - 1 and i - 2 characters of `from`.
  std::vector<std::size_t> now(to.size() + 1), before(to.size() + 1), oldest(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) now[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    oldest.swap(before);
    before.swap(now);
    now[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const bool same = folded(from[i - 1]) == folded(to[j - 1]);
      now[j] = std::min({before[j] + 1, now[j - 1] + 1, before[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && folded(from[i - 1]) == folded(to[j - 2]) &&
          folded(from[i - 2]) == folded(to[j - 1]))
        now[j] = std::min(now[j], oldest[j - 2] + 1);
    }
  }
  return now[to.size()];
}

// Near: at most a third of the characters are edits (one edit is always near), or the name that was
// asked for is the beginning of this one.
inline bool is_near(std::string_view asked, std::string_view known, std::size_t distance) {
  constexpr std::size_t kBeginningMin = 3;
  return distance <= std::max<std::size_t>(1, std::min(asked.size(), known.size()) / 3) ||
         (asked.size() >= kBeginningMin && known.starts_with(asked));
}

// The nearest of the names, the first of several; empty if none is near. `name_of` gives the name
// of an element: a function or a pointer to a member.
template <class Names, class NameOf = std::identity>
std::string nearest_name(std::string_view asked, const Names& known, NameOf name_of = {}) {
  std::string nearest;
  std::size_t least = ~std::size_t{0};
  for (const auto& element : known) {
    const std::string name(std::invoke(name_of, element));
    const std::size_t distance = edit_distance(asked, name);
    if (asked.empty() || distance >= least || !is_near(asked, name, distance)) continue;
    least = distance;
    nearest = name;
  }
  return nearest;
}

template <class Names, class NameOf = std::identity>
std::string did_you_mean(std::string_view asked, const Names& known, NameOf name_of = {}) {
  const std::string nearest = nearest_name(asked, known, name_of);
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

}  // namespace tidemark
