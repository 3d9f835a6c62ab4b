# The pages: web/ is bundled into an HTML template each, and those compiled into the library. Everything happens in the build
# tree; packages are fetched by npm in the versions of web/package-lock.json, those for tests only if there are tests.

set(web_tree ${PROJECT_BINARY_DIR}/web)
set(page_templates ${web_tree}/page_templates.cpp)
set(web_pages report study compare ensemble)

if(LINKWORK_WEB)
  find_program(LINKWORK_NODE NAMES node nodejs)
  find_program(LINKWORK_NPM npm)
  if(NOT LINKWORK_NODE OR NOT LINKWORK_NPM)
    message(STATUS "No report page: node (18 or newer) and npm are needed to build it, and were not found")
  endif()
endif()

if(NOT LINKWORK_WEB OR NOT LINKWORK_NODE OR NOT LINKWORK_NPM)
  set(page_templates ${PROJECT_BINARY_DIR}/no_page_templates.cpp)
  set(no_pages "#include \"linkwork/io/page.h\"\n\n")
  foreach(page IN LISTS web_pages)
    string(APPEND no_pages "std::string_view linkwork::${page}_template() { return {}; }\n")
  endforeach()
  file(CONFIGURE OUTPUT ${page_templates} CONTENT "${no_pages}")
  target_sources(linkwork PRIVATE ${page_templates})
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
  OUTPUT ${page_templates}
  BYPRODUCTS ${web_tree}/report.html ${web_tree}/study.html ${web_tree}/compare.html ${web_tree}/ensemble.html
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${web_tree}/src
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_SOURCE_DIR}/web/src ${web_tree}/src
  COMMAND ${CMAKE_COMMAND} -E copy ${web_scripts} ${web_tree}
  COMMAND ${LINKWORK_NODE} build.mjs
  DEPENDS ${web_packages_installed} ${web_sources} ${web_scripts}
  WORKING_DIRECTORY ${web_tree}
  COMMENT "Bundling the pages"
  VERBATIM)

install(DIRECTORY ${web_tree}/licenses DESTINATION ${CMAKE_INSTALL_DOCDIR})
target_sources(linkwork PRIVATE ${page_templates})
set_source_files_properties(${page_templates} PROPERTIES SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS -Wno-overlength-strings)
