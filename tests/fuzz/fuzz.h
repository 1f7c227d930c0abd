/* fuzz.h: what the fuzz targets share. A target gets bytes, gives them to one reader and checks what must hold of the
 * answer; a crash, a leak, a sanitizer's complaint or a failed check is a finding. */
#ifndef DIS_TESTS_FUZZ_H
#define DIS_TESTS_FUZZ_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(claim)                                                                    \
    do {                                                                               \
        if (!(claim)) {                                                                \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #claim); \
            abort();                                                                   \
        }                                                                              \
    } while (0)

#endif
