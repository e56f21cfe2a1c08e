# SPDX-License-Identifier: Apache-2.0
# Installs the build into a fresh prefix.

include("${CMAKE_CURRENT_LIST_DIR}/step.cmake")
file(REMOVE_RECURSE "${WORK_FOLDER}/prefix")
step("install" "${CMAKE_COMMAND}" --install "${BUILD_FOLDER}" --prefix "${WORK_FOLDER}/prefix")
