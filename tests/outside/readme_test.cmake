# SPDX-License-Identifier: Apache-2.0
# The projects whose files README.md shows are built and run as they are printed there.

include("${CMAKE_CURRENT_LIST_DIR}/step.cmake")
set(text "${WORK_FOLDER}/readme")
file(REMOVE_RECURSE "${text}")
step("take the files out of the README" "${SOURCE_FOLDER}/tools/readme_files" "${text}")
configure("${text}/hello" "${text}/hello/build")
step("build" "${CMAKE_COMMAND}" --build "${text}/hello/build")
step("run" "${CMAKE_COMMAND}" -E chdir "${text}" hello/build/hello)
step("its run is sound" "${WORK_FOLDER}/prefix/bin/tidemark" check "${text}/out")
step("read it again" "${CMAKE_COMMAND}" -E chdir "${text}" hello/build/read_hello)
if(CUDA_COMPILER)
  configure("${text}/hello_cuda" "${text}/hello_cuda/build"
    "-DCMAKE_CUDA_COMPILER=${CUDA_COMPILER}" "-DCMAKE_CUDA_ARCHITECTURES=${CUDA_ARCHITECTURES}")
  step("build with nvcc" "${CMAKE_COMMAND}" --build "${text}/hello_cuda/build")
  if(EXISTS /dev/nvidiactl)
    step("run" "${CMAKE_COMMAND}" -E chdir "${text}" hello_cuda/build/hello_cuda)
    step("its run is sound" "${WORK_FOLDER}/prefix/bin/tidemark" check "${text}/out_cuda")
  endif()
endif()
