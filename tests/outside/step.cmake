# SPDX-License-Identifier: Apache-2.0
# What the scripts of this folder share: a command that must succeed, and a project that is
# configured against the installed package.

function(step what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${what}: exit status ${result}")
  endif()
endfunction()

# configure(<source folder> <build folder> [<cmake arguments>...]): without a build type, as somebody
# who says nothing of it; that is also compiled soonest.
function(configure source build)
  file(REMOVE_RECURSE "${build}")
  configure_again("${source}" "${build}" ${ARGN})
endfunction()

# configure_again(...): the same, but what CMake knows of the compilers is kept.
function(configure_again source build)
  set(flags "")
  if(SANITIZE)
    set(flags "-fsanitize=${SANITIZE}")
  endif()
  step("configure ${source}" "${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${source}" -B "${build}"
    "-DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM}"
    "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}"
    "-DCMAKE_CXX_FLAGS=${flags}"
    -DCMAKE_BUILD_TYPE=
    "-DCMAKE_PREFIX_PATH=${WORK_FOLDER}/prefix"
    ${ARGN})
endfunction()
