# SPDX-License-Identifier: Apache-2.0
# A compiler in C++17 mode answers each header a user starts with by one #error line, and stops.

include("${CMAKE_CURRENT_LIST_DIR}/step.cmake")
set(include_folder "${WORK_FOLDER}/prefix/include")
set(try_folder "${WORK_FOLDER}/wrong_standard")
file(MAKE_DIRECTORY "${try_folder}")

# refused(<header> <compiler and flags>...)
function(refused header)
  get_filename_component(suffix "${header}" LAST_EXT)
  string(REPLACE ".cuh" ".cu" suffix "${suffix}")
  string(REPLACE ".h" ".cpp" suffix "${suffix}")
  file(WRITE "${try_folder}/try${suffix}" "#include \"${header}\"\nint main() {}\n")
  execute_process(COMMAND ${ARGN} -std=c++17 "-I${include_folder}" -c "${try_folder}/try${suffix}"
    -o "${try_folder}/try.o" RESULT_VARIABLE result ERROR_VARIABLE errors OUTPUT_QUIET)
  string(REGEX MATCHALL "error: [^\n]*" lines "${errors}")
  list(FILTER lines EXCLUDE REGEX "^error: Tidemark needs -std=c\\+\\+20: No such file")
  list(FILTER lines EXCLUDE REGEX "^error: 'Tidemark needs -std=c\\+\\+20' file not found")
  if(result EQUAL 0 OR NOT lines MATCHES "^error: #?(error )?\"Tidemark needs C\\+\\+20: [^;]*$")
    message(FATAL_ERROR "${header} in C++17 mode: expected one #error line, got:\n${errors}")
  endif()
endfunction()

foreach(header record.h recording.h runtime.h reader.h record/recorder.h session/recording.h)
  refused(tidemark/${header} "${CXX_COMPILER}")
endforeach()
if(CUDA_COMPILER)
  refused(tidemark/recording.cuh "${CUDA_COMPILER}" -x cu)
  refused(tidemark/record.h "${CUDA_COMPILER}" -x cu)
endif()
