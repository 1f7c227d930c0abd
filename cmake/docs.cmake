# Man pages and completions, written by the tool from the rows that its help comes from.
set(DIS_MAN ${CMAKE_BINARY_DIR}/man)
set(DIS_COMPLETION ${CMAKE_BINARY_DIR}/completion)
file(MAKE_DIRECTORY ${DIS_MAN} ${DIS_COMPLETION})

function(dissent_says output)
  add_custom_command(OUTPUT ${output} COMMAND ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0 $<TARGET_FILE:dissent_cli> ${ARGN} > ${output}
    DEPENDS dissent_cli VERBATIM)
  set(DIS_SAID ${DIS_SAID} ${output} PARENT_SCOPE)
endfunction()

add_custom_command(OUTPUT ${DIS_MAN}.stamp DEPENDS dissent_cli ${CMAKE_SOURCE_DIR}/cmake/man_pages.cmake VERBATIM
  COMMAND ${CMAKE_COMMAND} -DTOOL=$<TARGET_FILE:dissent_cli> -DFOLDER=${DIS_MAN} -P ${CMAKE_SOURCE_DIR}/cmake/man_pages.cmake
  COMMAND ${CMAKE_COMMAND} -E touch ${DIS_MAN}.stamp)
foreach(shell bash zsh fish)
  dissent_says(${DIS_COMPLETION}/dissent.${shell} completion ${shell})
endforeach()
add_custom_target(dissent_docs ALL DEPENDS ${DIS_MAN}.stamp ${DIS_SAID})

install(DIRECTORY ${DIS_MAN}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${DIS_COMPLETION}/dissent.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME dissent)
install(FILES ${DIS_COMPLETION}/dissent.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _dissent)
install(FILES ${DIS_COMPLETION}/dissent.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
