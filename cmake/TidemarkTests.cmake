# SPDX-License-Identifier: Apache-2.0
# tidemark_test_executable(): one test executable per room, one ctest test per TEST.

if(TIDEMARK_BUILD_TESTS)
  enable_testing()
  include(GoogleTest)
endif()

# When a test counts as hung. None takes a tenth of it on an idle machine: how much else runs on a
# machine must not decide a test.
set(TIDEMARK_TEST_LIMIT_S 1200)

# Sets <out> to those of the files that start threads: ThreadSanitizer sees nothing in the others.
function(tidemark_threaded_sources out)
  set(threaded "")
  foreach(source IN LISTS ARGN)
    file(STRINGS "${source}" found REGEX "std::j?thread|Isolation::kThread" LIMIT_COUNT 1)
    if(found)
      list(APPEND threaded "${source}")
    endif()
  endforeach()
  set(${out} ${threaded} PARENT_SCOPE)
endfunction()

# Sets <out> to how far the tests of a label are optimised, beyond what the build says.
function(tidemark_test_optimisation label out)
  set(level "")
  # Only tests of lock-free headers, and kernels that compute, need the optimiser they are shipped
  # with. Programs instantiate the runtime too, but the runtime's own tests and the workloads do so
  # as shipped.
  if(NOT label MATCHES "^(transport|record|runtime|collect|workloads)$")
    set(level "$<$<CONFIG:Release>:-O1>")
  endif()
  # Whole runs in processes of their own: the test itself does little.
  if(label MATCHES "^(system|approved|perfetto)$")
    set(level "$<$<CONFIG:Release>:-O0>")
  endif()
  # With ASan's and UBSan's checks in a test, optimising it takes longer than running it.
  if(TIDEMARK_SANITIZE MATCHES "address")
    set(level -O0)
  endif()
  set(${out} "${level}" PARENT_SCOPE)
endfunction()

# Half of what a test takes to compile, precompiled once for each level. Sets <out> to its target.
function(tidemark_test_headers level out)
  string(MAKE_C_IDENTIFIER "tidemark_test_headers${level}" target)
  if(NOT TARGET ${target})
    set(source "${PROJECT_BINARY_DIR}/test_headers/${target}.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "// Nothing but the precompiled headers.\n")
    add_library(${target} OBJECT "${source}")
    target_compile_options(${target} PRIVATE ${level})
    target_link_libraries(${target} PRIVATE GTest::gtest fmt::fmt Threads::Threads)
    target_precompile_headers(${target} PRIVATE <gtest/gtest.h> <string> <vector>)
    tidemark_warnings(${target} TEST)
  endif()
  set(${out} ${target} PARENT_SCOPE)
endfunction()

# tidemark_test_executable(<label> [ALONE] SOURCES <files>... LINK <targets>...)
# Builds tidemark_<label>_tests. A test_main.cpp in the current folder replaces GoogleTest's main.
# ALONE: these tests do not run the executable, so it need not be built for them.
function(tidemark_test_executable label)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ALONE" "" "SOURCES;LINK")
  set(target tidemark_${label}_tests)
  add_executable(${target} ${arg_SOURCES})
  if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/test_main.cpp")
    target_sources(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/test_main.cpp")
    target_link_libraries(${target} PRIVATE GTest::gtest)
  else()
    target_link_libraries(${target} PRIVATE GTest::gtest_main)
  endif()
  target_link_libraries(${target} PRIVATE ${arg_LINK} Threads::Threads)
  target_compile_definitions(${target} PRIVATE
    TIDEMARK_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  if(TARGET tidemark AND NOT arg_ALONE)
    add_dependencies(${target} tidemark)
    target_compile_definitions(${target} PRIVATE TIDEMARK_EXECUTABLE="$<TARGET_FILE:tidemark>")
  endif()
  tidemark_warnings(${target} TEST)
  tidemark_unity(${target})
  tidemark_test_optimisation(${label} level)
  target_compile_options(${target} PRIVATE ${level})
  tidemark_test_headers("${level}" headers)
  target_precompile_headers(${target} REUSE_FROM ${headers})

  # What takes longest starts first: nothing then waits for it at the end.
  set(cost 1)
  if(label MATCHES "^(programs|approved|storage|perfetto)$")
    set(cost 100)
  endif()
  gtest_discover_tests(${target}
    DISCOVERY_TIMEOUT ${TIDEMARK_TEST_LIMIT_S}
    PROPERTIES LABELS ${label} TIMEOUT ${TIDEMARK_TEST_LIMIT_S} COST ${cost})
  # gtest_discover_tests accepts an executable without tests; this does not.
  add_test(NAME ${label}.executable_has_tests COMMAND ${target} --gtest_list_tests)
  set_tests_properties(${label}.executable_has_tests PROPERTIES
    LABELS ${label} TIMEOUT ${TIDEMARK_TEST_LIMIT_S} PASS_REGULAR_EXPRESSION "\n  [A-Za-z]")
endfunction()
