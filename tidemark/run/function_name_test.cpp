// SPDX-License-Identifier: Apache-2.0
#include "tidemark/run/function_name.h"

#include <string>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(FunctionName, IsTheNameAlone) {
  EXPECT_EQ(plain_function_name("units"), "units");
  EXPECT_EQ(plain_function_name("tidemark::run_units<tidemark::A><<<(1,1,1),(256,1,1)>>>"),
            "tidemark::run_units");
  EXPECT_EQ(plain_function_name("a::run<a::B> ()"), "a::run");
  EXPECT_EQ(plain_function_name("void a::run_call<a::List<a::B, a::C>, a::Block<256u> >(a::Block<"
                                "256u>&, a::Call const&) [clone void a::units<a::D>(void*)]"),
            "a::run_call");
  EXPECT_EQ(plain_function_name("_ZN8tidemark11CopyOrCrash3runINS_12CtaUnitBlockILj256EEEEEvRT_"
                                "RKNS_8TaskArgsE"),
            "tidemark::CopyOrCrash::run");
  EXPECT_EQ(plain_function_name("_ZN39_INTERNAL_51c45c85_9_probe2_cu_30b6fea211__nanosleepEj"),
            "__nanosleep");
  EXPECT_EQ(plain_function_name("void (anonymous namespace)::f<c10::Half>(int)"),
            "(anonymous namespace)::f");
  EXPECT_EQ(plain_function_name("decltype ((declval<a::B>())(0)) a::with_type<a::B>(int, a::B&&)"),
            "a::with_type");
  EXPECT_EQ(plain_function_name("_ZZN8tidemark3runEvENKUlRT_E_clIiEEDaS1_"),
            "tidemark::run::{lambda}::operator");
}

TEST(FunctionName, WhatIsNoneStaysAsItIs) {
  for (const char* name : {"", "?\?", "<", "((((", "_Z", "_Zfoo"})
    EXPECT_EQ(plain_function_name(name), name);
  EXPECT_FALSE(plain_function_name("_Z" + std::string(100'000, 'P')).empty());
}

}  // namespace
}  // namespace tidemark
