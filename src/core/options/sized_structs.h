/* sized_structs.h: structs of callers that were compiled against another version of the headers: options, their
 * defaults, and views.
 *
 * Such a struct begins with its own size. Fields that an older, shorter struct does not have keep their defaults;
 * unknown bytes of a newer, longer struct must be 0, otherwise the call fails, since this library does not know what
 * they request.
 *
 *     dis_fit_options o = dis_fit_options_default();
 *     DIS_TRY(DIS_OPTIONS_COPY(dis_fit_options, &o, options));
 *
 * Defaults and views are written up to the caller's size; bytes unknown to this library become 0. They are defined in
 * the file that implements the corresponding functions:
 *
 *     DIS_OPTIONS_DEFAULTS(dis_fit_options, .size = sizeof(dis_fit_options), .predictions_weight = -1)
 *     DIS_VIEW_DEFINE(dis_fit, fit, view_of(fit))
 *
 * So a new field is added at the end of its struct, at the offset where the struct ended: padding belongs to the older
 * struct, and its bytes are undefined. */
#ifndef DIS_CORE_OPTIONS_SIZED_STRUCTS_H
#define DIS_CORE_OPTIONS_SIZED_STRUCTS_H
#include "core/error.h"
#include <string.h>

#define DIS_OPTIONS_COPY(type, own, given) dis__options_copy((type *){own}, sizeof(type), (const type *){given}, #type)

/* Copies the fields of `given` over the `known` bytes at `own`, which hold the defaults; NULL: nothing. DIS_EUSAGE with
 * the name of the struct if its size is invalid. */
dis_status dis__options_copy(void *own, size_t known, const void *given, const char *name);

#define DIS_STRUCT_WRITE(type, out, own) dis__struct_write((type *){out}, (const type *){own}, sizeof(type), #type)

/* Copies a result to a struct of the caller, whose size it keeps. DIS_EUSAGE as above. */
dis_status dis__struct_write(void *out, const void *own, size_t known, const char *name);

/* One row per option struct or view; sized_struct_rows.c lists them. */
typedef struct {
    const char *type;
    const void *defaults;
    size_t size;
} dis__options_row;

typedef struct {
    const char *type;
    void (*write)(void *view, size_t size, const void *object);
} dis__view_row;

#define DIS_OPTIONS_DEFAULTS(options, ...)                                                \
    static const options options##_defaults = {__VA_ARGS__};                              \
    extern const dis__options_row dis__defaults_of_##options;                             \
    const dis__options_row dis__defaults_of_##options = {.type = #options,                \
                                                         .defaults = &options##_defaults, \
                                                         .size = sizeof options##_defaults};
#define DIS_VIEW_ROW(thing, object, value, sized)                              \
    static void thing##_view_write(void *view, size_t size, const void *given) \
    {                                                                          \
        const thing *object = given;                                           \
        const thing##_view own = value;                                        \
        dis__sized_copy(view, size, &own, sizeof own);                         \
        if (sized) memcpy(view, &size, sizeof size);                           \
    }                                                                          \
    extern const dis__view_row dis__row_of_##thing##_view;                     \
    const dis__view_row dis__row_of_##thing##_view = {.type = #thing "_view", .write = thing##_view_write};
#define DIS_VIEW_DEFINE(thing, object, value) DIS_VIEW_ROW(thing, object, value, false)
/* A view that callers also pass as input: its first field is its size. */
#define DIS_SIZED_VIEW_DEFINE(thing, object, value) DIS_VIEW_ROW(thing, object, value, true)

/* Copies the `known` bytes at `own` into the `size` bytes at `out`: truncated, or padded with 0. */
void dis__sized_copy(void *out, size_t size, const void *own, size_t known);

#endif
