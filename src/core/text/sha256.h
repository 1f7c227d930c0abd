/* sha256.h: SHA-256 (FIPS 180-4), to identify inputs in summaries and to verify files. */
#ifndef DIS_CORE_TEXT_SHA256_H
#define DIS_CORE_TEXT_SHA256_H
#include "dissent/status.h"

typedef struct {
    uint32_t h[8];
    uint64_t n; /* bytes so far */
    unsigned char block[64];
    bool fast; /* by the instructions of the CPU */
} dis__sha256;

void dis__sha256_init(dis__sha256 *s);
void dis__sha256_update(dis__sha256 *s, const void *bytes, size_t n);
void dis__sha256_final(dis__sha256 *s, unsigned char digest[32]);

/* The same in lower-case hexadecimal, with a NUL at the end. */
void dis__sha256_hex(dis__sha256 *s, char hex[65]);

/* dis__file_sha256 of tool/files.h. */
dis_status dis__sha256_file(const char *path, char hex[65]);

#endif
