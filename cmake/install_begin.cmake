# The first step of an installation: which folders it will create, so that `make uninstall` can remove them. Paths start with
# $DESTDIR. The records of all prefixes are in build/installed.
install(CODE "
  set(DIS_LIBDIR [[${CMAKE_INSTALL_LIBDIR}]])
  set(DIS_PREFIX \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  string(MD5 DIS_RECORD \"\${DIS_PREFIX}\")
  set(DIS_RECORD \"${CMAKE_BINARY_DIR}/installed/\${DIS_RECORD}\")
  set(DIS_NEW_FOLDERS \"\")
  foreach(folder
      ${CMAKE_INSTALL_BINDIR} ${CMAKE_INSTALL_LIBDIR}/cmake/dissent ${CMAKE_INSTALL_LIBDIR}/pkgconfig
      ${CMAKE_INSTALL_INCLUDEDIR}/dissent ${CMAKE_INSTALL_MANDIR}/man1 ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
      ${CMAKE_INSTALL_DATADIR}/zsh/site-functions ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
    set(path \"\${DIS_PREFIX}/\${folder}\")
    while(NOT EXISTS \"\${path}\")
      list(APPEND DIS_NEW_FOLDERS \"\${path}\")
      get_filename_component(path \"\${path}\" DIRECTORY)
    endwhile()
  endforeach()")
