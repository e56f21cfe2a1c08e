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
