# The program, the shared library with its headers, and how CMake and pkg-config find them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The same objects as in the program, which has them in itself. Before 1.0 every minor version may change the interface.
add_library(espalier_shared SHARED $<TARGET_OBJECTS:espalier_library>)
set_target_properties(espalier_shared PROPERTIES
  OUTPUT_NAME espalier EXPORT_NAME espalier LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_link_libraries(espalier_shared PUBLIC fmt::fmt PRIVATE espalier_flags ${library_dependencies})
target_include_directories(espalier_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(espalier_shared INTERFACE cxx_std_20)

install(TARGETS espalier RUNTIME)
install(TARGETS espalier_shared EXPORT espalierTargets)
install(DIRECTORY include/espalier TYPE INCLUDE FILES_MATCHING PATTERN "*.h")

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/espalier)
install(EXPORT espalierTargets NAMESPACE espalier:: DESTINATION ${package_folder})
configure_package_config_file(cmake/espalierConfig.cmake.in espalierConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(espalierConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/espalierConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/espalierConfigVersion.cmake
  DESTINATION ${package_folder})

# The prefix is known when it is installed (cmake --install --prefix), not before.
install(CODE "
  set(PROJECT_VERSION ${PROJECT_VERSION})
  set(pkgconfig_libdir \"\\\${prefix}/${CMAKE_INSTALL_LIBDIR}\")
  set(pkgconfig_includedir \"\\\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}\")
  configure_file(\"${CMAKE_CURRENT_SOURCE_DIR}/cmake/espalier.pc.in\" \"${CMAKE_CURRENT_BINARY_DIR}/espalier.pc\" @ONLY)
  file(INSTALL \"${CMAKE_CURRENT_BINARY_DIR}/espalier.pc\" DESTINATION \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig\")
")
