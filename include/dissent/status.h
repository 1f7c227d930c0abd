/* status.h: status codes and error messages.
 *
 * Functions that can fail return a dis_status; DIS_OK is 0. On failure their outputs are untouched and
 * dis_last_error() holds one sentence for people: the place in their data, the reason, what to do about it.
 *
 *     if (dis_votes_read(NULL, &path, 1, NULL, &votes) != DIS_OK) fprintf(stderr, "%s\n", dis_last_error());
 *
 * Threads: the message belongs to the calling thread and stays valid until its next failing call. Nothing in the
 * library prints, exits or aborts. */
#ifndef DIS_STATUS_H
#define DIS_STATUS_H
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

#if defined(__GNUC__)
#define DIS_API __attribute__((visibility("default")))
#else
#define DIS_API
#endif

/* A call fills a struct up to the size that the caller was compiled with. A newer library with larger structs writes
 * nothing after the end of an older caller's struct. An older library leaves 0 in fields that it does not know.
 *
 * DIS_OPTIONS_API(dis_x_options) declares
 *     dis_x_options dis_x_options_default(void);
 * DIS_VIEW_API(dis_x) declares
 *     dis_x_view dis_x_get_view(const dis_x *object);
 * whose result is a value; what it points to belongs to the object. Both are inline; bindings of other languages call
 * dis_options_init() and dis_view_init(). */
#define DIS_OPTIONS_API(type)                              \
    static inline type type##_default(void)                \
    {                                                      \
        type options;                                      \
        dis_options_init(#type, &options, sizeof options); \
        return options;                                    \
    }                                                      \
    struct type##_declared
#define DIS_VIEW_API(thing)                                          \
    static inline thing##_view thing##_get_view(const thing *object) \
    {                                                                \
        thing##_view view;                                           \
        dis_view_init(#thing "_view", &view, sizeof view, object);   \
        return view;                                                 \
    }                                                                \
    struct thing##_declared

/* name, exit code of the command line tool, meaning */
#define DIS_STATUS_LIST(X)                                      \
    X(DIS_OK, 0, "fine")                                        \
    X(DIS_EBUG, 1, "a defect of dissent itself")                \
    X(DIS_EUSAGE, 2, "a wrong option or argument")              \
    X(DIS_EDATA, 3, "bad data")                                 \
    X(DIS_EIO, 4, "a file could not be read or written")        \
    X(DIS_ELIMIT, 5, "a limit or the memory would be exceeded") \
    X(DIS_ENOTCONVERGED, 6, "a method did not converge")        \
    X(DIS_ECANCELLED, 7, "stopped at the caller's wish")

typedef enum {
#define DIS_STATUS_ENUM(name, code, meaning) name = code,
    DIS_STATUS_LIST(DIS_STATUS_ENUM)
#undef DIS_STATUS_ENUM
} dis_status;

/* The meaning of a status as listed above; static. */
DIS_API const char *dis_status_meaning(dis_status status);

/* The message of the last failure in this thread, "" when there was none. */
DIS_API const char *dis_last_error(void);

/* DIS_ENUM_API(dis_x) declares
 *     const char *dis_x_name(dis_x value);
 * the name of a constant in files and JSON, static; NULL for other numbers. */
#define DIS_ENUM_API(type)                            \
    static inline const char *type##_name(type value) \
    {                                                 \
        return dis_enum_name(#type, (unsigned)value); \
    }                                                 \
    struct type##_declared

/* Writes the defaults of a struct of options, named as in the headers: "dis_fit_options". DIS_EUSAGE: unknown name. */
DIS_API dis_status dis_options_init(const char *type, void *options, size_t size);
/* Writes the view of an object, named as in the headers: "dis_fit_view". DIS_EUSAGE: unknown name. */
DIS_API dis_status dis_view_init(const char *type, void *view, size_t size, const void *object);
/* The name of a constant of an enumeration, named as in the headers: ("dis_chance", 0) is "beyond". NULL: no such
 * constant, or an enumeration without names. */
DIS_API const char *dis_enum_name(const char *type, unsigned value);

#endif
