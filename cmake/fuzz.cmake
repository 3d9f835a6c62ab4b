# Each tests/fuzz/NAME.cpp becomes the libFuzzer program fuzz_NAME, compiled with the few library sources it needs. With the same
# sources, and those of transport, a part of the unit tests is compiled under the sanitizers: sanitized_io_tests (address, undefined
# behaviour) and sanitized_transport_tests (threads).

if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "Fuzz targets need clang: configure with -DCMAKE_CXX_COMPILER=clang++")
endif()

# The paths of the library headers a file includes.
function(linkwork_includes file result)
  file(STRINGS ${file} lines REGEX "^#include \"linkwork/")
  list(TRANSFORM lines REPLACE "^#include \"([^\"]+)\".*" "\\1")
  set(${result} ${lines} PARENT_SCOPE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
endfunction()

# The library sources that a source needs, found by following its includes. A header is implemented by the source of the same
# name, and by every source without a header of its own that includes it from the same folder or one below; in a folder of kinds, which a
# catalog lists, by all of them.
function(linkwork_needed_sources start result)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} linkwork/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/io/hdf5_trajectory\\.cpp$")  # needs a library; no_hdf5_trajectory.cpp does not
  list(FILTER sources EXCLUDE REGEX "/io/scene_meshes\\.cpp$")  # belongs to the scene, which would bring all of the dynamics along
  foreach(source IN LISTS sources)
    string(REGEX REPLACE "\\.cpp$" ".h" own_header ${source})
    if(EXISTS ${PROJECT_SOURCE_DIR}/${own_header})
      list(APPEND implementing_${own_header} ${source})
      continue()
    endif()
    linkwork_includes(${source} headers)
    cmake_path(GET source PARENT_PATH own_folder)
    if(EXISTS ${PROJECT_SOURCE_DIR}/${own_folder}/catalog.cpp)
      file(GLOB beside CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${own_folder}/*.h)
      list(APPEND headers ${beside})
      list(REMOVE_DUPLICATES headers)
    endif()
    foreach(header IN LISTS headers)
      cmake_path(GET header PARENT_PATH folder)
      cmake_path(IS_PREFIX folder ${source} beside_or_above)
      if(beside_or_above)
        list(APPEND implementing_${header} ${source})
      endif()
    endforeach()
  endforeach()

  set(seen)
  set(next ${start})
  while(next)
    list(POP_FRONT next file)
    if(file IN_LIST seen OR NOT EXISTS ${PROJECT_SOURCE_DIR}/${file})
      continue()
    endif()
    list(APPEND seen ${file})
    linkwork_includes(${file} headers)
    list(APPEND next ${headers} ${implementing_${file}})
  endwhile()
  list(FILTER seen INCLUDE REGEX "^linkwork/.*\\.cpp$")
  set(${result} ${seen} PARENT_SCOPE)
endfunction()

# Tests of these folders that need no more than the library.
function(linkwork_light_tests folder result)
  file(GLOB tests CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} tests/unit/${folder}/*_test.cpp)
  foreach(test IN LISTS tests)
    file(STRINGS ${test} heavy REGEX "^#include \"(tests/support|apps)/")
    if(NOT heavy)
      list(APPEND light ${test})
    endif()
  endforeach()
  set(${result} ${light} PARENT_SCOPE)
endfunction()

file(GLOB fuzz_sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} tests/fuzz/*.cpp)
linkwork_light_tests(io io_tests)
linkwork_light_tests(transport transport_tests)
# A host of modules would bring the whole library along: it does with little of it.
set(light_fuzz_sources ${fuzz_sources})
list(REMOVE_ITEM light_fuzz_sources tests/fuzz/network_message.cpp)
linkwork_needed_sources("${light_fuzz_sources};${io_tests}" needed_sources)
linkwork_needed_sources("${transport_tests}" transport_sources)
list(FILTER transport_sources EXCLUDE REGEX "/mpi_world\\.cpp$")
list(APPEND transport_sources linkwork/transport/no_mpi_world.cpp)
list(REMOVE_DUPLICATES transport_sources)

add_library(linkwork_fuzzed STATIC ${needed_sources})
linkwork_unity(linkwork_fuzzed)
target_precompile_headers(linkwork_fuzzed PRIVATE <Eigen/Dense> <fmt/format.h> <algorithm> <functional> <map> <memory> <string> <vector>)
target_include_directories(linkwork_fuzzed PUBLIC ${PROJECT_SOURCE_DIR})
target_compile_definitions(linkwork_fuzzed PUBLIC EIGEN_MAX_ALIGN_BYTES=64 EIGEN_MAX_STATIC_ALIGN_BYTES=0 EIGEN_UNALIGNED_VECTORIZE=0)
target_compile_options(linkwork_fuzzed PUBLIC
  -O1 -g1 -w -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
target_link_libraries(linkwork_fuzzed
  PUBLIC Eigen3::Eigen
  PRIVATE fmt::fmt Threads::Threads linkwork_toml nlohmann_json::nlohmann_json pugixml::pugixml yaml-cpp ZLIB::ZLIB ${CMAKE_DL_LIBS})

find_package(GTest 1.12 REQUIRED)
add_executable(sanitized_io_tests ${io_tests})
linkwork_unity(sanitized_io_tests)
target_link_libraries(sanitized_io_tests PRIVATE linkwork_fuzzed GTest::gmock_main fmt::fmt nlohmann_json::nlohmann_json)
target_link_options(sanitized_io_tests PRIVATE -fsanitize=address,undefined)

add_executable(sanitized_transport_tests ${transport_tests} ${transport_sources})
linkwork_unity(sanitized_transport_tests)
target_include_directories(sanitized_transport_tests PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_options(sanitized_transport_tests PRIVATE -O1 -g1 -w -fsanitize=thread)
target_link_options(sanitized_transport_tests PRIVATE -fsanitize=thread)
target_link_libraries(sanitized_transport_tests PRIVATE Eigen3::Eigen GTest::gmock_main fmt::fmt Threads::Threads)

foreach(source IN LISTS fuzz_sources)
  cmake_path(GET source STEM name)
  add_executable(fuzz_${name} ${source})
  target_link_libraries(fuzz_${name} PRIVATE linkwork_fuzzed)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer,address,undefined)
endforeach()
target_sources(fuzz_network_message PRIVATE linkwork/modules/remote/module_host.cpp linkwork/modules/module.cpp)
