# SPDX-License-Identifier: Apache-2.0
# Builds examples/read_run and lets it read a run with records and frames: it finds as many as the
# run's own account says.

include("${CMAKE_CURRENT_LIST_DIR}/step.cmake")
set(build "${WORK_FOLDER}/read_run")
set(run "${build}/run")
configure("${SOURCE_FOLDER}/examples/read_run" "${build}")
step("build" "${CMAKE_COMMAND}" --build "${build}")
step("record" "${WORK_FOLDER}/prefix/bin/tidemark" run vector_example --enable-l2-swimlane
  --enable-dep-gen --dump-tensor --output-prefix "${run}")
execute_process(COMMAND "${build}/read_run" "${run}" OUTPUT_VARIABLE output
  COMMAND_ERROR_IS_FATAL ANY)
message(STATUS "${output}")

# Every number of run.json that a stream delivered.
file(READ "${run}/run.json" report)
string(JSON stream_count LENGTH "${report}" streams)
set(records 0)
set(frames 0)
math(EXPR last "${stream_count} - 1")
foreach(i RANGE ${last})
  string(JSON name MEMBER "${report}" streams ${i})
  string(JSON delivered GET "${report}" streams ${name} delivered)
  if(name STREQUAL "dump")
    math(EXPR frames "${frames} + ${delivered}")
  else()
    math(EXPR records "${records} + ${delivered}")
  endif()
endforeach()
if(records EQUAL 0 OR frames EQUAL 0 OR NOT output MATCHES "^${records} records, ${frames} frames of ")
  message(FATAL_ERROR "run.json has ${records} records and ${frames} frames, read_run: ${output}")
endif()
