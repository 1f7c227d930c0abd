/* store_owner.h: who works on a store, and whether it is still alive.
 *
 * Each process (each open store) has a name and a file of that name in the folder `owners`, on which it holds a lock as
 * long as it lives; the kernel drops the lock with the process, however that ends. Claims in the database carry the
 * name: one whose file is not locked, or not there, belongs to no one. */
#ifndef DIS_EXPERIMENT_STORE_OWNER_H
#define DIS_EXPERIMENT_STORE_OWNER_H
#include "core/error.h"

enum { DIS__OWNER_NAME = 33 };

typedef struct {
    char name[DIS__OWNER_NAME]; /* "" before it is assigned */
    int fd;
    char *path;
} dis__owner;

/* Creates the folder if it is missing. Removes files of dead owners; *alone: there is no other live owner. DIS_EIO. */
dis_status dis__owner_begin(const char *folder, dis__owner *owner, bool *alone);
void dis__owner_end(dis__owner *owner);
/* Whether the owner of that name lives; false if it is not the name of an owner. DIS_EIO. */
dis_status dis__owner_lives(const char *folder, const char *name, bool *out);

#endif
