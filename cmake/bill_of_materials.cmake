# What the program and the library are made of: every dependency with the version that was found and its licence, as CycloneDX
# 1.5 (https://cyclonedx.org), in build/espalier.cdx.json. The same build gives the same bytes: there is no time in it and no
# number of its own.

# libunistring says its version in its header alone.
file(STRINGS ${unistring_include}/unistring/version.h unistring_line REGEX "define _LIBUNISTRING_VERSION")
string(REGEX MATCH "0x[0-9A-Fa-f]+" unistring_number "${unistring_line}")
math(EXPR unistring_major "${unistring_number} >> 16")
math(EXPR unistring_minor "(${unistring_number} >> 8) & 255")
math(EXPR unistring_patch "${unistring_number} & 255")
set(unistring_version ${unistring_major}.${unistring_minor}.${unistring_patch})

# The file of re2 for pkg-config says 0.0.0; Debian knows better.
set(version_of_re2 ${re2_VERSION})
find_program(ESPALIER_DPKG_QUERY dpkg-query)
mark_as_advanced(ESPALIER_DPKG_QUERY)
if(version_of_re2 STREQUAL "0.0.0" AND ESPALIER_DPKG_QUERY)
  execute_process(COMMAND ${ESPALIER_DPKG_QUERY} --show --showformat=\${source:Upstream-Version} libre2-dev
    OUTPUT_VARIABLE version_of_re2 ERROR_QUIET)
  if(NOT version_of_re2)
    set(version_of_re2 ${re2_VERSION})
  endif()
endif()

# NAME VERSION LICENCE(an SPDX expression) USE(linked: at run time; headers: compiled into it)
set(materials
  "CLI11|${CLI11_VERSION}|BSD-3-Clause|headers"
  "cpp-httplib|${httplib_VERSION}|MIT|linked"
  "fmt|${fmt_VERSION}|MIT|linked"
  "nlohmann-json|${nlohmann_json_VERSION}|MIT|headers"
  "highway|${hwy_VERSION}|Apache-2.0|linked"
  "zlib|${ZLIB_VERSION_STRING}|Zlib|linked"
  "zstd|${zstd_VERSION}|BSD-3-Clause OR GPL-2.0-only|linked"
  "liblzma|${LIBLZMA_VERSION_STRING}|LicenseRef-public-domain|linked"
  "re2|${version_of_re2}|BSD-3-Clause|linked"
  "liblbfgs|${lbfgs_VERSION}|MIT|linked"
  "utf8proc|${utf8proc_VERSION}|MIT|linked"
  "xxhash|${xxhash_VERSION}|BSD-2-Clause|linked"
  "libunistring|${unistring_version}|LGPL-3.0-or-later OR GPL-2.0-or-later|linked")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU") # which brings its own
  list(APPEND materials
    "libstdc++|${CMAKE_CXX_COMPILER_VERSION}|GPL-3.0-or-later WITH GCC-exception-3.1|linked")
endif()
if(ESPALIER_MPI)
  list(APPEND materials "openmpi|${mpi_VERSION}|BSD-3-Clause|linked")
endif()
if(ESPALIER_PYTHON)
  list(APPEND materials "pybind11|${version_of_pybind11}|BSD-3-Clause|headers")
endif()

set(components)
set(references)
foreach(material ${materials})
  string(REPLACE "|" ";" fields "${material}")
  list(GET fields 0 name)
  list(GET fields 1 its_version)
  list(GET fields 2 licence)
  list(GET fields 3 use)
  if(NOT its_version)
    message(FATAL_ERROR "bill of materials: no version of ${name} was found")
  endif()
  if(licence MATCHES "^LicenseRef-")
    set(licence "{ \"license\": { \"name\": \"${licence}\" } }")
  else()
    set(licence "{ \"expression\": \"${licence}\" }")
  endif()
  string(REPLACE "+" "%2B" reference "pkg:generic/${name}@${its_version}")
  list(APPEND components "    { \"type\": \"library\", \"bom-ref\": \"${reference}\", \"name\": \"${name}\", \
\"version\": \"${its_version}\", \"purl\": \"${reference}\", \"licenses\": [ ${licence} ], \
\"properties\": [ { \"name\": \"espalier:use\", \"value\": \"${use}\" } ] }")
  list(APPEND references "\"${reference}\"")
endforeach()
list(JOIN components ",\n" components)
list(JOIN references ", " references)

set(bill_of_materials ${CMAKE_CURRENT_BINARY_DIR}/espalier.cdx.json)
set(espalier_reference pkg:generic/espalier@${PROJECT_VERSION})
file(CONFIGURE OUTPUT ${bill_of_materials} CONTENT "{
  \"bomFormat\": \"CycloneDX\",
  \"specVersion\": \"1.5\",
  \"version\": 1,
  \"metadata\": {
    \"component\": { \"type\": \"application\", \"bom-ref\": \"@espalier_reference@\", \"name\": \"espalier\", \
\"version\": \"@PROJECT_VERSION@\", \"purl\": \"@espalier_reference@\", \"licenses\": [ { \"expression\": \"MIT\" } ] }
  },
  \"components\": [
@components@
  ],
  \"dependencies\": [ { \"ref\": \"@espalier_reference@\", \"dependsOn\": [ @references@ ] } ]
}
" @ONLY)
add_custom_target(bill_of_materials
  COMMAND ${CMAKE_COMMAND} -E cat ${bill_of_materials} COMMENT "What this build is made of" VERBATIM)
install(FILES ${bill_of_materials} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/espalier COMPONENT program)
