/* FSCTL_SRV_COPYCHUNK: copies ranges between open files chunk by chunk, like READ and WRITE.
 * ms-smb2: 2.2.31.1, 2.2.32.1, 3.3.5.15.5, 3.3.5.15.6
 *
 *     read attempt -> reading -> staging -> write attempt -> next chunk */
#include "smb/ioctl.h"
#include "smb_session/service.h"

#include <stdlib.h>

#include "handles/handle_io.h"

#define CHUNKS_MAX      256u
#define CHUNK_MAX       (1u << 20)
#define CHUNKS_SIZE_MAX (16u << 20)
#define KEY_SIZE        24u
/* FSCTL_SRV_COPYCHUNK_WRITE: needs no read access to the target */
#define CODE_WRITE_ONLY 0x001480F2u

/* Chunks copied before other connections of the thread run. */
#define CHUNKS_AT_ONCE  16u

enum phase { CHUNK_RESTS, CHUNK_DECIDES, CHUNK_READS, CHUNK_STAGES, CHUNK_WRITES };

struct chunk {
    uint64_t from, to;
    uint32_t size;
};

struct copy_chunk {
    struct smb_open *source; /* held */
    struct chunk *chunks;
    uint32_t count, done;
    uint32_t total; /* bytes written */
    enum phase phase;
    struct arena_mark mark; /* start of the memory released after each chunk */
    struct handle_read read;
    struct handle_reading reading;
    bool is_reading, is_staging;
    char *bytes; /* buffer for one chunk; owned */
    struct write_staging staging;
    struct body body;
    struct handle_write write;
};

/* ---- resume keys ---- */

/* Returns a resume key, which identifies an open and is valid only in its session. */
enum smb_step resume_key_begin(struct smb_request *request, struct ioctl *ioctl)
{
    struct wire_writer w;
    struct text text;

    if (ioctl->output_max < KEY_SIZE + 8)
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    text_init(&text, request->message->arena, KEY_SIZE + 8);
    wire_writer_init(&w, &text);
    wire_put_u64(&w, open_persistent_id(request->open));
    wire_put_u64(&w, request->open->volatile_id);
    wire_put_u64(&w, request->session->id);
    wire_put_zeros(&w, 4 + 4); /* ContextLength, Context */
    ioctl->output = text_bytes(&text);
    return smb_refuse(request, STATUS_SUCCESS);
}

static struct smb_open *find_source(const struct smb_request *request, struct wire_reader *r)
{
    uint64_t persistent = wire_u64(r), volatile_id = wire_u64(r), session = wire_u64(r);

    if (!wire_ok(r) || session != request->session->id)
        return NULL;
    return open_find(request->session, NULL, persistent, volatile_id);
}

/* ---- responses, also sent with errors ---- */

static enum smb_step answer(struct smb_request *request, struct ioctl *ioctl, enum nt_status status,
                            uint32_t chunks, uint32_t bytes, uint32_t total)
{
    struct wire_writer w;
    struct text text;

    text_init(&text, request->message->arena, 12);
    wire_writer_init(&w, &text);
    wire_put_u32(&w, chunks);
    wire_put_u32(&w, bytes);
    wire_put_u32(&w, total);
    ioctl->output = text_bytes(&text);
    request->has_body = true;
    return smb_refuse(request, status);
}

/* Responds with an error after a partial copy. */
static enum smb_step stop(struct smb_request *request, struct ioctl *ioctl, enum nt_status status)
{
    const struct copy_chunk *copy = ioctl->parameters;

    return answer(request, ioctl, status, copy->done, 0, copy->total);
}

/* ---- request ---- */

static bool read_chunks(struct wire_reader *r, struct copy_chunk *copy)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < copy->count; i++) {
        struct chunk *chunk = &copy->chunks[i];

        chunk->from = wire_u64(r);
        chunk->to = wire_u64(r);
        chunk->size = wire_u32(r);
        wire_skip(r, 4);
        if (chunk->size == 0 || chunk->size > CHUNK_MAX || chunk->from > INT64_MAX ||
            chunk->to > INT64_MAX)
            return false;
        total += chunk->size;
    }
    return total <= CHUNKS_SIZE_MAX;
}

