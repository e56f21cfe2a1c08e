# SPDX-License-Identifier: Apache-2.0
# One libFuzzer executable per fuzz/*_fuzz.cpp, in <build>/fuzz/.

file(GLOB fuzz_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/fuzz/*_fuzz.cpp")
add_custom_target(tidemark_fuzzers)
foreach(fuzz_source IN LISTS fuzz_sources)
  cmake_path(GET fuzz_source STEM fuzz_name)
  add_executable(${fuzz_name} "${fuzz_source}")
  target_link_libraries(${fuzz_name} PRIVATE tidemark::tidemark tidemark::cli)
  target_link_options(${fuzz_name} PRIVATE -fsanitize=fuzzer)
  tidemark_warnings(${fuzz_name} TEST)
  set_target_properties(${fuzz_name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
  add_dependencies(tidemark_fuzzers ${fuzz_name})
endforeach()
