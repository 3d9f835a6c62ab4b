# Parts of the program that it loads when a run needs them: apps/loaded/. They are linked with nothing of the library but what they
# are made of, and show nothing but their entries. As the program contains functions of the same names, those of the library, and the
# libraries that these need, stay out of it.
function(linkwork_loaded part)
  add_library(linkwork_${part} MODULE apps/loaded/${part}_entry.cpp ${ARGN})
  set_target_properties(linkwork_${part} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  linkwork_compile_options(linkwork_${part})
  target_include_directories(linkwork_${part} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(linkwork_${part} PRIVATE $<TARGET_PROPERTY:linkwork,INTERFACE_COMPILE_DEFINITIONS>)
  target_link_libraries(linkwork_${part} PRIVATE Eigen3::Eigen fmt::fmt)
  if(NOT LINKWORK_SANITIZE)  # whose functions are the program's
    target_link_options(linkwork_${part} PRIVATE -Wl,--no-undefined)
  endif()
  install(TARGETS linkwork_${part} DESTINATION lib/linkwork)  # where programs look for it
  foreach(program linkwork_cli linkwork_studies_cli)
    target_sources(${program} PRIVATE apps/loaded/${part}.cpp)
    add_dependencies(${program} linkwork_${part})
  endforeach()
endfunction()

if(LINKWORK_HDF5)
  linkwork_loaded(hdf5 linkwork/io/hdf5_trajectory.cpp linkwork/io/durable_file.cpp linkwork/model/input_error.cpp
                  linkwork/model/visible.cpp)
  target_link_libraries(linkwork_hdf5 PRIVATE ${HDF5_SERIAL_LIBRARY})
endif()
if(LINKWORK_MPI)
  linkwork_loaded(mpi linkwork/transport/mpi_world.cpp linkwork/transport/transport.cpp linkwork/transport/under_mpirun.cpp)
  target_link_libraries(linkwork_mpi PRIVATE MPI::MPI_CXX)
  target_link_options(linkwork_mpi PRIVATE -Wl,--as-needed)  # the C++ interface of Open MPI comes along, of which nothing is used
endif()
foreach(program linkwork_cli linkwork_studies_cli)
  target_link_options(${program} PRIVATE -Wl,--as-needed)
endforeach()
