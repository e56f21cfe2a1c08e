# SPDX-License-Identifier: Apache-2.0
# One executable per fuzz/*_fuzz.cpp, in <build>/fuzz/: by clang++ a libFuzzer, target
# tidemark_fuzzers; otherwise one that replays its corpus, target tidemark_fuzz_tests.

file(GLOB fuzz_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/fuzz/*_fuzz.cpp")
if(TIDEMARK_BUILD_FUZZERS)
  add_custom_target(tidemark_fuzzers)
else()
  add_custom_target(tidemark_fuzz_tests)
  add_library(tidemark_fuzz_replay OBJECT "${PROJECT_SOURCE_DIR}/fuzz/replay_main.cpp")
  target_link_libraries(tidemark_fuzz_replay PRIVATE tidemark::tidemark)
  tidemark_warnings(tidemark_fuzz_replay TEST)
endif()

function(tidemark_fuzzer source)
  cmake_path(GET source STEM name)
  add_executable(${name} "${source}")
  target_link_libraries(${name} PRIVATE tidemark::tidemark tidemark::cli)
  tidemark_warnings(${name} TEST)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
  if(TIDEMARK_BUILD_FUZZERS)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_dependencies(tidemark_fuzzers ${name})
    return()
  endif()
  target_link_libraries(${name} PRIVATE tidemark_fuzz_replay)
  target_compile_options(${name} PRIVATE -O0)
  add_dependencies(tidemark_fuzz_tests ${name})
  set(corpus "${PROJECT_SOURCE_DIR}/fuzz/corpus/${name}")
  file(GLOB corpus_files CONFIGURE_DEPENDS "${corpus}/*")
  list(LENGTH corpus_files file_count)
  add_test(NAME fuzz.${name}_replays_its_corpus COMMAND ${name} "${corpus}" ${file_count} 8)
  set_tests_properties(fuzz.${name}_replays_its_corpus PROPERTIES LABELS fuzz TIMEOUT ${TIDEMARK_TEST_LIMIT_S})
endfunction()

foreach(fuzz_source IN LISTS fuzz_sources)
  tidemark_fuzzer("${fuzz_source}")
endforeach()
