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
  install(CODE "set(source_folder [[${PROJECT_SOURCE_DIR}]])
    set(include_folder [[${CMAKE_INSTALL_INCLUDEDIR}]])")
  install(SCRIPT "${PROJECT_SOURCE_DIR}/cmake/install_headers.cmake")

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
    "${PROJECT_SOURCE_DIR}/cmake/TidemarkCudaToolkit.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/FindxxHash.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/FindRapidJSON.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/FindCppHttplib.cmake"
    DESTINATION "${config_folder}")
endfunction()
