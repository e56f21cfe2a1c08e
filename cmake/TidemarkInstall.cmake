# SPDX-License-Identifier: Apache-2.0
# Installs the executable, the libraries, their headers and what find_package(tidemark) reads.

include(CMakePackageConfigHelpers)

function(tidemark_install)
  if(TARGET tidemark)
    install(TARGETS tidemark RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  endif()

  get_property(libraries GLOBAL PROPERTY TIDEMARK_LIBRARY_TARGETS)
  install(TARGETS ${libraries} EXPORT tidemark_targets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/tidemark" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    FILES_MATCHING PATTERN "*.h" PATTERN "*.cuh" PATTERN "tidemark/cli" EXCLUDE
    PATTERN "tidemark/bench" EXCLUDE PATTERN "testing" EXCLUDE)
  install(FILES "${PROJECT_SOURCE_DIR}/tidemark/cli/tidemark_main.h"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tidemark/cli")

  set(config_folder "${CMAKE_INSTALL_LIBDIR}/cmake/tidemark")
  install(EXPORT tidemark_targets NAMESPACE tidemark:: DESTINATION "${config_folder}"
    FILE tidemark-targets.cmake)
  configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/tidemark-config.cmake.in"
    "${PROJECT_BINARY_DIR}/cmake/tidemark-config.cmake" INSTALL_DESTINATION "${config_folder}")
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/tidemark-config-version.cmake"
    COMPATIBILITY SameMinorVersion)
  install(FILES
    "${PROJECT_BINARY_DIR}/cmake/tidemark-config.cmake"
    "${PROJECT_BINARY_DIR}/cmake/tidemark-config-version.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/FindxxHash.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/FindRapidJSON.cmake"
    DESTINATION "${config_folder}")
endfunction()
