# How the library and the tool are put together. Sources are found by folder: a new file is in the build by being there.

set(DIS_WARNINGS -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla)
if(DIS_WERROR)
  list(APPEND DIS_WARNINGS -Werror)
endif()
# Results must not depend on how a compiler likes to contract or reorder; kernels that want fused operations say so.
set(DIS_FLAGS ${DIS_WARNINGS} -ffp-contract=off -fno-math-errno -fno-trapping-math)
if(DIS_SANITIZE) # lines are all that their reports need to know of the sources
  add_compile_options(-fsanitize=${DIS_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -g1)
  add_link_options(-fsanitize=${DIS_SANITIZE})
  add_compile_definitions(DIS_SANITIZED)
endif()

# A file called NAME_kernel.c is compiled once for each instruction set, its symbols told apart by DIS_KERNEL (src/core/kernel.h).
set(DIS_ISA_NAMES baseline)
set(DIS_ISA_FLAGS_baseline "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  list(APPEND DIS_ISA_NAMES avx2 avx512)
  set(DIS_ISA_FLAGS_avx2 -mavx2 -mfma -mbmi2)
  set(DIS_ISA_FLAGS_avx512 -mavx2 -mfma -mbmi2 -mavx512f -mavx512dq -mavx512vl -mavx512bw -mprefer-vector-width=512)
endif()

# Of src/core/os and cli/os, the files of the target's system alone.
if(CMAKE_SYSTEM_NAME STREQUAL "Darwin")
  set(DIS_OS macos)
  set(DIS_OS_FILES thread posix posix_generic generic macos)
elseif(CMAKE_SYSTEM_NAME STREQUAL "Emscripten")
  set(DIS_OS emscripten)
  set(DIS_OS_FILES thread posix posix_generic generic emscripten)
elseif(WIN32)
  set(DIS_OS windows)
  set(DIS_OS_FILES thread generic windows)
else()
  set(DIS_OS linux)
  set(DIS_OS_FILES thread posix linux)
endif()
# _GNU_SOURCE declares what POSIX, Linux and macOS have; Windows has the POSIX functions of mingw-w64, and files above 2 GiB on request.
set(DIS_OS_DEFINITIONS _GNU_SOURCE)
if(WIN32)
  list(APPEND DIS_OS_DEFINITIONS _POSIX_C_SOURCE=200809L _FILE_OFFSET_BITS=64)
endif()
file(GLOB_RECURSE DIS_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/*.c)
list(FILTER DIS_SOURCES EXCLUDE REGEX "/src/core/os/")
foreach(name ${DIS_OS_FILES})
  list(APPEND DIS_SOURCES ${CMAKE_SOURCE_DIR}/src/core/os/${name}.c)
endforeach()
# Folders of optional parts are libraries of their own: cmake/cuda.cmake, cmake/mpi.cmake.
list(FILTER DIS_SOURCES EXCLUDE REGEX "/src/([a-z_]+/)*(cuda|mpi)/")
set(DIS_KERNEL_SOURCES ${DIS_SOURCES})
list(FILTER DIS_KERNEL_SOURCES INCLUDE REGEX "_kernel\\.c$")
list(FILTER DIS_SOURCES EXCLUDE REGEX "_kernel\\.c$")
file(GLOB_RECURSE DIS_CLI_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/cli/*.c)
list(FILTER DIS_CLI_SOURCES EXCLUDE REGEX "/cli/os/")
if(WIN32)
  list(APPEND DIS_CLI_SOURCES ${CMAKE_SOURCE_DIR}/cli/os/process_windows.c)
else()
  list(APPEND DIS_CLI_SOURCES ${CMAKE_SOURCE_DIR}/cli/os/process_posix.c)
endif()

function(dissent_settings target defines)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
    PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_compile_definitions(${target} PRIVATE ${DIS_OS_DEFINITIONS} DIS_BUILDING ${defines})
  target_compile_options(${target} PRIVATE ${DIS_FLAGS})
endfunction()

# Kernels neither allocate nor do input and output, so all libraries share one set of their objects.
foreach(isa ${DIS_ISA_NAMES})
  add_library(dissent_kernels_${isa} OBJECT ${DIS_KERNEL_SOURCES})
  dissent_settings(dissent_kernels_${isa} "")
  target_compile_definitions(dissent_kernels_${isa} PRIVATE DIS_ISA=${isa} DIS_ISA_${isa})
  target_compile_options(dissent_kernels_${isa} PRIVATE ${DIS_ISA_FLAGS_${isa}} -ffp-contract=fast)
  if(DIS_SANITIZE MATCHES undefined) # takes minutes to compile: in one set, which is seldom run, not optimised
    target_compile_options(dissent_kernels_${isa} PRIVATE $<IF:$<STREQUAL:${isa},baseline>,-O0,-fno-sanitize=undefined>)
  endif()
endforeach()

# What the tests can make fail goes through these files; all others are the same in every library and compiled once.
set(DIS_FAULT_SOURCES
  ${CMAKE_SOURCE_DIR}/src/core/fault_injection.c
  ${CMAKE_SOURCE_DIR}/src/core/memory/memory.c
  ${CMAKE_SOURCE_DIR}/src/core/system_calls.c
  ${CMAKE_SOURCE_DIR}/src/core/version.c
  ${CMAKE_SOURCE_DIR}/src/experiment/store/sql.c)
list(REMOVE_ITEM DIS_SOURCES ${DIS_FAULT_SOURCES})
set_source_files_properties(${DIS_FAULT_SOURCES} PROPERTIES COMPILE_DEFINITIONS DIS_FAULT_SOURCE)
set(DIS_FAULT_CLI_SOURCES ${CMAKE_SOURCE_DIR}/cli/main.c)
list(REMOVE_ITEM DIS_CLI_SOURCES ${DIS_FAULT_CLI_SOURCES})

function(dissent_objects target defines)
  add_library(${target} OBJECT ${ARGN})
  dissent_settings(${target} "${defines}")
  target_link_libraries(${target} PRIVATE dissent_optional)
endfunction()

function(dissent_library target kind objects)
  add_library(${target} ${kind} $<TARGET_OBJECTS:dissent_objects> $<TARGET_OBJECTS:${objects}>)
  foreach(isa ${DIS_ISA_NAMES})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:dissent_kernels_${isa}>)
  endforeach()
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME dissent LINKER_LANGUAGE C)
  target_link_libraries(${target} PRIVATE Threads::Threads m ${CMAKE_DL_LIBS} dissent_optional)
endfunction()

add_library(dissent_cli_objects OBJECT ${DIS_CLI_SOURCES})
target_include_directories(dissent_cli_objects PRIVATE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/cli)
target_compile_definitions(dissent_cli_objects PRIVATE ${DIS_OS_DEFINITIONS})
target_compile_options(dissent_cli_objects PRIVATE ${DIS_FLAGS})

function(dissent_tool target name library defines)
  add_executable(${target} $<TARGET_OBJECTS:dissent_cli_objects> ${DIS_FAULT_CLI_SOURCES})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/cli)
  target_compile_definitions(${target} PRIVATE ${DIS_OS_DEFINITIONS} ${defines})
  target_compile_options(${target} PRIVATE ${DIS_FLAGS})
  target_link_libraries(${target} PRIVATE ${library})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name})
  if(WIN32) # the stack of the first thread has 1 MiB otherwise
    target_link_options(${target} PRIVATE -Wl,--stack,8388608)
    target_link_libraries(${target} PRIVATE shell32)
  endif()
endfunction()
