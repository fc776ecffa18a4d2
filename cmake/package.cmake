if(ESPALIER_PYTHON)
  find_package(Python REQUIRED COMPONENTS Interpreter)
  add_custom_target(wheel
    COMMAND ${Python_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/packaging/wheel_backend.py ${CMAKE_CURRENT_BINARY_DIR}
            ${CMAKE_CURRENT_BINARY_DIR}/packages
    DEPENDS espalier_package COMMENT "A wheel, in ${CMAKE_CURRENT_BINARY_DIR}/packages" VERBATIM)
endif()

# Debian packages, one for each component of what is installed: cmake --build build --target packages. CPack makes them from
# the build that is there; a debian/ folder would say what cmake/install.cmake says once more, and build everything anew.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON) # tests are in no package
find_program(ESPALIER_DPKG_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(ESPALIER_DPKG_SHLIBDEPS)
if(NOT ESPALIER_DPKG_SHLIBDEPS)
  return()
endif()

set(package_of_program espalier)
set(package_of_library libespalier${PROJECT_VERSION_MAJOR})
set(package_of_development libespalier-dev)
set(package_of_python python3-espalier)
set(package_of_doc espalier-doc)
set(package_components program library development)
if(ESPALIER_PYTHON)
  list(APPEND package_components python)
endif()
# The site (docs/site), which takes MkDocs to build.
if(ESPALIER_MKDOCS AND ESPALIER_SITE_PYTHON)
  list(APPEND package_components doc)
  install(FILES packaging/espalier-doc.doc-base DESTINATION ${CMAKE_INSTALL_DATADIR}/doc-base RENAME espalier-doc.espalier
    COMPONENT doc_package EXCLUDE_FROM_ALL)
endif()

# What every package has beside the files of its component; cmake --install leaves this out.
set(packaging_folder ${CMAKE_CURRENT_BINARY_DIR}/packaging)
function(compressed from to)
  add_custom_command(OUTPUT ${to} COMMAND sh -c "gzip -9n < \"$0\" > \"$1\"" ${from} ${to} DEPENDS ${from} VERBATIM)
endfunction()
file(MAKE_DIRECTORY ${packaging_folder})
compressed(${CMAKE_CURRENT_SOURCE_DIR}/packaging/changelog ${packaging_folder}/changelog.Debian.gz)
compressed(${CMAKE_CURRENT_SOURCE_DIR}/CHANGELOG.md ${packaging_folder}/changelog.gz)
add_custom_target(packaging ALL DEPENDS ${packaging_folder}/changelog.Debian.gz ${packaging_folder}/changelog.gz)
foreach(component ${package_components})
  install(FILES packaging/copyright ${packaging_folder}/changelog.Debian.gz ${packaging_folder}/changelog.gz
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package_of_${component}} COMPONENT ${component}_package EXCLUDE_FROM_ALL)
  set(overrides packaging/${package_of_${component}}.lintian-overrides)
  if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${overrides})
    set(overrides packaging/lintian-overrides)
  endif()
  install(FILES ${overrides} DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME ${package_of_${component}}
    COMPONENT ${component}_package EXCLUDE_FROM_ALL)
endforeach()
install(FILES ${pages_folder}/zsh/_espalier DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions
  COMPONENT program_package EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME espalier)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_SET_DESTDIR ON) # espalier.pc has the prefix
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
foreach(component ${package_components})
  string(TOUPPER ${component} name)
  list(APPEND CPACK_COMPONENTS_ALL ${component} ${component}_package)
  set(CPACK_COMPONENT_${name}_GROUP ${component})
  set(CPACK_COMPONENT_${name}_PACKAGE_GROUP ${component})
endforeach()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# The changelog says which revision of the package this is, and who keeps it.
file(STRINGS packaging/changelog newest REGEX "^espalier \\(" LIMIT_COUNT 1)
string(REGEX MATCH "${PROJECT_VERSION}-([0-9]+)" newest "${newest}")
if(NOT newest)
  message(FATAL_ERROR "packaging/changelog: the newest entry is not of ${PROJECT_VERSION}; expected espalier (${PROJECT_VERSION}-1)")
