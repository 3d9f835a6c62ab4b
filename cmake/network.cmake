# Modules on other hosts: a shared object that programs load when a run needs it, so that others neither start slower nor depend on
# gRPC. It sees headers of the library only, and is not linked with it.
#
# ./dev run builds the program alone, on machines that need not have gRPC: where it is not found, this is left out in words.
find_library(LINKWORK_GRPCXX grpc++)
find_path(LINKWORK_GRPC_INCLUDE_DIR grpcpp/grpcpp.h)
find_package(OpenSSL)
if(NOT LINKWORK_GRPCXX OR NOT LINKWORK_GRPC_INCLUDE_DIR OR NOT OPENSSL_FOUND)
  message(STATUS "No modules on other hosts: gRPC or OpenSSL was not found")
  add_custom_target(linkwork_network)
  return()
endif()
find_library(LINKWORK_GRPC grpc REQUIRED)
find_library(LINKWORK_GPR gpr REQUIRED)

file(GLOB network_sources CONFIGURE_DEPENDS apps/network/*.cpp)
add_library(linkwork_network MODULE ${network_sources})
set_target_properties(linkwork_network PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} CXX_VISIBILITY_PRESET hidden)
linkwork_compile_options(linkwork_network)
target_include_directories(linkwork_network PRIVATE ${PROJECT_SOURCE_DIR})
target_include_directories(linkwork_network SYSTEM PRIVATE ${LINKWORK_GRPC_INCLUDE_DIR})
target_link_libraries(linkwork_network PRIVATE ${LINKWORK_GRPCXX} ${LINKWORK_GRPC} ${LINKWORK_GPR} OpenSSL::Crypto)
install(TARGETS linkwork_network DESTINATION lib/linkwork COMPONENT network)  # where programs look for it
install(FILES linkwork/modules/remote/linkwork.proto DESTINATION ${CMAKE_INSTALL_DATADIR}/linkwork COMPONENT network)
