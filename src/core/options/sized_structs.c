/* Option structs with a size field: one copy, O(size). */
#include "core/options/sized_structs.h"
#include <string.h>

/* No option struct is close to this size; a larger size is uninitialized memory, and reading that far could leave the
 * caller's memory. */
enum { MAX_SIZE = 4096 };

/* *size: the caller's. Bytes that this library does not know must be 0. */
static dis_status check_struct(const void *given, size_t known, const char *name, size_t *size)
{
    memcpy(size, given, sizeof *size);
    if (*size < sizeof *size || *size > MAX_SIZE || *size % _Alignof(size_t) != 0)
        return dis__fail(DIS_EUSAGE, "%s: size is %zu, which no version of it has; start from %s_default()", name,
                         *size, name);
    for (size_t i = known; i < *size; i++)
        if (((const unsigned char *)given)[i] != 0)
            return dis__fail(DIS_EUSAGE,
                             "%s: size is %zu, this library knows %zu bytes, and later fields are set; the library is "
                             "older than the headers",
                             name, *size, known);
    return DIS_OK;
}

dis_status dis__options_copy(void *own, size_t known, const void *given, const char *name)
{
    if (!given) return DIS_OK;
    size_t size;
    DIS_TRY(check_struct(given, known, name, &size));
    memcpy(own, given, size < known ? size : known);
    memcpy(own, &known, sizeof known);
    return DIS_OK;
}

dis_status dis__struct_write(void *out, const void *own, size_t known, const char *name)
{
    size_t size;
    DIS_TRY(check_struct(out, known, name, &size));
    dis__sized_copy(out, size, own, known);
    memcpy(out, &size, sizeof size);
    return DIS_OK;
}

void dis__sized_copy(void *out, size_t size, const void *own, size_t known)
{
    memcpy(out, own, size < known ? size : known);
    if (size > known) memset((char *)out + known, 0, size - known);
}
