# cmake -DCOMPILER= -DBUILD= -DFOLDER= -DPROGRAM= -DVERSION= -P install_test.cmake
set(prefix ${FOLDER}/prefix)
file(REMOVE_RECURSE ${FOLDER})

# run(NAME OUTPUT COMMAND...): fails unless the command exits with 0.
function(run result)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT status EQUAL 0)
    string(REPLACE ";" " " command "${ARGN}")
    message(FATAL_ERROR "${command}: exit status ${status}\n${output}${errors}")
  endif()
  set(${result} "${output}" PARENT_SCOPE)
endfunction()

function(expect what found expected)
  if(NOT found STREQUAL expected)
    message(FATAL_ERROR "${what}: found '${found}'; expected '${expected}'")
  endif()
endfunction()

run(ignored ${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
run(version ${prefix}/bin/espalier --version)
expect("the installed program" "${version}" "espalier ${VERSION}\n")

# The sources lie outside of the tree, too: nothing can come from there.
file(COPY ${PROGRAM} DESTINATION ${FOLDER})
run(ignored ${CMAKE_COMMAND} -S ${FOLDER}/program -B ${FOLDER}/build -G Ninja -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER= -DCMAKE_PREFIX_PATH=${prefix} -DEXPECTED_VERSION=${VERSION})
run(ignored ${CMAKE_COMMAND} --build ${FOLDER}/build)
run(said ${FOLDER}/build/program)
expect("the program built with CMake" "${said}" "espalier ${VERSION}: ran is VERB\n")

# The same by pkg-config, where the library is found by its soname.
find_program(pkg_config pkg-config REQUIRED)
file(GLOB pc_file ${prefix}/lib*/pkgconfig/espalier.pc ${prefix}/lib/*/pkgconfig/espalier.pc)
cmake_path(GET pc_file PARENT_PATH pc_folder)
set(ENV{PKG_CONFIG_PATH} ${pc_folder})
run(stated ${pkg_config} --modversion espalier)
expect("pkg-config --modversion" "${stated}" "${VERSION}\n")
run(flags ${pkg_config} --cflags --libs espalier)
separate_arguments(flags UNIX_COMMAND "${flags}")
run(ignored ${COMPILER} -std=c++20 ${FOLDER}/program/main.cc ${flags} -o ${FOLDER}/by-pkg-config)
cmake_path(GET pc_folder PARENT_PATH library_folder)
set(ENV{LD_LIBRARY_PATH} ${library_folder})
run(said ${FOLDER}/by-pkg-config)
expect("the program built with pkg-config" "${said}" "espalier ${VERSION}: ran is VERB\n")
string(REGEX MATCH "^[0-9]+" interface "${VERSION}")
foreach(file ${library_folder}/libespalier.so.${interface} ${prefix}/share/man/man1/espalier.1.gz
        ${prefix}/share/man/man1/espalier-train-tag.1.gz ${prefix}/share/bash-completion/completions/espalier
        ${prefix}/share/zsh/site-functions/_espalier)
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "no ${file} after cmake --install")
  endif()
endforeach()
# What is for packages alone.
foreach(name doc/espalier/copyright lintian zsh/vendor-completions)
  if(EXISTS ${prefix}/share/${name})
    message(FATAL_ERROR "${prefix}/share/${name}: cmake --install made it; expected only packages to")
  endif()
endforeach()
file(REMOVE_RECURSE ${FOLDER})
