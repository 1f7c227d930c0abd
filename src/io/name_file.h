/* name_file.h: a file of names, one per line: the tasks and classes that accompany an array. */
#ifndef DIS_IO_NAME_FILE_H
#define DIS_IO_NAME_FILE_H
#include "dissent/context.h"
#include "dissent/names.h"
#include "io/output/output_file.h"

/* DIS_EDATA with the line: an empty name, a name above DIS_MAX_ID bytes, a lone CR, NUL, invalid UTF-8. DIS_EIO,
 * DIS_ELIMIT. */
dis_status dis__names_read(dis_context *ctx, const char *path, dis_names **out);

/* DIS_EDATA: a name with a line break, which is not allowed in such a file. `what` (a task, a class) is for the
 * message. */
dis_status dis__names_check_line_breaks(const dis_names *names, const char *what);
dis_status dis__names_write(dis__out *out, const dis_names *names);

/* Call it before NAME.npy is written with a companion. DIS_EUSAGE: the companion exists but NAME.npy does not, so it is
 * not from an earlier run. */
dis_status dis__companion_check(const char *path, const char *companion);
/* Replaces .npy (or .npy.gz) in NAME.npy with a suffix, such as ".tasks.txt". The caller frees it. */
dis_status dis__companion_path(const char *path, const char *suffix, char **out);

#endif
