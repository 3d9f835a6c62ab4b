# The shared object that every exported FMU contains: build/linkwork_fmu.so. It runs where the C library and zlib are: everything
# else is linked in. Of what has no static library fit for that, a replacement comes before the library's own (apps/fmu/without.cpp),
# and MPI and HDF5 stay out. Nothing but the functions of the standard is visible.
file(GLOB fmu_sources CONFIGURE_DEPENDS apps/fmu/*.cpp)
add_library(linkwork_fmu MODULE ${fmu_sources} linkwork/transport/no_mpi_world.cpp linkwork/io/no_hdf5_trajectory.cpp)
set_target_properties(linkwork_fmu PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
  CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/fmu_symbols.txt)
linkwork_compile_options(linkwork_fmu)
target_include_directories(linkwork_fmu PRIVATE ${PROJECT_SOURCE_DIR})
target_include_directories(linkwork_fmu SYSTEM PRIVATE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_definitions(linkwork_fmu PRIVATE $<TARGET_PROPERTY:linkwork,INTERFACE_COMPILE_DEFINITIONS>)
add_dependencies(linkwork_fmu linkwork)
set(fmu_libraries)
foreach(name sundials_cvode sundials_arkode sundials_sunnonlinsolnewton sundials_sunnonlinsolfixedpoint sundials_sunlinsoldense
        sundials_sunlinsolspgmr sundials_sunmatrixdense sundials_nvecserial pugixml)
  find_library(LINKWORK_STATIC_${name} NAMES lib${name}.a ${name} REQUIRED)
  list(APPEND fmu_libraries ${LINKWORK_STATIC_${name}})
endforeach()
target_link_libraries(linkwork_fmu PRIVATE Eigen3::Eigen nlohmann_json::nlohmann_json $<TARGET_FILE:linkwork>
  -Wl,--start-group ${fmu_libraries} -Wl,--end-group ZLIB::ZLIB Threads::Threads ${CMAKE_DL_LIBS})
target_link_options(linkwork_fmu PRIVATE
  -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL -Wl,--no-undefined
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/fmu_symbols.txt)
install(TARGETS linkwork_fmu LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/linkwork)
