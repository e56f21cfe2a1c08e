# SPDX-License-Identifier: Apache-2.0
# At installation: the headers that users include (tidemark/*.h, tidemark/*.cuh) and those that follow
# from them, no others. <source_folder> and <include_folder> are set by TidemarkInstall.cmake.

execute_process(COMMAND "${source_folder}/tools/header_closure" --files
  OUTPUT_VARIABLE headers OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" headers "${headers}")
foreach(header IN LISTS headers)
  get_filename_component(folder "${header}" DIRECTORY)
  file(INSTALL "${source_folder}/${header}"
    DESTINATION "${CMAKE_INSTALL_PREFIX}/${include_folder}/${folder}")
endforeach()
