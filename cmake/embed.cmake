# Pages that the program writes and serves are one file each: a template of web/ in which lines `<!-- include FILE -->`,
# `/* include FILE */` stand for other files of web/. They become constants of the library, so that the program needs no
# files beside it.
#
#   espalier_embed(espalier_library report web/report/page.html [DEPENDS web/charts/charts.js ...])
#
# A Content-Security-Policy names the scripts and styles of its page by what they are: `{{sha256 FILE}}` becomes the SHA-256 of a file
# of web/ in base 64. So that it holds, `<script>/* include FILE */</script>` has nothing else in the element, and the file
# includes no other.
#
# adds a source to the target that defines `const std::string_view espalier::web::report`. Called as a script (cmake -P), this file
# writes that source.
function(espalier_embed target name page)
  cmake_parse_arguments(embed "" "" "DEPENDS" ${ARGN})
  set(source ${PROJECT_BINARY_DIR}/web/${name}.cc)
  list(TRANSFORM embed_DEPENDS PREPEND ${PROJECT_SOURCE_DIR}/)
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DPAGE=${PROJECT_SOURCE_DIR}/${page} -DROOT=${PROJECT_SOURCE_DIR}/web
      -DSOURCE=${source} -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${PROJECT_SOURCE_DIR}/${page} ${embed_DEPENDS} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    COMMENT "${page} becomes part of the program" VERBATIM)
  target_sources(${target} PRIVATE ${source})
  set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# base64(result 64-HEXADECIMAL-DIGITS)
function(base64 result digits)
  set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  set(text "")
  foreach(at RANGE 0 60 6)
    string(SUBSTRING "${digits}00" ${at} 6 three_bytes)
    foreach(shift 18 12 6 0)
      math(EXPR place "(0x${three_bytes} >> ${shift}) & 63")
      string(SUBSTRING ${alphabet} ${place} 1 character)
      string(APPEND text ${character})
    endforeach()
  endforeach()
  string(SUBSTRING ${text} 0 43 text)
  set(${result} "${text}=" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  cmake_minimum_required(VERSION 3.25)
  # Everything in hexadecimal, since CMake takes semicolons and brackets of its own strings for lists.
  file(READ ${PAGE} hex HEX)
  foreach(marks "<!-- include ;-->" "/* include ;*/" "{{sha256 ;}}")
    list(GET marks 0 opening)
    list(GET marks 1 closing)
    string(HEX "${opening}" opening)
    string(HEX "${closing}" closing)
    while(TRUE)
      string(FIND "${hex}" "${opening}" begin)
      if(begin EQUAL -1)
        break()
      endif()
      string(SUBSTRING "${hex}" 0 ${begin} before)
      string(SUBSTRING "${hex}" ${begin} -1 rest)
      string(LENGTH "${opening}" length)
      string(SUBSTRING "${rest}" ${length} -1 rest)
      string(FIND "${rest}" "${closing}" end)
      string(SUBSTRING "${rest}" 0 ${end} file_hex)
      string(LENGTH "${closing}" length)
      math(EXPR end "${end} + ${length}")
      string(SUBSTRING "${rest}" ${end} -1 after)
      set(file "")
      string(REGEX MATCHALL ".." bytes "${file_hex}")
      foreach(byte ${bytes})
        math(EXPR code "0x${byte}")
        string(ASCII ${code} character)
        string(APPEND file "${character}")
      endforeach()
      string(STRIP "${file}" file)
      if(marks MATCHES "sha256")
        file(SHA256 ${ROOT}/${file} digits)
        base64(digest ${digits})
        string(HEX ${digest} included)
      else()
        file(READ ${ROOT}/${file} included HEX)
      endif()
      set(hex "${before}${included}${after}")
    endwhile()
  endforeach()
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
  string(REPEAT "......." 16 line)
  string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
  file(WRITE ${SOURCE} "// From web/, by cmake/embed.cmake.\n#include <string_view>\n\nnamespace espalier::web {\n"
    "namespace {\nconstexpr char k_${NAME}[] = {\n${bytes}'\\0'};\n}\n"
    "extern const std::string_view ${NAME};\n"
    "const std::string_view ${NAME}(k_${NAME}, sizeof(k_${NAME}) - 1);\n}\n")
endif()
