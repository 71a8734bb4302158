/* What decide functions fail by: see decision.h. */
#include "service/decision.h"

#include <assert.h>

#include "base/episode.h"

void decision_saw(struct decision *d, uint64_t sequence)
{
    if (sequence > d->seen)
        d->seen = sequence;
}

bool decision_rests_on_policy(const struct decision *d)
{
    const struct identity *identity = &d->input->identity;

    return identity->kind == IDENTITY_SAS && identity->sas->policy.ptr;
}

void decision_leave_owner(struct decision *d, struct snapshot *owner)
{
    decision_saw(d, snapshot_sequence(owner));
    if (decision_rests_on_policy(d))
        d->guard = owner;
    else
        snapshot_close(owner);
}

enum error decision_fail(struct decision *d, enum error e, const char *format, ...)
{
    va_list args;

    assert(e != OK);
    va_start(args, format);
    d->problem->detail = arena_string(d->arena, arena_vprintf(d->arena, format, args));
    va_end(args);
    return e;
}

enum error decision_fail_store(struct decision *d, enum store_result result)
{
    d->changes = changes_new(d->arena); /* a refusal has none */
    switch (result) {
    case STORE_NOT_FOUND:
        return decision_fail(d, E_ResourceNotFound, "What the request is about is gone.");
    case STORE_FULL:
        episode_refused(EPISODE_DISK);
        return decision_fail(d, E_InsufficientStorage, "The server's disk is full.");
    case STORE_SHORTAGE:
        episode_refused(EPISODE_SHORTAGE);
        return E_ServerBusy;
    case STORE_CORRUPT:
        return decision_fail(d, E_InternalError,
                             "Stored data is damaged; the server's log says where.");
    case STORE_IO:
        return decision_fail(d, E_InternalError, "The server's disk failed; see its log.");
    case STORE_WAIT:
        return DECIDE_BLOCKING;
    case STORE_CONFLICT:
        return DECIDE_AGAIN;
    case STORE_OK:
    case STORE_BUSY:
    case STORE_UNKNOWN:
        break;
    }
    assert(false); /* a store result that its caller handles itself */
    return E_InternalError;
}
