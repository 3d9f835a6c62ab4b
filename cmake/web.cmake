# The report page: web/ is bundled into one HTML template, and that compiled into the library. Everything happens in the build
# tree; packages are fetched by npm in the versions of web/package-lock.json, those for tests only if there are tests.

set(web_tree ${PROJECT_BINARY_DIR}/web)
set(report_template ${web_tree}/report_template.cpp)

if(LINKWORK_WEB)
  find_program(LINKWORK_NODE NAMES node nodejs)
  find_program(LINKWORK_NPM npm)
  if(NOT LINKWORK_NODE OR NOT LINKWORK_NPM)
    message(STATUS "No report page: node (18 or newer) and npm are needed to build it, and were not found")
  endif()
endif()

if(NOT LINKWORK_WEB OR NOT LINKWORK_NODE OR NOT LINKWORK_NPM)
  set(report_template ${PROJECT_BINARY_DIR}/no_report_template.cpp)
  file(CONFIGURE OUTPUT ${report_template} CONTENT [[
#include "linkwork/io/report.h"

std::string_view linkwork::report_template() { return {}; }
]])
  target_sources(linkwork PRIVATE ${report_template})
  return()
endif()

set(web_packages package.json package-lock.json .npmrc)
list(TRANSFORM web_packages PREPEND ${PROJECT_SOURCE_DIR}/web/)
set(web_packages_installed ${web_tree}/node_modules/.package-lock.json)
set(npm_options $<$<NOT:$<BOOL:${LINKWORK_TESTS}>>:--omit=dev>)
add_custom_command(
  OUTPUT ${web_packages_installed}
  COMMAND ${CMAKE_COMMAND} -E copy ${web_packages} ${web_tree}
  COMMAND ${CMAKE_COMMAND} -DNPM=${LINKWORK_NPM} -DOPTIONS=${npm_options} -P ${PROJECT_SOURCE_DIR}/cmake/npm_ci.cmake
  COMMAND ${CMAKE_COMMAND} -E touch ${web_packages_installed}
  DEPENDS ${web_packages}
  WORKING_DIRECTORY ${web_tree}
  COMMENT "Fetching the packages of the report page"
  VERBATIM)
file(MAKE_DIRECTORY ${web_tree})

file(GLOB web_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/src/*)
set(web_scripts ${PROJECT_SOURCE_DIR}/web/build.mjs ${PROJECT_SOURCE_DIR}/web/tsconfig.json)
add_custom_command(
  OUTPUT ${report_template}
  BYPRODUCTS ${web_tree}/report.html
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${web_tree}/src
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_SOURCE_DIR}/web/src ${web_tree}/src
  COMMAND ${CMAKE_COMMAND} -E copy ${web_scripts} ${web_tree}
  COMMAND ${LINKWORK_NODE} build.mjs
  DEPENDS ${web_packages_installed} ${web_sources} ${web_scripts}
  WORKING_DIRECTORY ${web_tree}
  COMMENT "Bundling the report page"
  VERBATIM)

target_sources(linkwork PRIVATE ${report_template})
set_source_files_properties(${report_template} PROPERTIES SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS -Wno-overlength-strings)
