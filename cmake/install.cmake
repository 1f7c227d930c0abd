# `make install PREFIX=...`: tool, both libraries, headers, pkg-config and CMake package files, man pages, completions.
include(CMakePackageConfigHelpers)

# The plug-ins are found next to the tool wherever the prefix is moved to, and under any name of the library folder.
file(RELATIVE_PATH DIS_BIN_TO_LIB /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR})
set_target_properties(dissent_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${DIS_BIN_TO_LIB}")
install(TARGETS dissent_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS dissent_shared EXPORT dissent-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS dissent_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/dissent DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set_target_properties(dissent_shared PROPERTIES EXPORT_NAME dissent)
install(EXPORT dissent-targets NAMESPACE dissent:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dissent)
configure_package_config_file(cmake/dissent-config.cmake.in ${CMAKE_BINARY_DIR}/dissent-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dissent)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/dissent-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/dissent-config.cmake ${CMAKE_BINARY_DIR}/dissent-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dissent)

# The prefix may be chosen as late as at installation (make install PREFIX=...): the file says where it is relative to itself.
file(RELATIVE_PATH DIS_PC_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/dissent.pc.in ${CMAKE_BINARY_DIR}/dissent.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/dissent.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(CODE "include([[${CMAKE_SOURCE_DIR}/cmake/install_end.cmake]])")
