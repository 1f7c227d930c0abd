/* text_shape.h: what a text file is, seen from its first line: one that is not what its reader expects is called by
 * name, before the reader stumbles over some quote in it. */
#ifndef DIS_IO_TEXT_SHAPE_H
#define DIS_IO_TEXT_SHAPE_H
#include "io/input.h"

/* For files that are about to be read as "csv", "tsv" or "jsonl" with a header or keys. Blank lines at the end are cut
 * off. DIS_EDATA: this is a JSON array, JSON over several lines, JSON Lines read as CSV, or columns separated by
 * something else. `option`: how a user says the format ("--input-format"); NULL: by the name of the file alone. */
dis_status dis__text_shape(dis__input *in, const char *format, const char *option);

/* Of blank lines at the end only the end of the line before them stays; nothing while there is more to come. */
void dis__text_cut_blank_lines(dis__input *in);

#endif
