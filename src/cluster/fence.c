/* See fence.h. */
#include "cluster/fence.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/log.h"

#define STEP_MS 20u

extern char **environ;

/* Starts the command in its own process group, so that its children are killed with it, and with
 * default signal handling, because our signals are blocked. */
static int start(const char *command, char **words, pid_t *ret_pid)
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
    error = posix_spawn(ret_pid, command, NULL, &attributes, words, environ);
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

static void log_end(const char *command, unsigned cell, int status)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        log_line(LOG_INFO, "cell %u: its owner is fenced: %s succeeded", cell, command);
    else if (WIFEXITED(status))
        log_line(LOG_ERROR, "cell %u: its owner is not fenced: %s: exit code %d", cell, command,
                 WEXITSTATUS(status));
    else
        log_line(LOG_ERROR, "cell %u: its owner is not fenced: %s: signal %d", cell, command,
                 WTERMSIG(status));
}

bool fence_run(const char *command, const struct owner_record *record,
               const struct owner_identity *self)
{
    const struct owner_identity *owner = &record->owner;
    char cell[16], pid[24], boot[GUID_TEXT_SIZE];
    char *words[] = { (char *)(uintptr_t)command,
                      cell,
                      (char *)(uintptr_t)owner->name,
                      (char *)(uintptr_t)owner->address,
                      (char *)(uintptr_t)owner->client,
                      pid,
                      boot,
                      (char *)(uintptr_t)self->client,
                      NULL };
    int status = 0, error;
    pid_t child;

    snprintf(cell, sizeof cell, "%u", record->cell);
    snprintf(pid, sizeof pid, "%" PRIu64, owner->pid);
    guid_format(&owner->boot, boot);
    error = start(command, words, &child);
    if (error != 0) {
        log_line(LOG_ERROR, "cell %u: its owner is not fenced: %s cannot be run: %s", record->cell,
                 command, strerrordesc_np(error));
        return false;
    }
    if (!wait_for(child, &status)) {
        log_line(LOG_ERROR, "cell %u: its owner is not fenced: %s has not ended within %u s",
                 record->cell, command, FENCE_LIMIT_MS / 1000);
        return false;
    }
    log_end(command, record->cell, status);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void *run(void *argument)
{
    struct fence *fence = argument;

    (void)fence_run(fence->command, &fence->record, &fence->self);
    atomic_store(&fence->runs, false);
    return NULL;
}

bool fence_start(struct fence *fence, const char *command, const struct owner_record *record,
                 const struct owner_identity *self)
{
    thread_join(&fence->thread); /* the previous one, which has ended */
    fence->command = command;
    fence->record = *record;
    fence->self = *self;
    atomic_store(&fence->runs, true);
    if (thread_start(&fence->thread, run, fence))
        return true;
    atomic_store(&fence->runs, false);
    return false;
}
