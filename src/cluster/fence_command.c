/* See fence_command.h. */
#include "cluster/fence_command.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/thread.h"

#define STEP_MS 20u

extern char **environ;

/* Starts the command in its own process group, so that its children are killed with it, and with
 * default signal handling, because our signals are blocked. */
static int start(char *const *words, pid_t *ret_pid)
{
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int error;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    error = posix_spawn(ret_pid, words[0], NULL, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    return error;
}

/* Waits for the command. Returns false if it had to be killed or cannot be waited for. */
static bool wait_for(pid_t pid, int *ret_status)
{
    uint64_t end_ms = clock_monotonic_ms() + FENCE_LIMIT_MS;

    while (clock_monotonic_ms() < end_ms) {
        pid_t ended = waitpid(pid, ret_status, WNOHANG);

        if (ended == pid)
            return true;
        if (ended < 0 && errno != EINTR)
            return false;
        thread_sleep_ns((uint64_t)STEP_MS * 1000000);
    }
    kill(-pid, SIGKILL);
    while (waitpid(pid, ret_status, 0) < 0 && errno == EINTR) {
    }
    return false;
}

void fence_execute(char *const words[FENCE_WORDS + 1], struct fence_end *ret_end)
{
    pid_t child;

    *ret_end = (struct fence_end){ .error = start(words, &child) };
    if (ret_end->error == 0)
        ret_end->has_ended = wait_for(child, &ret_end->status);
}
