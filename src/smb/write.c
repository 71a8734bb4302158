/* WRITE: the data of a large write is first staged in pieces, which are on disk before the write is
 * decided. ms-smb2: 2.2.21, 2.2.22, 3.3.5.13 */
#include "smb/commands.h"
#include "smb_session/message.h"
#include "smb_session/opens.h"
#include "smb_session/service.h"

#include "handles/handle_io.h"

#define WRITE_THROUGH    0x00000001u
#define WRITE_UNBUFFERED 0x00000002u

struct write {
    struct handle_write write;
    struct write_staging staging;
    struct body body;
};

enum smb_step smb_write_begin(struct smb_request *request, struct wire_reader *r)
{
    struct write *write = arena_alloc(request->message->arena, sizeof *write);
    const struct smb_open *open = request->open;
    uint32_t length, channel, flags;
    uint16_t data_at;
    uint64_t offset;
    struct bytes data;

    data_at = wire_u16(r);
    length = wire_u32(r);
    offset = wire_u64(r);
    wire_skip(r, 16); /* FileId */
    channel = wire_u32(r);
    wire_skip(r, 4 + 2 + 2); /* RemainingBytes, WriteChannelInfo */
    flags = wire_u32(r);
    data = wire_buffer(r, data_at, length, SMB_HEADER_SIZE + 48);
    if (!wire_ok(r) || length > SMB_IO_MAX || channel != 0)
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    if (open->handle.kind == TREE_DIRECTORY)
        return smb_refuse(request, STATUS_INVALID_DEVICE_REQUEST);
    if (!(open->handle.granted & (MAY_WRITE_DATA | MAY_APPEND_DATA)))
        return smb_refuse(request, STATUS_ACCESS_DENIED);
    /* An open with FILE_APPEND_DATA but not FILE_WRITE_DATA writes at the end, whatever the offset.
     * MS-FSA 2.1.5.4 */
    write->write = (struct handle_write){
        .tree_connect = &request->tree->tree_connect,
        .handle = &open->handle,
        .offset = offset,
        .at_end = offset == UINT64_MAX || !(open->handle.granted & MAY_WRITE_DATA),
        .body = &write->body,
    };
    if (!write->write.at_end && offset > (uint64_t)INT64_MAX - length)
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    if (!smb_may_keep(request, length))
        return smb_refuse(request, STATUS_DISK_FULL);
    if (flags & (WRITE_THROUGH | WRITE_UNBUFFERED))
        request->lasting = LASTING;
    request->parameters = write;
    write_staging_begin(request->message->connection->service->store, data, &write->staging);
    return STEP_GO_ON;
}

enum smb_step smb_write_go_on(struct smb_request *request)
{
    struct write *write = request->parameters;

    switch (write_staging_go_on(&write->staging, request_arm(request), &write->body)) {
    case STORE_OK:
        return smb_decide(request, handle_write_attempt, &write->write);
    case STORE_WAIT:
        return STEP_WAIT;
    case STORE_FULL:
        return smb_refuse(request, STATUS_DISK_FULL);
    case STORE_NOT_FOUND:
    case STORE_CONFLICT:
    case STORE_CORRUPT:
    case STORE_IO:
    case STORE_SHORTAGE:
    case STORE_BUSY:
        break;
    }
    (void)smb_refuse(request, STATUS_UNEXPECTED_IO_ERROR);
    return STEP_FAILED;
}

enum smb_step smb_write_decided(struct smb_request *request)
{
    const struct write *write = request->parameters;

    if (request->error)
        return smb_refuse(request, nt_status_of_handle(request->error));
    request->open->handle.times = write->write.times;
    request->open->has_written = true;
    if (!write->write.at_end)
        request->open->position = write->write.offset + write->staging.bytes.len;
    return smb_refuse(request, STATUS_SUCCESS);
}

void smb_write_answer(struct smb_request *request, struct wire_writer *w)
{
    const struct write *write = request->parameters;

    wire_put_u16(w, 17); /* StructureSize */
    wire_put_u16(w, 0);
    wire_put_u32(w, (uint32_t)write->staging.bytes.len);
    wire_put_u32(w, 0);
    wire_put_u32(w, 0);
    wire_put_u8(w, 0);
}

void smb_write_over(struct smb_request *request)
{
    struct write *write = request->parameters;

    write_staging_end(&write->staging);
}
