/* file_map.h: read-only mappings of files that survive truncation of the file.
 *
 * If another process truncates a mapped file, the system sends SIGBUS to the thread that reads a page which no longer
 * exists. Here, the first mapping of the process installs a handler for SIGBUS. For an address in one of these mappings
 * it replaces the missing pages by zeros, marks the mapping as damaged, and the thread continues; the reader asks
 * dis__map_is_damaged() before it uses what it has computed. Any other SIGBUS goes to the handler that was installed
 * before, or ends the process as it would have without dissent. So the process keeps its own handling of SIGBUS.
 *
 *     void *map = dis__map_file(fd, n);
 *     ... read ...
 *     if (dis__map_is_damaged(map)) ...
 *     dis__unmap_file(map, n); */
#ifndef DIS_CORE_MEMORY_FILE_MAP_H
#define DIS_CORE_MEMORY_FILE_MAP_H
#include "dissent/status.h"

/* NULL: errno has the reason; ENODEV: the file cannot be mapped, or there are DIS_FILE_MAPS mappings already. Read the
 * file instead. */
enum { DIS_FILE_MAPS = 4096 };
void *dis__map_file(int fd, size_t n);
bool dis__map_is_damaged(const void *map);
void dis__unmap_file(void *map, size_t n);

#endif
