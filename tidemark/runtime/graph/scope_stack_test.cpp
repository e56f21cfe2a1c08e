// SPDX-License-Identifier: Apache-2.0
// Scopes: a mark is open while its own scope is, and never again, whatever opens in its place.
#include "tidemark/runtime/graph/scope_stack.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(ScopeStack, DepthDecidesTheRing) {
  ScopeStack scopes;
  for (std::uint32_t depth = 0; depth < kScopeDepthMax; ++depth) {
    ASSERT_FALSE(scopes.full());
    scopes.open({"file.cpp", depth});
    EXPECT_EQ(scopes.depth(), depth);
    EXPECT_EQ(scopes.ring(), depth < 3 ? depth : 3u);
    EXPECT_EQ(scopes.site().line, depth);
  }
  EXPECT_TRUE(scopes.full());
  EXPECT_EQ(scopes.total(), kScopeDepthMax);
}

TEST(ScopeStack, EmptyIsNowhere) {
  ScopeStack scopes;
  EXPECT_TRUE(scopes.empty());
  EXPECT_STREQ(scopes.site().file, "");
  EXPECT_FALSE(scopes.is_open({}));
  EXPECT_FALSE(scopes.is_open({0, 1}));
}

TEST(ScopeStack, AMarkIsOpenExactlyWhileItsScopeIs) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    ScopeStack scopes;
    struct Seen {
      ScopeMark mark;
      bool open;
    };
    std::vector<Seen> seen;
    std::vector<std::size_t> stack;
    for (int i = 0; i < 500; ++i) {
      if (!scopes.full() && (stack.empty() || random() % 2 == 0)) {
        scopes.open({"file.cpp", static_cast<std::uint32_t>(i)});
        stack.push_back(seen.size());
        seen.push_back({scopes.mark(), true});
      } else {
        seen[stack.back()].open = false;
        stack.pop_back();
        scopes.close();
      }
      for (const Seen& one : seen) ASSERT_EQ(scopes.is_open(one.mark), one.open);
      if (!stack.empty()) {
        scopes.current().task_count++;
      }
    }
    EXPECT_EQ(scopes.total(), seen.size());
  }
}

TEST(ScopeStack, ANewScopeCountsItsTasksFromNothing) {
  ScopeStack scopes;
  scopes.open({});
  scopes.current().task_count = 5;
  scopes.open({});
  EXPECT_EQ(scopes.current().task_count, 0u);
  scopes.close();
  EXPECT_EQ(scopes.current().task_count, 5u);
  scopes.close();
  scopes.open({});
  EXPECT_EQ(scopes.current().task_count, 0u);
}

struct RefusingOrchestrator {
  bool open_scope(const Site&) { return ++opened <= 1; }
  void close_scope() { ++closed; }
  int opened = 0, closed = 0;
};

TEST(Scope, ClosesOnlyWhatItOpened) {
  RefusingOrchestrator orch;
  {
    Scope first(orch);
    Scope refused(orch);
    EXPECT_EQ(orch.closed, 0);
  }
  EXPECT_EQ(orch.opened, 2);
  EXPECT_EQ(orch.closed, 1);
}

TEST(Site, NamesTheFileWithoutItsFolders) {
  const Site site = Site::here();
  EXPECT_STREQ(site.file, "scope_stack_test.cpp");
  EXPECT_EQ(site.line, static_cast<std::uint32_t>(__LINE__ - 2));
  EXPECT_STREQ(Site::here("a/b/c.cpp", 3).file, "c.cpp");
  EXPECT_STREQ(Site::here("c.cpp", 3).file, "c.cpp");
}

}  // namespace
}  // namespace tidemark
