/* See fence.h. */
#include "cluster/fence.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/log.h"
#include "cluster/fence_helper.h"

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
    char *words[FENCE_WORDS + 1] = { (char *)(uintptr_t)command,
                                     cell,
                                     (char *)(uintptr_t)owner->name,
                                     (char *)(uintptr_t)owner->address,
                                     (char *)(uintptr_t)owner->client,
                                     pid,
                                     boot,
                                     (char *)(uintptr_t)self->client };
    struct fence_end end;

    snprintf(cell, sizeof cell, "%u", record->cell);
    snprintf(pid, sizeof pid, "%" PRIu64, owner->pid);
    guid_format(&owner->boot, boot);
    (fence_helper_is_started() ? fence_helper_run : fence_execute)(words, &end);
    if (end.error != 0) {
        log_line(LOG_ERROR, "cell %u: its owner is not fenced: %s cannot be run: %s", record->cell,
                 command, strerrordesc_np(end.error));
        return false;
    }
    if (!end.has_ended) {
        log_line(LOG_ERROR, "cell %u: its owner is not fenced: %s has not ended within %u s",
                 record->cell, command, FENCE_LIMIT_MS / 1000);
        return false;
    }
    log_end(command, record->cell, end.status);
    return WIFEXITED(end.status) && WEXITSTATUS(end.status) == 0;
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
