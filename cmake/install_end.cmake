# The last step of an installation: records the files and the new folders for `make uninstall`, and makes the shared library known
# to the dynamic loader or says how to. DIS_* and CMAKE_INSTALL_* are set by the installation; see install_begin.cmake.
list(TRANSFORM CMAKE_INSTALL_MANIFEST_FILES PREPEND "$ENV{DESTDIR}" OUTPUT_VARIABLE files)
foreach(kind files folders) # what an earlier installation to the same prefix has put there belongs to the record too
  if(EXISTS ${DIS_RECORD}.${kind})
    file(STRINGS ${DIS_RECORD}.${kind} earlier)
    list(APPEND ${kind} ${earlier})
  endif()
endforeach()
list(APPEND folders ${DIS_NEW_FOLDERS})
foreach(kind files folders)
  list(REMOVE_DUPLICATES ${kind})
  list(SORT ${kind} ORDER DESCENDING) # a folder after what is in it
  list(JOIN ${kind} "\n" text)
  file(WRITE ${DIS_RECORD}.${kind} "${text}\n")
endforeach()

if("$ENV{DESTDIR}" STREQUAL "")
  set(folder "${CMAKE_INSTALL_PREFIX}/${DIS_LIBDIR}")
  find_program(ldconfig ldconfig PATHS /sbin /usr/sbin)
  set(searched "")
  if(ldconfig)
    execute_process(COMMAND ${ldconfig} -N -v OUTPUT_VARIABLE searched ERROR_QUIET)
  endif()
  string(FIND "\n${searched}" "\n${folder}:" at)
  execute_process(COMMAND id -u OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(at EQUAL -1)
    message(NOTICE "The dynamic loader does not search ${folder}. Programs that link the shared library need one of:\n"
      "  cc ... $(pkg-config --cflags --libs dissent) -Wl,-rpath,${folder}\n"
      "  export LD_LIBRARY_PATH=${folder}\n"
      "The command dissent does not need it.")
  elseif(NOT user EQUAL 0)
    message(NOTICE "Run `ldconfig` as root before you start programs that link the shared library.")
  else()
    execute_process(COMMAND ${ldconfig})
  endif()
endif()