endif()
set(CPACK_DEBIAN_PACKAGE_RELEASE ${CMAKE_MATCH_1})
file(STRINGS packaging/changelog maintainer REGEX "^ -- " LIMIT_COUNT 1)
string(REGEX REPLACE "^ -- (.*>)  .*" "\\1" CPACK_DEBIAN_PACKAGE_MAINTAINER "${maintainer}")

# As Debian writes it: a line, then paragraphs.
set(about "Espalier trains conditional random fields, structural support vector
machines and the losses between them for classification, tagging,
dependency and phrase-structure parsing and graphs. Training works in the
dual, and each model carries a certificate: a bound on how far its
objective is from the optimum.\n\n")
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "structured prediction with certified optima
${about}This package has the program, its manual pages and its completions for
bash and zsh.")
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "structured prediction with certified optima - shared library
${about}This package has the shared library.")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "structured prediction with certified optima - headers
${about}This package has the headers of the C++ library, and what CMake and
pkg-config need to find it.")
set(CPACK_DEBIAN_DOC_DESCRIPTION "structured prediction with certified optima - documentation
${about}This package has the documentation as a site: guides, and references of
the command line, of Python and of C++.")
set(CPACK_DEBIAN_PYTHON_DESCRIPTION "structured prediction with certified optima - Python 3
${about}This package has the module for Python 3.")
foreach(component ${package_components})
  string(TOUPPER ${component} name)
  set(CPACK_DEBIAN_${name}_PACKAGE_NAME ${package_of_${component}})
  set(CPACK_DEBIAN_${name}_PACKAGE_SOURCE espalier)
  set(CPACK_DEBIAN_${name}_PACKAGE_SHLIBDEPS ON)
endforeach()
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS espalier-doc)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS espalier-doc)
set(CPACK_DEBIAN_DOC_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DOC_PACKAGE_SHLIBDEPS OFF)

set(version_of_package ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${package_of_library} (= ${version_of_package}), libfmt-dev")
# Programs keep to the minor version that they were built with, which the soname does not say.
math(EXPR next_minor "${PROJECT_VERSION_MINOR} + 1")
file(WRITE ${packaging_folder}/shlibs "libespalier ${PROJECT_VERSION_MAJOR} ${package_of_library} \
(>= ${PROJECT_VERSION}), ${package_of_library} (<< ${PROJECT_VERSION_MAJOR}.${next_minor}~)\n")
file(WRITE ${packaging_folder}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${packaging_folder}/shlibs ${packaging_folder}/triggers)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_STRICT_PERMISSION ON)

if(ESPALIER_PYTHON)
  math(EXPR next_python "${Python_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= ${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}~), \
python3 (<< ${Python_VERSION_MAJOR}.${next_python})")
  # What arrays and matrices need, and Classifier; sequences, parsers and graphs do without.
  set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS python3-numpy)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "espalier-doc, python3-pandas, python3-scipy, python3-sklearn")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_SOURCE_DIR}/packaging/python/postinst
    ${CMAKE_CURRENT_SOURCE_DIR}/packaging/python/prerm)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_STRICT_PERMISSION ON)
endif()
# A build without the site makes the other packages.
set(CPACK_PROJECT_CONFIG_FILE ${packaging_folder}/components.cmake)
file(WRITE ${packaging_folder}/components.cmake "if(NOT EXISTS \"${PROJECT_BINARY_DIR}/site/index.html\")
  list(REMOVE_ITEM CPACK_COMPONENTS_ALL doc doc_package)
endif()\n")
include(CPack)

add_custom_target(packages COMMAND ${CMAKE_CPACK_COMMAND} DEPENDS espalier espalier_shared pages packaging
  WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} USES_TERMINAL COMMENT "Debian packages, in ${CPACK_PACKAGE_DIRECTORY}")
if(ESPALIER_PYTHON)
  add_dependencies(packages espalier_package)
endif()
if("doc" IN_LIST package_components)
  add_dependencies(packages site)
endif()
