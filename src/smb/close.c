/* CLOSE and FLUSH. ms-smb2: 2.2.15 to 2.2.18, 3.3.5.10, 3.3.5.11 */
#include "smb/commands.h"
#include "smb_session/message.h"
#include "smb_session/opens.h"
#include "smb/file_information.h"

#include "handles/handle_io.h"

#define POSTQUERY_ATTRIB 0x0001u

struct close {
    struct handle_close close;
    bool wants_info;
};

enum smb_step smb_close_begin(struct smb_request *request, struct wire_reader *r)
{
    struct close *close = arena_alloc(request->message->arena, sizeof *close);

    close->wants_info = wire_u16(r) & POSTQUERY_ATTRIB;
    close->close.tree_connect = &request->tree->tree_connect;
    close->close.handle = &request->open->handle;
    request->parameters = close;
    request->open->is_open = false; /* hides it from later requests */
    watch_end(request->open);
    return smb_close_go_on(request);
}

/* Waits until earlier requests on the open, which may be in the pool, are done. */
enum smb_step smb_close_go_on(struct smb_request *request)
{
    struct close *close = request->parameters;

    if (request->open->in_work > 1) {
        request->open->closed_by = request;
        return STEP_AWAIT;
    }
    return smb_decide(request, handle_close_attempt, &close->close);
}

/* A close after writes is durable. README.md, invariant 7 */
enum smb_step smb_close_decided(struct smb_request *request)
{
    const struct close *close = request->parameters;

    if (close->close.deleted || request->open->has_written)
        request->lasting = LASTING;
    open_closes_later(request);
    open_gone(request->open);
    return smb_refuse(request, nt_status_of_handle(request->error));
}

void smb_close_answer(struct smb_request *request, struct wire_writer *w)
{
    const struct close *close = request->parameters;
    struct handle_info shown = close->close.info, *info = &shown;

    wire_put_u16(w, 60); /* StructureSize */
    wire_put_u16(w, close->wants_info ? POSTQUERY_ATTRIB : 0);
    wire_put_u32(w, 0);
    if (!close->wants_info) {
        wire_put_zeros(w, 6 * 8 + 4);
        return;
    }
    open_show_allocated(request->open, info);
    smb_put_info_times(w, info);
    wire_put_u64(w, info->allocated);
    wire_put_u64(w, info->length);
    wire_put_u32(w, smb_attributes(info));
}

/* ---- FLUSH ---- */

enum smb_step smb_flush_begin(struct smb_request *request, struct wire_reader *r)
{
    struct handle_flush *flush = arena_alloc(request->message->arena, sizeof *flush);
    uint32_t granted = request->open->handle.granted;

    (void)r;
    if (!(granted & (MAY_WRITE_DATA | MAY_APPEND_DATA)))
        return smb_refuse(request, STATUS_ACCESS_DENIED);
    flush->tree_connect = &request->tree->tree_connect;
    flush->handle = &request->open->handle;
    request->parameters = flush;
    return smb_decide(request, handle_flush_attempt, flush);
}

enum smb_step smb_flush_decided(struct smb_request *request)
{
    const struct handle_flush *flush = request->parameters;

    if (!request->error)
        request->open->handle.times = flush->times;
    return smb_refuse(request, nt_status_of_handle(request->error));
}
