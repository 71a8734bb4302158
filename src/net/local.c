/* Unix sockets: see local.h. */
#include "net/local.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define OWNER_ALONE 0600

_Static_assert(sizeof((struct sockaddr_un *)0)->sun_path == LOCAL_PATH_SIZE,
               "LOCAL_PATH_SIZE must match the system's size");

/* A socket address, and the descriptor of the directory through which it is reached; -1 if none is
 * needed. */
struct place {
    struct sockaddr_un address;
    int folder;
};

/* Builds an address that goes through the directory's descriptor. Returns false with errno. */
static bool place_long(const char *path, struct place *place)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    char folder[4096];

    if (!slash || length >= sizeof folder ||
        strlen(slash + 1) > sizeof place->address.sun_path / 2) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(folder, path, length);
    folder[length] = '\0';
    place->folder = open(length > 0 ? folder : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (place->folder < 0)
        return false;
    snprintf(place->address.sun_path, sizeof place->address.sun_path, "/proc/self/fd/%d/%s",
             place->folder, slash + 1);
    return true;
}

static bool place_open(const char *path, struct place *ret_place)
{
    *ret_place = (struct place){ .address = { .sun_family = AF_UNIX }, .folder = -1 };
    if (strlen(path) >= sizeof ret_place->address.sun_path)
        return place_long(path, ret_place);
    memcpy(ret_place->address.sun_path, path, strlen(path));
    return true;
}

static bool remove_socket(const char *path)
{
    struct stat found;

    if (lstat(path, &found) != 0)
        return errno == ENOENT;
    if (!S_ISSOCK(found.st_mode)) {
        errno = EEXIST;
        return false;
    }
    return unlink(path) == 0;
}

/* Binds the socket and sets its mode before it listens, so no process can connect earlier. */
static bool serve_at(int fd, const struct place *place)
{
    const struct sockaddr *address = (const struct sockaddr *)(const void *)&place->address;

    return remove_socket(place->address.sun_path) &&
           bind(fd, address, sizeof place->address) == 0 &&
           chmod(place->address.sun_path, OWNER_ALONE) == 0 && listen(fd, SOMAXCONN) == 0;
}

int local_listen(const char *path, const char **ret_problem)
{
    struct place place;
    int fd;

    if (!place_open(path, &place)) {
        *ret_problem = strerrordesc_np(errno);
        return -1;
    }
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || !serve_at(fd, &place)) {
        *ret_problem = strerrordesc_np(errno);
        if (fd >= 0)
            close(fd);
        fd = -1;
    }
    if (place.folder >= 0)
        close(place.folder);
    return fd;
}

void local_remove(const char *path)
{
    remove_socket(path);
}

bool local_path(const char *path, char ret_path[LOCAL_PATH_SIZE])
{
    struct place place;

    if (!place_open(path, &place))
        return false;
    memcpy(ret_path, place.address.sun_path, LOCAL_PATH_SIZE);
    return true;
}

bool local_peer_is_ours(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && size == sizeof peer &&
           (peer.uid == geteuid() || peer.uid == 0);
}
