# Man pages and completions, written by the tool itself from the rows that its help comes from. cli/cmd_NAME.c is a subcommand.
file(GLOB command_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/cli/cmd_*.c)
set(DIS_MAN ${CMAKE_BINARY_DIR}/man)
set(DIS_COMPLETION ${CMAKE_BINARY_DIR}/completion)
file(MAKE_DIRECTORY ${DIS_MAN} ${DIS_COMPLETION})

function(dissent_says output)
  add_custom_command(OUTPUT ${output} COMMAND ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0 $<TARGET_FILE:dissent_cli> ${ARGN} > ${output}
    DEPENDS dissent_cli VERBATIM)
  set(DIS_SAID ${DIS_SAID} ${output} PARENT_SCOPE)
endfunction()

dissent_says(${DIS_MAN}/dissent.1 help --man)
foreach(source ${command_sources})
  string(REGEX REPLACE ".*/cmd_(.*)\\.c" "\\1" command ${source})
  dissent_says(${DIS_MAN}/dissent-${command}.1 help --man ${command})
endforeach()
foreach(shell bash zsh fish)
  dissent_says(${DIS_COMPLETION}/dissent.${shell} completion ${shell})
endforeach()
add_custom_target(dissent_docs ALL DEPENDS ${DIS_SAID})

install(DIRECTORY ${DIS_MAN}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${DIS_COMPLETION}/dissent.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME dissent)
install(FILES ${DIS_COMPLETION}/dissent.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _dissent)
install(FILES ${DIS_COMPLETION}/dissent.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
