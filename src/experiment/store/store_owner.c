/* Lock files. A name is made of 128 random bits, so no two owners ever share one. Between making the file and locking
 * it another process may take it for a dead one's and remove it: after locking, the owner looks whether the file is
 * still the one in the folder, and makes another if it is not. */
#include "experiment/store/store_owner.h"
#include "core/memory/memory.h"
#include "core/names/name_index.h"
#include "core/os/os.h"
#include "core/system_calls.h"
#include "io/files/folder.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TRIES = 100 };

/* One file of the folder: *alive, and removed when it is not. */
static dis_status probe(const char *path, bool *alive)
{
    *alive = false;
    struct stat st;
    if (dis__os_link_stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return DIS_OK; /* no lock file, and nothing to remove */
    const int fd = dis__sys_open(path, O_RDWR | DIS__OS_NO_LINK | DIS__OS_NO_WAIT, 0);
    if (fd < 0) return errno == ENOENT ? DIS_OK : dis__fail_io("open", path);
    dis_status status = DIS_OK;
    if (dis__sys_lock(fd, false) == 0)
        dis__os_remove_file(path); /* while it is locked: its creator would notice */
    else if (errno == EWOULDBLOCK)
        *alive = true;
    else
        status = dis__fail_io("lock", path);
    close(fd);
    return status;
}

static bool is_name(const char *text)
{
    return strspn(text, "0123456789abcdef") == DIS__OWNER_NAME - 1 && text[DIS__OWNER_NAME - 1] == 0;
}

dis_status dis__owner_lives(const char *folder, const char *name, bool *out)
{
    char *path;
    struct stat st;
    *out = false;
    /* a name from a damaged database, or a link, could lead to any file */
    if (!is_name(name) || (dis__os_link_stat(folder, &st) == 0 && !S_ISDIR(st.st_mode))) return DIS_OK;
    DIS_TRY(dis__path_join(folder, name, &path));
    const dis_status status = probe(path, out);
    dis__free(path);
    return status;
}

typedef struct {
    const char *folder;
    bool alone;
    dis_status status;
} survey;

static bool check_owner(void *user, const char *name)
{
    survey *s = user;
    bool alive = false;
    if (is_name(name)) s->status = dis__owner_lives(s->folder, name, &alive);
    if (alive) s->alone = false;
    return s->status == DIS_OK;
}

static dis_status clear_dead(const char *folder, bool *alone)
{
    survey s = {.folder = folder, .alone = true, .status = DIS_OK};
    if (dis__os_list_folder(folder, check_owner, &s) != 0) return dis__fail_io("read the folder", folder);
    *alone = s.alone;
    return s.status;
}

/* Creates a file with a new name and locks it; *there: it is still in the folder. */
static dis_status make_file(const char *folder, dis__owner *o, bool *exists)
{
    uint64_t bits[2];
    dis__hash_key_draw(bits, o);
    snprintf(o->name, sizeof o->name, "%016llx%016llx", (unsigned long long)bits[0], (unsigned long long)bits[1]);
    DIS_TRY(dis__path_join(folder, o->name, &o->path));
    o->fd = dis__sys_open(o->path, O_RDWR | O_CREAT | O_EXCL, 0666);
    if (o->fd < 0) return dis__fail_io("create", o->path);
    if (dis__sys_lock(o->fd, true) != 0) return dis__fail_io("lock", o->path);
    *exists = dis__os_is_open_at(o->fd, o->path);
    return DIS_OK;
}

dis_status dis__owner_begin(const char *folder, dis__owner *owner, bool *alone)
{
    DIS_TRY(dis__create_folder(folder));
    DIS_TRY(clear_dead(folder, alone));
    for (int i = 0; i < TRIES; i++) {
        dis__owner o = {.fd = -1};
        bool exists = false;
        const dis_status status = make_file(folder, &o, &exists);
        if (status == DIS_OK && exists) {
            *owner = o;
            return DIS_OK;
        }
        dis__owner_end(&o);
        DIS_TRY(status);
    }
    return dis__fail(DIS_EIO, "cannot keep a file in %s: another program removes it", folder);
}

void dis__owner_end(dis__owner *owner)
{
    if (owner->path && owner->fd >= 0) dis__os_remove_file(owner->path);
    if (owner->fd >= 0) close(owner->fd);
    dis__free(owner->path);
    *owner = (dis__owner){.fd = -1};
}
