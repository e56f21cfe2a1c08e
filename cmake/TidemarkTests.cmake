# SPDX-License-Identifier: Apache-2.0
# tidemark_test_executable(): one test executable per room, one ctest test per TEST.

if(TIDEMARK_BUILD_TESTS)
  enable_testing()
  include(GoogleTest)
endif()

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
  # Half of what a test takes to compile.
  target_precompile_headers(${target} PRIVATE <gtest/gtest.h> <string> <vector>)
  if(TARGET tidemark AND NOT arg_ALONE)
    add_dependencies(${target} tidemark)
    target_compile_definitions(${target} PRIVATE TIDEMARK_EXECUTABLE="$<TARGET_FILE:tidemark>")
  endif()
  tidemark_warnings(${target} TEST)
  # Only tests of lock-free headers need the optimiser they are shipped with.
  if(label MATCHES "^(base|schema|device|capture|session|analyze|export)$" OR
      label MATCHES "^(foreign|system|approved|perfetto)$")
    target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:-O1>")
  endif()

  # With ASan's and UBSan's checks in a test, optimising it takes longer than running it.
  if(TIDEMARK_SANITIZE MATCHES "address")
    target_compile_options(${target} PRIVATE -O0)
  endif()

  gtest_discover_tests(${target}
    DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${label} TIMEOUT 300)
  # gtest_discover_tests accepts an executable without tests; this does not.
  add_test(NAME ${label}.executable_has_tests COMMAND ${target} --gtest_list_tests)
  set_tests_properties(${label}.executable_has_tests PROPERTIES
    LABELS ${label} TIMEOUT 60 PASS_REGULAR_EXPRESSION "\n  [A-Za-z]")
endfunction()
