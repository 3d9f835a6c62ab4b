# The comparison with other engines: ./dev bench-peers installs them. Nothing else needs them, and nothing here is built by default.
find_package(CLI11 2.1 REQUIRED)
find_path(SIMBODY_INCLUDE_DIR Simbody.h PATH_SUFFIXES simbody REQUIRED)
find_path(MUJOCO_INCLUDE_DIR mujoco/mujoco.h REQUIRED)
find_path(DART_INCLUDE_DIR dart/config.hpp REQUIRED)

# A module per engine, compiled as its package is. It must not meet the library's code at link time: both hold the same functions
# of Eigen, compiled for different alignments.
function(linkwork_peer_module name)
  cmake_parse_arguments(peer "" "" "INCLUDE;LINK" ${ARGN})
  add_library(linkwork_peer_${name} MODULE EXCLUDE_FROM_ALL bench/peers/${name}_peer.cpp)
  set_target_properties(linkwork_peer_${name} PROPERTIES
    CXX_STANDARD 17  # Simbody's headers are not C++20
    PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(linkwork_peer_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(linkwork_peer_${name} SYSTEM PRIVATE ${peer_INCLUDE})
  target_link_libraries(linkwork_peer_${name} PRIVATE ${peer_LINK})
  # Debian compiles them with assertions, and Simbody's classes are larger then.
  target_compile_options(linkwork_peer_${name} PRIVATE -UNDEBUG
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow $<$<BOOL:${LINKWORK_WERROR}>:-Werror>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow>)
  add_dependencies(linkwork_bench_peers linkwork_peer_${name})
endfunction()

file(GLOB peers_sources CONFIGURE_DEPENDS bench/peers/*.cpp)
list(FILTER peers_sources EXCLUDE REGEX "_peer\\.cpp$")
add_executable(linkwork_bench_peers EXCLUDE_FROM_ALL ${peers_sources})
set_target_properties(linkwork_bench_peers PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
target_compile_definitions(linkwork_bench_peers PRIVATE
  LINKWORK_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
  LINKWORK_PEER_MODULES="${PROJECT_BINARY_DIR}/bench")
target_include_directories(linkwork_bench_peers PRIVATE ${PROJECT_SOURCE_DIR})
linkwork_compile_options(linkwork_bench_peers)
target_link_libraries(linkwork_bench_peers PRIVATE
  linkwork fmt::fmt nlohmann_json::nlohmann_json CLI11::CLI11 ${CMAKE_DL_LIBS})

linkwork_peer_module(simbody INCLUDE ${SIMBODY_INCLUDE_DIR} LINK SimTKsimbody SimTKmath SimTKcommon)
linkwork_peer_module(mujoco INCLUDE ${MUJOCO_INCLUDE_DIR} LINK mujoco)
linkwork_peer_module(dart INCLUDE ${DART_INCLUDE_DIR} ${EIGEN3_INCLUDE_DIRS} LINK dart)
