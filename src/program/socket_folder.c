/* See socket_folder.h. */
#include "program/socket_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "admin/admin.h"
#include "base/file.h"

#define LOCK_NAME "lock"

static char problem[512];

/* errno. */
static int failed(const char *what)
{
    snprintf(problem, sizeof problem, "%s: %s", what, strerror(errno));
    return -1;
}

/* Desktops and version control leave hidden files. */
static bool may_be_there(const char *name)
{
    return name[0] == '.' || strcmp(name, LOCK_NAME) == 0 || strcmp(name, ADMIN_SOCKET_NAME) == 0;
}

static bool is_for_us(int folder)
{
    DIR *dir = file_list(folder, ".");
    const struct dirent *entry;
    bool is_so = dir;

    while (is_so && (entry = file_next_entry(dir))) {
        is_so = may_be_there(entry->d_name);
        if (!is_so)
            snprintf(problem, sizeof problem,
                     "it holds other files (%.200s): with --store the folder is for the admin "
                     "socket alone",
                     entry->d_name);
    }
    if (is_so && errno != 0) {
        failed("it cannot be read");
        is_so = false;
    }
    if (dir)
        closedir(dir);
    else
        failed("it cannot be read");
    return is_so;
}

static int take_lock(int folder)
{
    int fd = openat(folder, LOCK_NAME, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0)
        return failed("it cannot be written");
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    if (errno == EWOULDBLOCK)
        snprintf(problem, sizeof problem, "another server uses it: each takes a folder of its own");
    else
        failed("it cannot be locked");
    close(fd);
    return -1;
}

int socket_folder_take(const char *folder, const char **ret_problem)
{
    int fd, lock = -1;

    *ret_problem = problem;
    if (!file_make_folders(folder))
        return failed("it cannot be made");
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return failed("it cannot be opened");
    if (is_for_us(fd))
        lock = take_lock(fd);
    close(fd);
    return lock;
}
