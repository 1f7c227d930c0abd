/* enum_names.h: names of the constants of public enumerations, as files and JSON have them. A table of names is defined next
 * to the calls that use the enumeration, in the order of its constants; enum_names.c lists the tables.
 *
 *     DIS_ENUM_NAMES(dis_chance, "beyond", "unknown", "noise") */
#ifndef DIS_CORE_OPTIONS_ENUM_NAMES_H
#define DIS_CORE_OPTIONS_ENUM_NAMES_H
#include "dissent/status.h"

typedef struct {
    const char *type;
    const char *const *names;
    unsigned n;
} dis__enum_row;

#define DIS_ENUM_NAMES(enumeration, ...)                                                          \
    static const char *const enumeration##_names[] = {__VA_ARGS__};                               \
    extern const dis__enum_row dis__row_of_##enumeration;                                         \
    const dis__enum_row dis__row_of_##enumeration = {.type = #enumeration,                        \
                                                     .names = enumeration##_names,                \
                                                     .n = (unsigned)(sizeof enumeration##_names / \
                                                                     sizeof *enumeration##_names)};

#endif
