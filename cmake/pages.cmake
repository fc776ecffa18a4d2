# Manual pages and completions, which the program's own tables write.
file(STRINGS packaging/changelog dated REGEX "^ -- " LIMIT_COUNT 1)
string(REGEX REPLACE ".*>  " "" dated "${dated}")
execute_process(COMMAND date --utc --date=${dated} +%Y-%m-%d
  OUTPUT_VARIABLE pages_date OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

set(pages_folder ${CMAKE_CURRENT_BINARY_DIR}/pages)
add_custom_command(OUTPUT ${pages_folder}/stamp
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${pages_folder}
  COMMAND espalier_pages ${pages_folder} ${pages_date}
  COMMAND gzip -9nr ${pages_folder}/man1
  COMMAND ${CMAKE_COMMAND} -E touch ${pages_folder}/stamp
  DEPENDS espalier_pages COMMENT "Writing manual pages and completions" VERBATIM)
add_custom_target(pages ALL DEPENDS ${pages_folder}/stamp)

install(DIRECTORY ${pages_folder}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT program)
install(FILES ${pages_folder}/bash/espalier DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  COMPONENT program)
# Debian's zsh looks for those of packages elsewhere (cmake/package.cmake).
install(FILES ${pages_folder}/zsh/_espalier DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
  COMPONENT zsh_without_package)
