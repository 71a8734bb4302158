/* Around what runs a request (ld --wrap). */
#include "sm_seen.h"

#include <stddef.h>

#include "judge.h"
#include "request.h"
#include "sm_link.h"
#include "smb/create.h"
#include "world.h"

static const struct smb_request *of_clients[CLIENTS_MAX], *own[SM_OWN_MAX];

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

    if (request->message->is_own) {
        slot = own_slot(request);
    } else {
        slot = (int)sm_link_slot_of(request);
        of_clients[slot] = request;
    }
    request_set_slot(slot);
    __real_request_run(request);
    request_set_slot(before);
    if (request->message->is_own && request->state == ANSWERED)
        own[slot - (int)SLOTS_MAX] = NULL;
}

static struct sm_seen seen_of(const struct smb_request *request)
{
    struct sm_seen seen = { .client = sm_link_slot_of(request),
                            .is_own = request->message->is_own,
                            .own = request->row && request->row->command == SMB_CLOSE
                                       ? SM_OWN_CLOSE
                                       : SM_OWN_OTHER,
                            .etag = request->decision.subject.etag.v };

    if (request->open) {
        seen.volatile_id = request->open->volatile_id;
        seen.node = request->open->handle.node;
    }
    if (request->row && request->row->command == SMB_CREATE)
        seen.node = ((const struct create *)request->parameters)->open.handle.node;
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
