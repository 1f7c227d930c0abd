/* swapped_input.h: pairs judged twice, the second time with the two answers exchanged (--swapped, --mirror,
 * --first). */
#ifndef DIS_CLI_SWAPPED_INPUT_H
#define DIS_CLI_SWAPPED_INPUT_H
#include "input/votes_input.h"

/* clang-format off */
/* Into the fields swapped, mirror and first. */
#define CLI_SWAPPED_OPTIONS(type_)                                                                                     \
    CLI_OPTION(type_, WORDS, swapped, "swapped", .argument = "FILE...", .names = CLI_NAMES_FILE),                      \
    CLI_OPTION(type_, LIST, mirror, "mirror", .argument = "A=B"),                                                      \
    CLI_OPTION(type_, TEXT, first, "first", .argument = "LABEL")
/* clang-format on */

typedef struct {
    const cli_list *swapped, *mirror;
    const char *first;
    const cli_votes_values *reading;
} swapped_input;

/* Position bias of each voter with such pairs: *rows (dis_free), none without --swapped. Returns an exit code.
 * Errors are reported. */
int swapped_input_read(const swapped_input *in, dis_context *ctx, const votes_input *votes, dis_position_bias **rows,
                       size_t *n);

#endif
