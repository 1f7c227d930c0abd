/* file.h: what a file holds, to the bit. */
#ifndef DIS_FILE_H
#define DIS_FILE_H
#include "dissent/status.h"

/* The SHA-256 of a file's bytes as they lie on the disk (compressed files: as compressed), in lower-case hexadecimal
 * with a NUL at the end. DIS_EIO, DIS_ELIMIT. */
DIS_API dis_status dis_file_sha256(const char *path, char hex[65]);

#endif
