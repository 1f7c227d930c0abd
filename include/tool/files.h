/* files.h: what a file holds, to the bit; which file a name leads to; what its name promises; what may be replaced. */
#ifndef DIS_TOOL_FILES_H
#define DIS_TOOL_FILES_H
#include "dissent/status.h"
#include "dissent/tokenizer.h"

/* The SHA-256 of a file's bytes as stored (compressed files: as compressed), in lower-case hexadecimal
 * with a NUL at the end. DIS_EIO, DIS_ELIMIT. */
dis_status dis__file_sha256(const char *path, char hex[65]);

/* Whether two names lead to one file: the same path, through symbolic links, or hard links; also when neither exists
 * yet. Devices (/dev/null) are never the same: they lose nothing. */
bool dis__file_same(const char *a, const char *b);
/* Whether `path` is in `folder` or below, links followed; then `out` has its path from there, unless that has
 * `size` bytes or more. */
bool dis__file_within(const char *path, const char *folder, char *out, size_t size);

/* The files that are written and read with NAME.npy: NAME.tasks.txt (i = 0) and NAME.classes.txt (i = 1). False: there
 * is not a such one, or its name has `size` bytes or more. */
bool dis__file_companion(const char *path, size_t i, char *out, size_t size);

/* Looks at the end of an output's name. `formats`: what would be written, "csv|tsv|jsonl". DIS_EUSAGE: the name
 * has another extension (.parquet, .json, ...; a final .gz or .zst means compression). *known: whether it
 * promises one of them; a name without an extension, or with an unknown one, does not. */
dis_status dis__file_check_output(const char *path, const char *formats, bool *known);

/* What dissent writes into a folder under file names that the user did not choose. */
typedef enum {
    DIS__OUTPUT_LABELS,     /* CSV, TSV, JSONL, or NAME.npy with its two lists */
    DIS__OUTPUT_SUBMISSION, /* lines of an id, a tab and a list */
    DIS__OUTPUT_CHART,      /* SVG */
} dis__output_kind;

/* Call it before such a file is written. DIS_OK: `path` does not exist, is empty, or was written by dissent as a file
 * of this kind. DIS_EUSAGE: it is another file, whose contents would be lost. DIS_EDATA: it is not a regular file.
 * DIS_EIO. */
dis_status dis__file_check_replace(const char *path, dis__output_kind kind);

/* Encodes a file of texts, one per line ("-": standard input; gzip and zstd are unpacked), and writes one JSON list of
 * ids per line, "-" to standard output. *n_texts (may be NULL): number of texts. DIS_EDATA with line and column
 * if a line is not UTF-8; otherwise as dis_tokenizer_encode(), and DIS_EIO. */
dis_status dis__tokenizer_encode_file(dis_context *ctx, const dis_tokenizer *t, const char *path,
                                      const dis_tokenizer_options *options, const char *output, size_t *n_texts);

#endif
