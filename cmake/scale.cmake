# Runs on simulated clusters: ./dev bench-scale installs SimGrid. Nothing else needs it, and nothing here is built by default.
# SimGrid's launcher loads the program as a shared object, once for each rank. Its MPI takes the place of the other: the one source
# of the library that sees mpi.h is compiled again, and stands before the library.
find_path(SMPI_INCLUDE_DIR smpi/mpi.h REQUIRED)
find_library(SIMGRID_LIBRARY simgrid REQUIRED)

add_library(linkwork_bench_scale MODULE EXCLUDE_FROM_ALL bench/scale/main.cpp linkwork/transport/mpi_world.cpp)
set_target_properties(linkwork_bench_scale PROPERTIES
  PREFIX "" SUFFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
target_compile_definitions(linkwork_bench_scale PRIVATE
  LINKWORK_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
  $<TARGET_PROPERTY:linkwork,INTERFACE_COMPILE_DEFINITIONS>)
target_include_directories(linkwork_bench_scale PRIVATE ${PROJECT_SOURCE_DIR})
target_include_directories(linkwork_bench_scale SYSTEM PRIVATE ${SMPI_INCLUDE_DIR} ${SMPI_INCLUDE_DIR}/smpi)
target_compile_options(linkwork_bench_scale PRIVATE -include ${SMPI_INCLUDE_DIR}/smpi/smpi_helpers.h)
linkwork_compile_options(linkwork_bench_scale)
add_dependencies(linkwork_bench_scale linkwork)
target_link_libraries(linkwork_bench_scale PRIVATE
  $<TARGET_FILE:linkwork> Eigen3::Eigen fmt::fmt nlohmann_json::nlohmann_json ZLIB::ZLIB pugixml::pugixml yaml-cpp
  ${sundials_targets} klu $<$<BOOL:${LINKWORK_HDF5}>:${HDF5_SERIAL_LIBRARY}> Threads::Threads ${SIMGRID_LIBRARY})
