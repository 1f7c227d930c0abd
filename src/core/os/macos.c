/* macOS 11 and newer. */
#include "core/os/os.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mach-o/dyld.h>
#include <mach/mach.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

void *dis__os_reserve(size_t n)
{
    void *map = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

uint64_t dis__os_available_memory(void)
{
    vm_statistics64_data_t pages;
    mach_msg_type_number_t n = HOST_VM_INFO64_COUNT;
    const mach_port_t host = mach_host_self();
    const kern_return_t failed = host_statistics64(host, HOST_VM_INFO64, (host_info64_t)&pages, &n);
    mach_port_deallocate(mach_task_self(), host);
    if (failed) return 0;
    return ((uint64_t)pages.free_count + pages.inactive_count + pages.purgeable_count) * dis__os_page_size();
}

uint64_t dis__os_resident_memory(void)
{
    mach_task_basic_info_data_t task;
    mach_msg_type_number_t n = MACH_TASK_BASIC_INFO_COUNT;
    if (task_info(mach_task_self(), MACH_TASK_BASIC_INFO, (task_info_t)&task, &n)) return 0;
    return task.resident_size;
}

int dis__os_extend(int fd, size_t n)
{
    struct stat st;
    if (fstat(fd, &st) != 0) return -1;
    if ((uint64_t)st.st_size >= n) return 0;
    fstore_t blocks = {.fst_flags = F_ALLOCATEALL, .fst_posmode = F_PEOFPOSMODE, .fst_length = (off_t)n - st.st_size};
    if (fcntl(fd, F_PREALLOCATE, &blocks) == -1 && errno != ENOTSUP) return -1;
    return ftruncate(fd, (off_t)n);
}

void dis__os_prefetch(int fd, uint64_t from, size_t n)
{
    struct radvisory part = {.ra_offset = (off_t)from, .ra_count = n > INT_MAX ? INT_MAX : (int)n};
    (void)fcntl(fd, F_RDADVISE, &part);
}

struct timespec dis__os_modified(const struct stat *st)
{
    return st->st_mtimespec;
}

int dis__os_usable_cpus(void)
{
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > INT_MAX ? INT_MAX : (int)n;
}

bool dis__os_program(char *path, size_t n)
{
    uint32_t room = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
    return _NSGetExecutablePath(path, &room) == 0;
}

void dis__os_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, double seconds)
{
    const struct timespec time = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(fmod(seconds, 1) * 1e9)};
    pthread_cond_timedwait_relative_np(condition, mutex, &time);
}
