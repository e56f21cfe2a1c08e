# SPDX-License-Identifier: Apache-2.0
# A project with kernels of its own says nothing about C++20 and gets it, whether it enables CUDA
# before or after find_package, and whatever standard it asks for. The examples are built, and run
# where there is a GPU.

include("${CMAKE_CURRENT_LIST_DIR}/step.cmake")
set(cuda "-DCMAKE_CUDA_COMPILER=${CUDA_COMPILER}" "-DCMAKE_CUDA_ARCHITECTURES=${CUDA_ARCHITECTURES}")

# gets_cpp20(<order> <CMAKE_CUDA_STANDARD or nothing>): of each command that compiles a *.cu, the standard that
# counts is the last one.
function(gets_cpp20 order asked)
  set(build "${WORK_FOLDER}/cuda_order")
  configure_again("${CMAKE_CURRENT_LIST_DIR}/cuda_order" "${build}" ${cuda}
    -DORDER=${order} -DASKED=${asked} -DCMAKE_EXPORT_COMPILE_COMMANDS=ON)
  file(STRINGS "${build}/compile_commands.json" commands REGEX "\"command\":.*\\.cu\\.o")
  if(NOT commands)
    message(FATAL_ERROR "${order}: no *.cu is compiled")
  endif()
  foreach(command IN LISTS commands)
    string(REGEX MATCHALL "-std=[a-z+0-9]+" standards "${command}")
    list(POP_BACK standards last)
    if(NOT last STREQUAL "-std=c++20")
      message(FATAL_ERROR "${order}, CMAKE_CUDA_STANDARD '${asked}': not C++20: ${command}")
    endif()
  endforeach()
endfunction()

file(REMOVE_RECURSE "${WORK_FOLDER}/cuda_order")
gets_cpp20(CXX_CUDA_find "")
gets_cpp20(CXX_find_CUDA "")
gets_cpp20(CUDA_find "")
gets_cpp20(CXX_CUDA_find 17)
gets_cpp20(CXX_find_CUDA 20)

set(pipeline "${WORK_FOLDER}/pipeline_cuda")
configure("${SOURCE_FOLDER}/examples/pipeline" "${pipeline}" ${cuda} -DPIPELINE_CUDA=ON)
step("build the pipeline" "${CMAKE_COMMAND}" --build "${pipeline}" --target pipeline_cuda)
set(build "${WORK_FOLDER}/cuda_kernel")
configure("${SOURCE_FOLDER}/examples/cuda_kernel" "${build}" ${cuda})
step("build the example" "${CMAKE_COMMAND}" --build "${build}")

# A program of tasks with its kernel for GPUs in the same source runs without one, too.
set(tasks "${WORK_FOLDER}/cuda_tasks")
set(tidemark "${WORK_FOLDER}/prefix/bin/tidemark")
configure("${SOURCE_FOLDER}/examples/cuda_tasks" "${tasks}" ${cuda})
step("build a program of tasks" "${CMAKE_COMMAND}" --build "${tasks}")
foreach(runtime tensormap_and_ringbuffer host_build_graph)
  step("tasks, ${runtime} on sim" "${tasks}/cuda_tasks" run row_softmax --runtime ${runtime} --block-threads 4
    --enable-l2-swimlane --dump-tensor --output-prefix "${tasks}/run" --force)
  step("its run is sound" "${tidemark}" check "${tasks}/run")
endforeach()

if(EXISTS /dev/nvidiactl)
  step("tasks on the GPU" "${tasks}/cuda_tasks" run row_softmax -p cuda --output-prefix "${tasks}/run" --force)
  step("its run is sound" "${tidemark}" check "${tasks}/run")
  step("run the example" "${build}/cuda_kernel" "${build}/run")
  step("its run is sound" "${WORK_FOLDER}/prefix/bin/tidemark" check "${build}/run")
  step("run the pipeline" "${pipeline}/pipeline_cuda" "${pipeline}/run")
  step("its run is sound" "${WORK_FOLDER}/prefix/bin/tidemark" check "${pipeline}/run")
else()
  message(STATUS "no GPU: the examples were built, and run as far as they need none")
endif()
