/* Threads, the same on all systems. */
#include "core/os/os.h"

int dis__os_start_thread(pthread_t *thread, void *(*run)(void *), void *argument)
{
    enum { STACK = 8 << 20 };
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error) return error;
    (void)pthread_attr_setstacksize(&attributes, STACK);
    error = pthread_create(thread, &attributes, run, argument);
    pthread_attr_destroy(&attributes);
    return error;
}
