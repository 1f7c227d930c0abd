/* Optional parts of this build. */
#include "dissent/version.h"
#include "core/parallel/comm.h"
#include "core/kernel.h"
#ifdef DIS_HAVE_ZLIB
#include <zlib.h>
#define ZLIB_PART "zlib: " ZLIB_VERSION
#else
#define ZLIB_PART "zlib: absent (gzip input is an error)"
#endif
#ifdef DIS_HAVE_ZSTD
#include <zstd.h>
#define ZSTD_PART "zstd: " ZSTD_VERSION_STRING
#else
#define ZSTD_PART "zstd: absent (zstd input is an error)"
#endif
#ifdef DIS_HAVE_YAML
#define YAML_PART "libyaml: present"
#else
#define YAML_PART "libyaml: absent (no experiments)"
#endif
#ifdef DIS_HAVE_SQLITE
#include <sqlite3.h>
#define SQLITE_PART "SQLite: " SQLITE_VERSION
#else
#define SQLITE_PART "SQLite: absent (no results of experiments)"
#endif
#define NETS_PART "nets: own matrix product (no vendor library)"
#if defined(__clang__)
#define COMPILER_PART "compiler: clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER_PART "compiler: gcc " __VERSION__
#else
#define COMPILER_PART "compiler: unknown"
#endif
#ifdef DIS_FAULT_HOOKS
#define FAULTS_PART "fault hooks: present (a build for tests)"
#else
#define FAULTS_PART "fault hooks: absent"
#endif

const char *dis_version(void)
{
    return DIS_VERSION;
}

const char *dis_version_part(size_t part)
{
    static const char *const instruction_set[] = {
        [DIS_ISA_BASELINE] = "instruction set: baseline",
        [DIS_ISA_AVX2] = "instruction set: avx2",
        [DIS_ISA_AVX512] = "instruction set: avx512",
    };
    /* clang-format off */
    const char *const parts[] = {
        COMPILER_PART,
        instruction_set[dis__isa()],
        ZLIB_PART,
        ZSTD_PART,
        YAML_PART,
        SQLITE_PART,
        NETS_PART,
        dis__comm_plugin_status(),
        FAULTS_PART,
    };
    /* clang-format on */
    return part < sizeof parts / sizeof *parts ? parts[part] : 0;
}
