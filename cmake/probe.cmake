# Optional components are probed by compiling and linking a small program, and a component that fails is skipped with a reason: a
# header without its library, a library of another architecture or a compiler that does not work never stops the build. Only
# successes are cached, so a component is found after its package is installed.

set(DIS_PROBE_DIR ${CMAKE_BINARY_DIR}/probe)

# dissent_exist(OUT FILES...): whether there are FILES and all of them exist.
function(dissent_exist out)
  set(${out} TRUE PARENT_SCOPE)
  list(LENGTH ARGN n)
  foreach(file ${ARGN})
    if(NOT EXISTS "${file}")
      set(n 0)
    endif()
  endforeach()
  if(n EQUAL 0)
    set(${out} FALSE PARENT_SCOPE)
  endif()
endfunction()

# dissent_forget(REGEX): remove the cache entries whose names match.
function(dissent_forget regex)
  get_cmake_property(names CACHE_VARIABLES)
  foreach(name ${names})
    if(name MATCHES "${regex}")
      unset(${name} CACHE)
    endif()
  endforeach()
endfunction()

# dissent_result(NAME REASON): the component is available if REASON is empty; otherwise it is skipped. dissent_summary() prints it.
function(dissent_result name reason)
  set_property(GLOBAL APPEND PROPERTY DIS_COMPONENTS "${name}")
  string(REPLACE ";" "," reason "${reason}")
  set_property(GLOBAL PROPERTY "DIS_SKIPPED_${name}" "${reason}")
endfunction()

# One line for the available components and one per skipped component, if they differ from those of the last configuration.
function(dissent_summary)
  get_property(components GLOBAL PROPERTY DIS_COMPONENTS)
  set(available "")
  set(skipped "")
  foreach(name ${components})
    get_property(reason GLOBAL PROPERTY "DIS_SKIPPED_${name}")
    if(reason)
      string(APPEND skipped "\n  ${name}: skipped: ${reason}")
    else()
      string(APPEND available " ${name}")
    endif()
  endforeach()
  set(summary "optional components:${available}${skipped}")
  string(MD5 hash "${summary}")
  if(NOT hash STREQUAL "${DIS_SUMMARY_HASH}")
    message(NOTICE "${summary}")
  endif()
  set(DIS_SUMMARY_HASH ${hash} CACHE INTERNAL "the optional components that were printed last")
endfunction()

# dissent_first_error(TEXT OUT): the line of a compiler's output that explains the failure.
function(dissent_first_error text out)
  string(REGEX MATCH "[^\n]*([Ee]rror|wrong format|incompatible|cannot find|undefined reference)[^\n]*" line "${text}")
  string(STRIP "${line}" line)
  string(REPLACE "${CMAKE_BINARY_DIR}/" "" line "${line}")
  if(NOT line)
    set(line "see ${DIS_PROBE_DIR}")
  endif()
  set(${out} "${line}" PARENT_SCOPE)
endfunction()

# dissent_links(NAME SOURCE INCLUDES LIBRARIES OUT): OUT is empty if the C program SOURCE compiles and links, otherwise the reason.
# A success is cached under its include folders and libraries.
function(dissent_links name source includes libraries out)
  set(key "${includes}|${libraries}|${CMAKE_C_COMPILER}|${CMAKE_C_FLAGS}")
  foreach(file ${libraries})
    if(EXISTS ${file})
      file(TIMESTAMP ${file} time)
      string(APPEND key "|${time}")
    endif()
  endforeach()
  if(${name}_LINKS STREQUAL key)
    set(${out} "" PARENT_SCOPE)
    return()
  endif()
  file(WRITE ${DIS_PROBE_DIR}/${name}.c "${source}")
  try_compile(works ${DIS_PROBE_DIR} ${DIS_PROBE_DIR}/${name}.c CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${includes}"
    LINK_LIBRARIES ${libraries} OUTPUT_VARIABLE log)
  set(reason "")
  if(NOT works)
    unset(${name}_LINKS CACHE)
    dissent_first_error("${log}" line)
    set(reason "a small program does not compile and link with it: ${line}")
  else()
    set(${name}_LINKS "${key}" CACHE INTERNAL "what the probe of ${name} was compiled and linked with")
  endif()
  unset(works CACHE)
  set(${out} "${reason}" PARENT_SCOPE)
endfunction()

# dissent_contained(NAME OUT ARGUMENTS...): configures and builds the project cmake/probe/NAME in a process of its own, because an
# error inside CMake's find modules would stop this one. OUT is empty if it works, otherwise the reason.
function(dissent_contained name out)
  set(folder ${DIS_PROBE_DIR}/${name})
  file(REMOVE_RECURSE ${folder})
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_SOURCE_DIR}/cmake/probe/${name} -B ${folder} -G ${CMAKE_GENERATOR}
    -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER} ${ARGN} RESULT_VARIABLE failed OUTPUT_VARIABLE log ERROR_VARIABLE log)
  if(NOT failed)
    execute_process(COMMAND ${CMAKE_COMMAND} --build ${folder} RESULT_VARIABLE failed OUTPUT_VARIABLE log ERROR_VARIABLE log)
  endif()
  set(${out} "" PARENT_SCOPE)
  if(failed)
    file(WRITE ${DIS_PROBE_DIR}/${name}.log "${log}")
    set(${out} "a small program does not compile and link; details are in ${DIS_PROBE_DIR}/${name}.log" PARENT_SCOPE)
  endif()
endfunction()