/* Yields the thread to other connections. The request continues when its connection runs again. */
static enum smb_step rest(struct smb_request *request, struct copy_chunk *copy)
{
    struct waiter *waiter = request_arm(request);

    copy->phase = CHUNK_RESTS;
    waiter->wake(waiter);
    return STEP_WAIT;
}

static enum smb_step begin_chunk(struct smb_request *request, struct copy_chunk *copy)
{
    copy->phase = CHUNK_DECIDES;
    return smb_decide(request, handle_read_attempt, &copy->read);
}

static enum smb_step next_chunk(struct smb_request *request, struct ioctl *ioctl)
{
    struct copy_chunk *copy = ioctl->parameters;
    const struct chunk *chunk = &copy->chunks[copy->done];

    if (copy->done == copy->count)
        return answer(request, ioctl, STATUS_SUCCESS, copy->done, 0, copy->total);
    /* Free the memory of the previous chunk's decisions. */
    deciding_end(&request->decision);
    arena_rewind(request->message->arena, copy->mark);
    copy->read = (struct handle_read){
        .tree_connect = &copy->source->tree->tree_connect,
        .handle = &copy->source->handle,
        .offset = chunk->from,
        .length = chunk->size,
    };
    return copy->done > 0 && copy->done % CHUNKS_AT_ONCE == 0 ? rest(request, copy)
                                                              : begin_chunk(request, copy);
}

static enum nt_status check_access(const struct smb_request *request, const struct ioctl *ioctl,
                                   const struct smb_open *source)
{
    uint32_t target = request->open->handle.granted;

    if (source->handle.kind == TREE_DIRECTORY || request->open->handle.kind == TREE_DIRECTORY)
        return STATUS_INVALID_DEVICE_REQUEST;
    if (!(source->handle.granted & (MAY_READ_DATA | MAY_EXECUTE)) || !(target & MAY_WRITE_DATA))
        return STATUS_ACCESS_DENIED;
    return ioctl->code == CODE_WRITE_ONLY || target & MAY_READ_DATA ? STATUS_SUCCESS
                                                                    : STATUS_ACCESS_DENIED;
}

enum smb_step copy_chunk_begin(struct smb_request *request, struct ioctl *ioctl)
{
    struct copy_chunk *copy = arena_alloc(request->message->arena, sizeof *copy);
    struct smb_open *source;
    struct wire_reader r;
    enum nt_status status;

    if (ioctl->output_max < 12 || ioctl->input.len < KEY_SIZE + 8)
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    wire_reader_init(&r, ioctl->input);
    source = find_source(request, &r);
    copy->count = wire_u32(&r);
    wire_skip(&r, 4);
    if (!source)
        return smb_refuse(request, STATUS_OBJECT_NAME_NOT_FOUND);
    status = check_access(request, ioctl, source);
    if (status)
        return smb_refuse(request, status);
    copy->source = open_hold(source);
    ioctl->parameters = copy;
    if (copy->count <= CHUNKS_MAX && wire_left(&r) < (size_t)copy->count * 24)
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    /* The response contains the limits. ms-smb2: 3.3.5.15.6 */
    if (copy->count <= CHUNKS_MAX)
        copy->chunks = arena_array(request->message->arena, copy->count, sizeof *copy->chunks);
    if (copy->count > CHUNKS_MAX || !read_chunks(&r, copy))
        return answer(request, ioctl, STATUS_INVALID_PARAMETER, CHUNKS_MAX, CHUNK_MAX,
                      CHUNKS_SIZE_MAX);
    message_charge(request->message, CHUNK_MAX);
    copy->bytes = xmalloc(CHUNK_MAX);
    copy->mark = arena_mark(request->message->arena);
    return next_chunk(request, ioctl);
}

/* ---- copying a chunk ---- */

