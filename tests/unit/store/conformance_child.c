/* Running the test program again as a child: arguments are name, engine, folder, space, pipe. */
#include "conformance_child.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGUMENTS   6
#define NUMBER_SIZE 16

extern char **environ;

void child_main(int argc, char **argv, const struct conformance_child *children, size_t count)
{
    struct fixture fixture = { 0 };
    struct guid space;

    if (argc != ARGUMENTS)
        return;
    fixture.engine = engine_by_name(argv[2]);
    (void)snprintf(fixture.folder, sizeof fixture.folder, "%s", argv[3]);
    if (!fixture.engine || !guid_parse(bytes_from_string(argv[4]), &space))
        exit(EXIT_FAILURE);
    fixture.arena = arena_new(64u << 20);
    fixture.partition = partition_of(space, "partition");
    for (size_t i = 0; i < count; i++)
        if (strcmp(children[i].name, argv[1]) == 0) {
            children[i].run(&fixture, (int)strtol(argv[5], NULL, 10));
            raise(SIGKILL);
        }
    exit(EXIT_FAILURE);
}

pid_t child_start(struct fixture *fixture, const char *name, int *ret_from_child)
{
    char space[GUID_TEXT_SIZE], number[NUMBER_SIZE];
    char *argv[] = { (char *)(uintptr_t) "conformance",
                     (char *)(uintptr_t)name,
                     (char *)(uintptr_t)fixture->engine->name,
                     fixture->folder,
                     space,
                     number,
                     NULL };
    int ends[2];
    pid_t child;

    if (fixture->store)
        store_close(fixture->store);
    fixture->store = NULL;
    assert_int_equal(pipe2(ends, 0), 0);
    assert_int_equal(fcntl(ends[0], F_SETFD, FD_CLOEXEC), 0);
    guid_format(&fixture->partition.space, space);
    (void)snprintf(number, sizeof number, "%d", ends[1]);
    assert_int_equal(posix_spawn(&child, "/proc/self/exe", NULL, NULL, argv, environ), 0);
    close(ends[1]);
    *ret_from_child = ends[0];
    return child;
}

bool child_end(pid_t child, int from_child)
{
    int status = 0;

    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    close(from_child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

void child_open(struct fixture *fixture)
{
    enum store_result result = fixture->engine->open(fixture->folder, &fixture->store);

    assert(result == STORE_OK);
}

void child_tell(int to_parent, uint64_t number)
{
    ssize_t written = write(to_parent, &number, sizeof number);

    assert(written == (ssize_t)sizeof number);
}

bool child_hear(int from_child, uint64_t *ret_number)
{
    return read(from_child, ret_number, sizeof *ret_number) == (ssize_t)sizeof *ret_number;
}
