# SPDX-License-Identifier: Apache-2.0
# Configures, builds and runs the C++ project of tests/outside_project.

include("${CMAKE_CURRENT_LIST_DIR}/step.cmake")
set(build "${WORK_FOLDER}/outside_project")
configure("${SOURCE_FOLDER}/tests/outside_project" "${build}")
step("build" "${CMAKE_COMMAND}" --build "${build}")
set(tidemark "${WORK_FOLDER}/prefix/bin/tidemark")
step("run" "${CMAKE_COMMAND}" -E chdir "${build}" ./outside_project)
step("its run is sound" "${tidemark}" check "${build}/outside_project_run")

# A workload of somebody else's has every flag of `tidemark run`.
set(own "${build}/own_workload")
foreach(runtime tensormap_and_ringbuffer aicpu_build_graph host_build_graph)
  foreach(platform sim a5sim)
    step("own workload, ${runtime} on ${platform}" "${own}" run tiled_axpy --case small --seed 3
      -p ${platform} --runtime ${runtime} --ring-task-window 128 --ring-heap 1048576
      --ring-dep-pool 256 --tensormap-pool 4096 --track-war --isolation process --json
      --output-prefix "${build}/own_run" --force)
  endforeach()
endforeach()
step("own workload, thread mode" "${own}" run tiled_axpy --isolation thread
  --output-prefix "${build}/own_run" --force)
step("own workload is listed" "${own}" list)
step("own run is sound" "${own}" check "${build}/own_run")

# The example that hangs on request: exit code 3 says that its report named the stage and the round.
set(build "${WORK_FOLDER}/pipeline")
configure("${SOURCE_FOLDER}/examples/pipeline" "${build}")
step("build the pipeline" "${CMAKE_COMMAND}" --build "${build}")
step("pipeline" "${build}/pipeline_threads" "${build}/run")
execute_process(COMMAND "${build}/pipeline_threads" "${build}/hung" --hang 1,compute,17 --limit 1500
  RESULT_VARIABLE result)
if(NOT result EQUAL 3)
  message(FATAL_ERROR "a pipeline that hangs: exit status ${result}, not 3")
endif()
step("why it hung" "${tidemark}" hang "${build}/hung")
