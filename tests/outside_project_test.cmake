# SPDX-License-Identifier: Apache-2.0
# Installs the build into a fresh prefix, then configures, builds and runs a project that knows
# nothing but find_package(tidemark). Run by ctest with cmake -P.

function(step what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${what}: exit status ${result}")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK_FOLDER}")
set(flags "")
if(SANITIZE)
  set(flags "-fsanitize=${SANITIZE}")
endif()

step("install" "${CMAKE_COMMAND}" --install "${BUILD_FOLDER}" --prefix "${WORK_FOLDER}/prefix")
step("configure" "${CMAKE_COMMAND}" -G "${GENERATOR}"
  -S "${SOURCE_FOLDER}" -B "${WORK_FOLDER}/build"
  "-DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM}"
  "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}"
  "-DCMAKE_CXX_FLAGS=${flags}"
  -DCMAKE_BUILD_TYPE=Release
  "-DCMAKE_PREFIX_PATH=${WORK_FOLDER}/prefix")
step("build" "${CMAKE_COMMAND}" --build "${WORK_FOLDER}/build")
step("run" "${WORK_FOLDER}/build/outside_project")
