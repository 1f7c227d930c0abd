# WebAssembly, for the page in web/ (./run web): the commands on votes and labels, without training, threads and optional libraries.
add_library(Threads::Threads INTERFACE IMPORTED)
add_library(dissent_optional INTERFACE)
list(FILTER DIS_SOURCES EXCLUDE REGEX "/src/(encoder|experiment|nn|train)/")
list(FILTER DIS_FAULT_SOURCES EXCLUDE REGEX "/src/experiment/")
get_target_property(cli_sources dissent_cli_objects SOURCES)
list(FILTER cli_sources EXCLUDE REGEX "/cli/(experiment|train)/|/cli/report/model_curves|/cmd_(compare|completion|conformal|eval|list|watch)\\.c$")
list(APPEND cli_sources ${CMAKE_SOURCE_DIR}/web/cmd_tables.c ${CMAKE_SOURCE_DIR}/web/without_training.c)
set_target_properties(dissent_cli_objects PROPERTIES SOURCES "${cli_sources}")
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
set_target_properties(dissent_cli_objects dissent_kernels_baseline PROPERTIES POSITION_INDEPENDENT_CODE OFF)
dissent_objects(dissent_objects DIS_WITHOUT_TRAINING ${DIS_SOURCES})
dissent_objects(dissent_plain_objects "" ${DIS_FAULT_SOURCES})
dissent_library(dissent_static STATIC dissent_plain_objects)
dissent_tool(dissent_cli dissent dissent_static DIS_LABELS_ONLY)
# A factory of fresh instances, for a worker and for node; memory grows to what 32 bits can address.
target_link_options(dissent_cli PRIVATE -O3 -sMODULARIZE=1 -sEXPORT_NAME=createDissent -sENVIRONMENT=worker,node -sINVOKE_RUN=0
  -sEXIT_RUNTIME=1 -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB -sABORTING_MALLOC=0 -sDYNAMIC_EXECUTION=0 -sFORCE_FILESYSTEM=1
  -sEXPORTED_RUNTIME_METHODS=FS,ENV,callMain)
