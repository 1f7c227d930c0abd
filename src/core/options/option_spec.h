/* option_spec.h: parses NAME[:key=value,...] into a struct, by a table of dis_option rows. */
#ifndef DIS_CORE_OPTIONS_OPTION_SPEC_H
#define DIS_CORE_OPTIONS_OPTION_SPEC_H
#include "dissent/option.h"
#include "core/error.h"

/* Length of NAME at the start of a spec. */
size_t dis__spec_name_length(const char *spec);

/* The row of a table that a spec names: name(i) is the name of row i, NULL past the end. DIS_EUSAGE: no method "mcae";
 * did you mean mace? There are: majority, standard, ... */
dis_status dis__spec_find_row(const char *what, const char *spec, const char *(*name)(const void *unused, size_t i),
                              size_t *row);

/* Fills `values` (zeroed first, `values_size` bytes) with the defaults, then with the options after NAME: in `spec`.
 * `what` and NAME start the message: DIS_EUSAGE "method mace: no option \"restart\"; it has iterations, restarts,
 * ...". */
dis_status dis__spec_parse(const char *what, const char *spec, const dis_option *options, size_t n_options,
                           void *values, size_t values_size);
/* Only the options after NAME:, over existing values. */
dis_status dis__spec_update(const char *what, const char *spec, const dis_option *options, size_t n_options,
                            void *values);
/* The same as dis__spec_parse() if NAME is the first `name_length` bytes of the spec: for names that contain a
 * colon. */
dis_status dis__spec_parse_after(const char *what, const char *spec, size_t name_length, const dis_option *options,
                                 size_t n_options, void *values, size_t values_size);

#endif
