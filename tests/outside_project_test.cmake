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

# A workload of somebody else's has every flag of `tidemark run`.
set(own "${WORK_FOLDER}/build/own_workload")
foreach(runtime tensormap_and_ringbuffer aicpu_build_graph host_build_graph)
  foreach(platform sim a5sim)
    step("own workload, ${runtime} on ${platform}" "${own}" run tiled_axpy --case small --seed 3
      -p ${platform} --runtime ${runtime} --ring-task-window 128 --ring-heap 1048576
      --ring-dep-pool 256 --tensormap-pool 4096 --track-war --isolation process --json
      --output-prefix "${WORK_FOLDER}/own_run" --force)
  endforeach()
endforeach()
step("own workload, thread mode" "${own}" run tiled_axpy --isolation thread
  --output-prefix "${WORK_FOLDER}/own_run" --force)
step("own workload is listed" "${own}" list)
step("own run is sound" "${own}" check "${WORK_FOLDER}/own_run")
