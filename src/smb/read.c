/* READ: reads from one version of the file, unaffected by concurrent writes. ms-smb2: 2.2.19,
 * 2.2.20, 3.3.5.12 */
#include "smb/commands.h"
#include "smb_session/message.h"
#include "smb_session/opens.h"

#include "handles/handle_io.h"

/* Size of the response before its data. ms-smb2: 2.2.20 */
#define ANSWER_FIXED 16u

struct read {
    struct handle_read read;
    uint32_t least; /* MinimumCount; fewer bytes are STATUS_END_OF_FILE */
    char *bytes;    /* buffer in the response */
    struct handle_reading reading;
    bool is_reading;
};

enum smb_step smb_read_begin(struct smb_request *request, struct wire_reader *r)
{
    struct read *read = arena_alloc(request->message->arena, sizeof *read);
    uint32_t length, least, channel;
    uint64_t offset;

    wire_skip(r, 2); /* Padding, Flags */
    length = wire_u32(r);
    offset = wire_u64(r);
    wire_skip(r, 16); /* FileId */
    least = wire_u32(r);
    channel = wire_u32(r);
    if (!wire_ok(r) || length > SMB_IO_MAX || channel != 0)
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    if (request->open->handle.kind == TREE_DIRECTORY)
        return smb_refuse(request, STATUS_INVALID_DEVICE_REQUEST);
    if (!(request->open->handle.granted & (MAY_READ_DATA | MAY_EXECUTE)))
        return smb_refuse(request, STATUS_ACCESS_DENIED);
    if (offset > (uint64_t)INT64_MAX - length)
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    read->least = least;
    read->read = (struct handle_read){
        .tree_connect = &request->tree->tree_connect,
        .handle = &request->open->handle,
        .offset = offset,
        .length = length,
    };
    request->parameters = read;
    message_charge(request->message, length);
    return smb_decide(request, handle_read_attempt, &read->read);
}

static void end_reading(struct read *read)
{
    if (read->is_reading)
        handle_reading_end(&read->reading);
    read->is_reading = false;
}

enum smb_step smb_read_decided(struct smb_request *request)
{
    struct read *read = request->parameters;
    uint64_t readable = read->read.readable;

    if (request->error)
        return smb_refuse(request, nt_status_of_handle(request->error));
    if (readable < read->least || (readable == 0 && read->read.length > 0))
        return smb_refuse(request, STATUS_END_OF_FILE);
    if (readable == 0)
        return smb_refuse(request, STATUS_SUCCESS);
    read->bytes = message_room(request, ANSWER_FIXED, (size_t)readable);
    if (!read->bytes)
        return smb_refuse(request, STATUS_INSUFF_SERVER_RESOURCES);
    handle_reading_begin(&request->decision, &read->read, read->bytes, &read->reading);
    read->is_reading = true;
    return STEP_GO_ON;
}

enum smb_step smb_read_go_on(struct smb_request *request)
{
    struct read *read = request->parameters;
    enum error e = handle_reading_go_on(&read->reading, request_arm(request));

    if (e == DECIDE_WAITS)
        return STEP_WAIT;
    if (e == DECIDE_BLOCKING)
        return STEP_LOAD;
    if (!e)
        request->open->position = read->read.offset + read->read.readable;
    return smb_refuse(request, nt_status_of_handle(e));
}

/* Ignores the result: smb_read_go_on() gets the same one. */
void smb_read_load(struct smb_request *request)
{
    struct read *read = request->parameters;

    (void)handle_reading_load(&read->reading);
}

void smb_read_answer(struct smb_request *request, struct wire_writer *w)
{
    const struct read *read = request->parameters;
    uint32_t size = (uint32_t)read->read.readable;

    wire_put_u16(w, 17); /* StructureSize */
    wire_put_u8(w, SMB_HEADER_SIZE + ANSWER_FIXED);
    wire_put_u8(w, 0);
    wire_put_u32(w, size);
    wire_put_u32(w, 0); /* DataRemaining */
    wire_put_u32(w, 0);
    if (size > 0)
        wire_put_placed(w, bytes_of(read->bytes, size));
    else
        wire_put_u8(w, 0);
}

void smb_read_over(struct smb_request *request)
{
    struct read *read = request->parameters;

    end_reading(read);
}