static void end_chunk(struct copy_chunk *copy)
{
    if (copy->is_reading)
        handle_reading_end(&copy->reading);
    if (copy->is_staging)
        write_staging_end(&copy->staging);
    copy->is_reading = copy->is_staging = false;
}

static enum smb_step begin_staging(struct smb_request *request, struct copy_chunk *copy)
{
    const struct chunk *chunk = &copy->chunks[copy->done];

    end_chunk(copy);
    copy->phase = CHUNK_STAGES;
    copy->is_staging = true;
    write_staging_begin(request->message->connection->service->store,
                        bytes_of(copy->bytes, chunk->size), &copy->staging);
    return STEP_GO_ON;
}

static enum smb_step read_on(struct smb_request *request, struct ioctl *ioctl)
{
    struct copy_chunk *copy = ioctl->parameters;
    enum error e;

    if (!copy->is_reading)
        handle_reading_begin(&request->decision, &copy->read, copy->bytes, &copy->reading);
    copy->is_reading = true;
    e = handle_reading_go_on(&copy->reading, request_arm(request));
    if (e == DECIDE_WAITS)
        return STEP_WAIT;
    if (e == DECIDE_BLOCKING)
        return STEP_LOAD;
    return e ? stop(request, ioctl, nt_status_of_handle(e)) : begin_staging(request, copy);
}

static enum smb_step stage_on(struct smb_request *request, struct ioctl *ioctl)
{
    struct copy_chunk *copy = ioctl->parameters;
    enum store_result result =
        write_staging_go_on(&copy->staging, request_arm(request), &copy->body);

    if (!result && !smb_may_keep(request, copy->chunks[copy->done].size))
        return stop(request, ioctl, STATUS_DISK_FULL);
    if (result == STORE_WAIT)
        return STEP_WAIT;
    if (result == STORE_FULL)
        return stop(request, ioctl, STATUS_DISK_FULL);
    if (result) {
        (void)stop(request, ioctl, STATUS_UNEXPECTED_IO_ERROR);
        return STEP_FAILED;
    }
    copy->phase = CHUNK_WRITES;
    copy->write = (struct handle_write){
        .tree_connect = &request->tree->tree_connect,
        .handle = &request->open->handle,
        .offset = copy->chunks[copy->done].to,
        .body = &copy->body,
    };
    return smb_decide(request, handle_write_attempt, &copy->write);
}

enum smb_step copy_chunk_go_on(struct smb_request *request, struct ioctl *ioctl)
{
    struct copy_chunk *copy = ioctl->parameters;

    if (copy->phase == CHUNK_RESTS)
        return begin_chunk(request, copy);
    return copy->phase == CHUNK_STAGES ? stage_on(request, ioctl) : read_on(request, ioctl);
}

enum smb_step copy_chunk_decided(struct smb_request *request, struct ioctl *ioctl)
{
    struct copy_chunk *copy = ioctl->parameters;
    const struct chunk *chunk = &copy->chunks[copy->done];

    if (request->error)
        return stop(request, ioctl, nt_status_of_handle(request->error));
    if (copy->phase == CHUNK_DECIDES) {
        if (copy->read.readable < chunk->size)
            return stop(request, ioctl, STATUS_INVALID_VIEW_SIZE);
        copy->phase = CHUNK_READS;
        return STEP_GO_ON;
    }
    end_chunk(copy);
    request->open->handle.times = copy->write.times;
    request->open->has_written = true;
    copy->done++;
    copy->total += chunk->size;
    return next_chunk(request, ioctl);
}

void copy_chunk_load(struct ioctl *ioctl)
{
    struct copy_chunk *copy = ioctl->parameters;

    if (copy->phase == CHUNK_READS)
        (void)handle_reading_load(&copy->reading);
}

void copy_chunk_over(struct ioctl *ioctl)
{
    struct copy_chunk *copy = ioctl->parameters;

    if (!copy)
        return;
    end_chunk(copy);
    free(copy->bytes);
    open_release(copy->source);
}
