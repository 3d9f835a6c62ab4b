# The Python package: build/python/linkwork. It links the program's own commands, so that options have one table and
# 'python3 -m linkwork' is the program.
#
# Debian's interpreter comes first, whatever python the PATH finds: it is the one that python3-numpy belongs to. Another one is
# chosen by -DPython_EXECUTABLE=...
if(NOT Python_EXECUTABLE AND EXISTS /usr/bin/python3)
  set(Python_EXECUTABLE /usr/bin/python3 CACHE FILEPATH "The interpreter that the Python package is built for")
endif()
set(PYBIND11_FINDPYTHON ON)
find_package(Python 3.9 QUIET COMPONENTS Interpreter Development.Module NumPy)
find_package(pybind11 2.10 QUIET)
if(NOT Python_Development.Module_FOUND OR NOT Python_NumPy_FOUND OR NOT pybind11_FOUND)
  message(STATUS "No Python package: it needs python3-dev, python3-numpy and pybind11-dev (Python: ${Python_EXECUTABLE})")
  return()
endif()
message(STATUS "Python package: for ${Python_EXECUTABLE}, version ${Python_VERSION}")

set(package_tree ${PROJECT_BINARY_DIR}/python/linkwork)
file(GLOB python_sources CONFIGURE_DEPENDS python/src/*.cpp)
pybind11_add_module(linkwork_python_core MODULE NO_EXTRAS ${python_sources})
set_target_properties(linkwork_python_core PROPERTIES OUTPUT_NAME _core LIBRARY_OUTPUT_DIRECTORY ${package_tree}
  BUILD_RPATH "$ORIGIN/libs")  # where a wheel has the libraries
linkwork_compile_options(linkwork_python_core)
linkwork_unity(linkwork_python_core)
target_include_directories(linkwork_python_core PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(linkwork_python_core PRIVATE linkwork_commands linkwork_studies)
target_link_options(linkwork_python_core PRIVATE
  -Wl,--exclude-libs,ALL      # nothing of ours meets other extension modules
  -Wl,--disable-new-dtags)  # libraries of a wheel find one another by its path, too
target_precompile_headers(linkwork_python_core PRIVATE ${PROJECT_SOURCE_DIR}/python/src/bindings.h)

# Beside it the files in Python, and the ready models.
file(GLOB package_files CONFIGURE_DEPENDS python/linkwork/*.py python/linkwork/*.pyi python/linkwork/py.typed)
file(GLOB_RECURSE model_files CONFIGURE_DEPENDS models/*)
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/python/copied
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${package_tree}/models
  COMMAND ${CMAKE_COMMAND} -E copy ${package_files} ${package_tree}
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_SOURCE_DIR}/models ${package_tree}/models
  COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_FILE:linkwork_fmu> ${PROJECT_BINARY_DIR}/linkwork_fmu.licenses.txt ${package_tree}
  COMMAND ${CMAKE_COMMAND} -E touch ${PROJECT_BINARY_DIR}/python/copied
  DEPENDS ${package_files} ${model_files} linkwork_fmu)
add_custom_target(linkwork_python ALL DEPENDS ${PROJECT_BINARY_DIR}/python/copied)
add_dependencies(linkwork_python linkwork_python_core)
file(WRITE ${PROJECT_BINARY_DIR}/python/interpreter.txt "${Python_EXECUTABLE} ${Python_VERSION}\n")  # for ./dev to tell

# Debian's interpreter looks into dist-packages, of its own version under /usr/local and of any under /usr; elsewhere (~/.local, virtual
# environments) into site-packages.
install(CODE "
  set(LINKWORK_PYTHON_DIR lib/python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}/site-packages)
  if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
    set(LINKWORK_PYTHON_DIR lib/python3/dist-packages)
  elseif(CMAKE_INSTALL_PREFIX STREQUAL \"/usr/local\")
    set(LINKWORK_PYTHON_DIR lib/python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}/dist-packages)
  endif()" COMPONENT python)
install(DIRECTORY ${package_tree} DESTINATION "\${LINKWORK_PYTHON_DIR}" COMPONENT python OPTIONAL PATTERN __pycache__ EXCLUDE)
