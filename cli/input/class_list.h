/* class_list.h: the classes that --classes LIST|FILE declares, in their order. */
#ifndef DIS_CLI_CLASS_LIST_H
#define DIS_CLI_CLASS_LIST_H
#include "core/cli.h"

typedef struct {
    char *text;        /* what --classes pointed to, cut at its separators */
    const char **name; /* (n), into text */
    size_t n;
} class_list;

/* `given`: a,b,c or a file with one per line; NULL: none, and *out stays empty. Returns an exit code, errors are
 * reported already; class_list_free either way. */
int class_list_read(cli *c, const char *given, class_list *out);
void class_list_free(class_list *classes);

#endif
