/* sized_options.h: structs of options from callers that were compiled against another version of the headers.
 *
 * Such a struct begins with its own size. Fields that an older, shorter struct does not have keep their defaults; bytes
 * that a newer, longer one has are refused unless they are all 0, since this library does not know what they ask for.
 *
 *     dis_fit_options o = dis_fit_options_default();
 *     DIS_TRY(DIS_OPTIONS_TAKE(dis_fit_options, &o, options));
 *
 * So a new field goes to the end of its struct, and begins where the struct ended before: padding belongs to the older
 * struct, and its bytes may hold anything. */
#ifndef DIS_CORE_SIZED_OPTIONS_H
#define DIS_CORE_SIZED_OPTIONS_H
#include "core/error.h"

#define DIS_OPTIONS_TAKE(type, own, given) dis__options_take((type *){own}, sizeof(type), (const type *){given}, #type)

/* Copies what `given` has over the `known` bytes at `own`, which hold the defaults; NULL: nothing. DIS_EUSAGE with the
 * name of the struct where the size is none that it can have. */
dis_status dis__options_take(void *own, size_t known, const void *given, const char *name);

#endif
