# What is installed, in a component for each package (cmake/package.cmake): the program, the shared library, and its headers with
# how CMake and pkg-config find them. The Python package is in python/CMakeLists.txt.

# Debian's folder for libraries under every prefix, so that one build is installed and packaged alike.
if(CMAKE_LIBRARY_ARCHITECTURE)
  set(CMAKE_INSTALL_LIBDIR lib/${CMAKE_LIBRARY_ARCHITECTURE} CACHE PATH "Where libraries go, below the prefix")
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The same objects as in the program, which has them in itself. Before 1.0 every minor version may change the interface, and
# the soname does not tell (docs/library.md).
add_library(espalier_shared SHARED $<TARGET_OBJECTS:espalier_library>)
set_target_properties(espalier_shared PROPERTIES
  OUTPUT_NAME espalier EXPORT_NAME espalier LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
target_link_libraries(espalier_shared PUBLIC fmt::fmt PRIVATE espalier_flags espalier_hardening ${library_dependencies})
target_include_directories(espalier_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(espalier_shared INTERFACE cxx_std_20)

install(TARGETS espalier RUNTIME COMPONENT program)
install(TARGETS espalier_shared EXPORT espalierTargets LIBRARY COMPONENT library NAMELINK_COMPONENT development)
install(DIRECTORY include/espalier TYPE INCLUDE COMPONENT development FILES_MATCHING PATTERN "*.h")

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/espalier)
install(EXPORT espalierTargets NAMESPACE espalier:: DESTINATION ${package_folder} COMPONENT development)
configure_package_config_file(cmake/espalierConfig.cmake.in espalierConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(espalierConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/espalierConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/espalierConfigVersion.cmake
  DESTINATION ${package_folder} COMPONENT development)

# The prefix is known when it is installed (cmake --install --prefix), not before.
install(CODE "
  set(PROJECT_VERSION ${PROJECT_VERSION})
  set(pkgconfig_libdir \"\\\${prefix}/${CMAKE_INSTALL_LIBDIR}\")
  set(pkgconfig_includedir \"\\\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}\")
  set(pkgconfig_file \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig/espalier.pc\")
  configure_file(\"${CMAKE_CURRENT_SOURCE_DIR}/cmake/espalier.pc.in\" \"\$ENV{DESTDIR}\${pkgconfig_file}\" @ONLY)
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${pkgconfig_file}\")
" COMPONENT development)

include(cmake/pages.cmake)
