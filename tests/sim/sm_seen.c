/* Around what runs a request (ld --wrap). */
#include "sm_seen.h"

#include <stddef.h>
#include <string.h>

#include "handles/durable_handle.h"
#include "judge.h"
#include "request.h"
#include "sm_link.h"
#include "smb/create.h"
#include "smb/dispatch.h"
#include "world.h"

static const struct smb_request *of_clients[CLIENTS_MAX], *own[SM_OWN_MAX];

/* Not what the client asks at the moment. */
static bool is_beside(const struct smb_request *request)
{
    return request->message->is_own || sm_link_is_channel(request) ||
           le16_get(request->bytes.ptr + 12) == SMB_OPLOCK_BREAK;
}

static int own_slot(const struct smb_request *request)
{
    unsigned free = SM_OWN_MAX;

    for (unsigned i = 0; i < SM_OWN_MAX; i++) {
        if (own[i] == request)
            return (int)(SLOTS_MAX + i);
        if (!own[i] && free == SM_OWN_MAX)
            free = i;
    }
    if (free == SM_OWN_MAX)
        world_fail("more than %u requests of the server's own", SM_OWN_MAX);
    own[free] = request;
    return (int)(SLOTS_MAX + free);
}

__typeof__(request_run) __real_request_run, __wrap_request_run;

void __wrap_request_run(struct smb_request *request)
{
    int before = request_slot(), slot;

    if (is_beside(request)) {
        slot = own_slot(request);
    } else {
        slot = (int)sm_link_slot_of(request);
        of_clients[slot] = request;
    }
    request_set_slot(slot);
    __real_request_run(request);
    request_set_slot(before);
    if (is_beside(request) && request->state == ANSWERED)
        own[slot - (int)SLOTS_MAX] = NULL;
}

static enum sm_own own_kind(const struct smb_request *request)
{
    if (!request->message->is_own && request->row && request->row->command == SMB_CREATE)
        return SM_OWN_OPEN;
    if (!request->message->is_own)
        return sm_link_is_channel(request) ? SM_OWN_OTHER : SM_OWN_ANSWER;
    if (!request->row)
        return SM_OWN_OTHER;
    if (strcmp(request->row->name, "leaving") == 0)
        return SM_OWN_LEAVE;
    return request->row->command == SMB_CLOSE          ? SM_OWN_CLOSE
           : request->row->command == SMB_OPLOCK_BREAK ? SM_OWN_OVERDUE
                                                       : SM_OWN_OTHER;
}

static void note_open(const struct create *create, struct sm_seen *to)
{
    const struct held_handle *handle = create->contexts.durable.returns_2
                                           ? &create->reconnect.disconnected.handle
                                           : &create->open.handle;

    to->node = handle->node;
    to->handle = handle->id;
    to->action = create->open.action;
}

static struct sm_seen seen_of(const struct smb_request *request)
{
    struct sm_seen seen = { .client = sm_link_slot_of(request),
                            .own = own_kind(request),
                            .message_id = request->header.message_id,
                            .has_waited = request->decision.waits_until > 0,
                            .etag = request->decision.subject.etag.v };

    if (request->open) {
        seen.volatile_id = request->open->volatile_id;
        seen.node = request->open->handle.node;
    }
    if (request->row && request->row->command == SMB_CREATE)
        note_open(request->parameters, &seen);
    return seen;
}

struct sm_seen sm_seen(unsigned slot)
{
    return seen_of(of_clients[slot]);
}

struct sm_seen sm_seen_own(unsigned number)
{
    return seen_of(own[number]);
}

/* ---- what the server closes when nobody has come back ---- */

static _Thread_local struct sm_overdue overdue;

struct sm_overdue sm_overdue_seen(void)
{
    struct sm_overdue seen = overdue;

    overdue.handle = 0;
    return seen;
}

__typeof__(handle_overdue_attempt) __real_handle_overdue_attempt, __wrap_handle_overdue_attempt;

enum error __wrap_handle_overdue_attempt(struct decision *d, void *of)
{
    enum error e = __real_handle_overdue_attempt(d, of);
    const struct handle_overdue *about = of;

    overdue =
        (struct sm_overdue){ .handle = e ? 0 : about->close.handle->id, .etag = d->subject.etag.v };
    return e;
}
