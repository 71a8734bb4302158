/* Closing of opens, with or without a CLOSE request. */
#include "smb_session/caching.h"
#include "smb_session/message.h"
#include "smb_session/opens.h"
#include "smb_session/service.h"

#include <assert.h>

#include "base/log.h"
#include "smb_session/durable_scavenger.h"

void open_gone(struct smb_open *open)
{
    open->is_open = false;
    if (open->caching)
        caching_leave(open);
    if (open->watch)
        watch_end(open);
    open_remove(open);
}

/* ---- closes by the server ---- */

static enum smb_step closing_begin(struct smb_request *request, struct wire_reader *r)
{
    struct handle_close *close = arena_alloc(request->message->arena, sizeof *close);

    (void)r;
    close->tree_connect = &request->tree->tree_connect;
    close->handle = &request->open->handle;
    return smb_decide(request, handle_close_attempt, close);
}

void open_closes_later(struct smb_request *request)
{
    if (!request->error || request->error == E_ShareNotFound ||
        request->error == E_ResourceNotFound) /* a deleted share has no handles */
        return;
    log_line(LOG_WARN, "SMB: a handle of %.*s is closed later: %s",
             BYTES_ARG(request->message->connection->peer), error_code(request->error));
    scavenger_close_later(request->message->connection->service->scavenger,
                          &request->tree->tree_connect, &request->open->handle);
}

enum smb_step open_closed(struct smb_request *request)
{
    open_closes_later(request);
    open_gone(request->open);
    return smb_refuse(request, STATUS_SUCCESS);
}

static const struct smb_row closing = {
    .command = SMB_CLOSE,
    .name = "closing",
    .begin = closing_begin,
    .decided = open_closed,
};

void open_close_unfound(struct smb_open *open)
{
    assert(!open->is_open);
    smb_run(request_of_own(open, &closing));
}

void open_close(struct smb_open *open)
{
    assert(open->is_open);
    open->is_open = false;
    open_close_unfound(open);
}
