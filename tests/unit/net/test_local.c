/* Unix sockets: mode, whose they are, what is replaced, and paths longer than an address. man: unix(7) */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "net/local.h"

#define PATH_SIZE 512

static char folder[] = "/tmp/lagra-local-XXXXXX";

static void path_of(const char *name, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/%s", folder, name);
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    char short_path[LOCAL_PATH_SIZE];

    assert_true(local_path(path, short_path));
    memcpy(address.sun_path, short_path, sizeof short_path);
    if (connect(fd, (const struct sockaddr *)(const void *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

static void assert_serves(const char *path)
{
    const char *problem = NULL;
    int listener = local_listen(path, &problem);
    struct stat found;
    int client, served;

    assert_true(listener >= 0);
    assert_int_equal(lstat(path, &found), 0);
    assert_int_equal(found.st_mode & (S_IFMT | 0777), S_IFSOCK | 0600);
    client = connect_to(path);
    assert_true(client >= 0);
    served = accept(listener, NULL, NULL);
    assert_true(served >= 0);
    assert_true(local_peer_is_ours(served));
    close(served);
    close(client);
    close(listener);
}

/* Rule: a socket that nobody serves any more is replaced, and is there for its owner alone. */
static void a_socket_that_was_left_is_replaced(void **state)
{
    char path[PATH_SIZE];

    (void)state;
    path_of("s", path);
    assert_serves(path);
    assert_int_equal(connect_to(path), -1);
    assert_serves(path);
    local_remove(path);
    assert_int_equal(access(path, F_OK), -1);
}

/* Rule: what is no socket is neither replaced nor removed. */
static void another_file_is_kept(void **state)
{
    const char *problem = NULL;
    char path[PATH_SIZE];

    (void)state;
    path_of("file", path);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    assert_int_equal(local_listen(path, &problem), -1);
    assert_string_equal(problem, "File exists");
    local_remove(path);
    assert_int_equal(unlink(path), 0);
}

/* Rule: a path of any length that the file system takes is served and reached. */
static void paths_may_be_long(void **state)
{
    char name[300] = "", path[PATH_SIZE];
    size_t lengths[] = { 90, 107 - sizeof folder, 108 - sizeof folder, 109 - sizeof folder, 200 };

    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        memset(name, 'x', lengths[i]);
        name[lengths[i]] = '\0';
        path_of(name, path);
        assert_int_equal(mkdir(path, 0700), 0);
        snprintf(path + strlen(path), 16, "/admin.sock");
        assert_serves(path);
        local_remove(path);
        *strrchr(path, '/') = '\0';
        assert_int_equal(rmdir(path), 0);
    }
}

/* Rule: a name that does not fit even below its folder is refused, and a folder that is not there. */
static void what_cannot_be_served_is_refused(void **state)
{
    char name[300] = "", path[PATH_SIZE];
    const char *problem = NULL;

    (void)state;
    memset(name, 'x', 150);
    path_of(name, path);
    assert_int_equal(local_listen(path, &problem), -1);
    assert_string_equal(problem, "File name too long");
    snprintf(path + strlen(path), 16, "/admin.sock");
    assert_int_equal(local_listen(path, &problem), -1);
    assert_string_equal(problem, "No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_socket_that_was_left_is_replaced),
        cmocka_unit_test(another_file_is_kept),
        cmocka_unit_test(paths_may_be_long),
        cmocka_unit_test(what_cannot_be_served_is_refused),
    };
    int failed;

    if (!mkdtemp(folder))
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
