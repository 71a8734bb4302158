/* See move_copy.h. */
#include "admin/move_copy.h"

#include "admin/move_in.h"
#include "admin/restore_read.h"
#include "base/clock.h"
#include "cluster/peer.h"
#include "service/restore.h"

#define VERSION      1
#define RESPONSE_MAX 256u
/* For requests that may wait for a disk, and whose failure loses the copied data. */
#define PATIENCE_MS  30000u
#define RECORDS_MAX  4096u

static enum move_result fail(struct copier *c, const char *problem)
{
    if (!c->problem)
        c->problem = problem;
    return MOVE_FAILED;
}

static struct partition partition_of(const struct copier *c)
{
    return move_partition(c->endpoint->service->name, &c->move);
}

/* ---- requests ---- */

/* Returns the status, or 0. */
static int ask(struct copier *c, const char *path, unsigned patience_ms, struct bytes body,
               struct arena *arena, struct bytes *ret_body)
{
    struct peer_response response;

    if (atomic_load(c->ends))
        return 0;
    if (peer_ask(c->endpoint->peers,
                 &(struct peer_request){ .cell = c->move.to,
                                         .path = path,
                                         .body = body,
                                         .response_max = RESPONSE_MAX,
                                         .patience_ms = patience_ms },
                 arena, &response) != PEER_OK)
        return 0;
    *ret_body = response.body;
    return response.status;
}

static enum move_result begin_copy(struct copier *c, struct guid *ret_id,
                                   struct moved_space *ret_space)
{
    struct text body;
    struct bytes answer;
    struct decoder in;
    uint64_t now = clock_now();
    int status;

    text_init(&body, c->arena, 256);
    encode_u8(&body, VERSION);
    encode_bytes(&body, c->move.service);
    encode_bytes(&body, c->move.account);
    encode_bytes(&body, c->move.key);
    encode_u64(&body, now);
    encode_u64(&body, store_time_passed(c->endpoint->store, now));
    status = ask(c, MOVE_BEGIN_PATH, PEER_PATIENCE_MS, text_bytes(&body), c->arena, &answer);
    if (status == 409)
        return fail(c, "the clocks of the two cells differ");
    if (status != 200)
        return fail(c, "the destination cannot be reached");
    decoder_init(&in, answer);
    if (decode_u8(&in) != VERSION)
        return fail(c, "the destination has another version");
    decode_fixed(&in, ret_id->b, sizeof ret_id->b);
    decode_fixed(&in, ret_space->space.b, sizeof ret_space->space.b);
    decode_fixed(&in, ret_space->task.b, sizeof ret_space->task.b);
    ret_space->due = decode_u64(&in);
    return decoder_ok(&in) ? MOVE_OK : fail(c, "the destination has another version");
}

/* ---- one space ---- */

/* A copy in progress. */
struct sending {
    struct copier *copier;
    struct guid id;
    uint64_t records, bytes; /* of the spaces before */
};

static bool send_batch(struct restoring *restoring, struct bytes batch)
{
    struct sending *s = restoring->context;
    struct arena *arena = arena_new(2 * MOVE_PUT_MAX);
    struct bytes answer;
    struct text body;
    int status;

    text_init(&body, arena, batch.len + sizeof s->id.b);
    encode_fixed(&body, s->id.b, sizeof s->id.b);
    text_add(&body, batch);
    status = ask(s->copier, MOVE_PUT_PATH, PATIENCE_MS, text_bytes(&body), arena, &answer);
    arena_free(arena);
    atomic_store(s->copier->records, s->records + restoring->records);
    atomic_store(s->copier->bytes, s->bytes + restoring->bytes);
    return status == 200;
}

static enum move_result send_space(struct copier *c, struct sending *sending, struct guid space)
{
    struct restoring restoring = { .archive = archive_of(c->endpoint->store),
                                   .service = c->endpoint->service,
                                   .account = c->move.account,
                                   .send = send_batch,
                                   .context = sending };
    enum store_result result;

    if (!restoring.archive)
        return fail(c, "the engine has no files");
    result = restoring_read_space(&restoring, space);
    archive_close(restoring.archive);
    if (result == STORE_BUSY)
        return fail(c, "the destination cannot be reached, or does not accept the contents");
    return result ? fail(c, store_result_text(result)) : MOVE_OK;
}

static enum move_result copy_space(struct copier *c, struct guid space)
{
    struct space_copy *copy = &c->copies[c->copy_count];
    struct sending sending = { .copier = c,
                               .records = atomic_load(c->records),
                               .bytes = atomic_load(c->bytes) };
    struct bytes answer;
    enum move_result result;

    if (c->copy_count == MOVE_SPACES_MAX || !store_hold_space(c->endpoint->store, space))
        return fail(c, "too many deleted containers of this name are retained");
    c->copy_count++; /* it is held from here on */
    copy->from = space;
    result = begin_copy(c, &sending.id, &copy->to);
    if (!result)
        result = send_space(c, &sending, space);
    if (!result && ask(c, MOVE_END_PATH, PATIENCE_MS, bytes_of(sending.id.b, sizeof sending.id.b),
                       c->arena, &answer) != 200)
        result = fail(c, "the destination cannot be reached");
    return result;
}

void copier_release(struct copier *c)
{
    for (size_t i = 0; i < c->copy_count; i++)
        store_release_space(c->endpoint->store, c->copies[i].from);
    c->copy_count = 0;
}

static const struct space_copy *find_copy(const struct copier *c, const struct guid *space)
{
    for (size_t i = 0; i < c->copy_count; i++)
        if (guid_equal(&c->copies[i].from, space))
            return &c->copies[i];
    return NULL;
}

/* ---- the records of the name ---- */

struct reading {
    struct copier *copier;
    struct moved *moved;
    bool has_listed, is_bad;
};

static void add_name(struct copier *c, const struct guid *space)
{
    for (size_t i = 0; i < c->named_count; i++)
        if (guid_equal(&c->named[i], space))
            return;
    if (c->named_count < MOVE_SPACES_MAX)
        c->named[c->named_count] = *space;
    c->named_count++;
}

/* The value with the space of the destination, once that is known. */
static struct bytes in_destination(struct reading *reading, const struct record *record)
{
    const struct space_copy *copy;
    char *value;
    struct guid space;

    if (record->value.len < RESTORE_SPACE_AT + sizeof space.b) {
        reading->is_bad = true;
        return record->value;
    }
    memcpy(space.b, record->value.ptr + RESTORE_SPACE_AT, sizeof space.b);
    add_name(reading->copier, &space);
    copy = find_copy(reading->copier, &space);
    if (!copy)
        return record->value;
    value = arena_bytes(reading->copier->arena, record->value.len);
    memcpy(value, record->value.ptr, record->value.len);
    memcpy(value + RESTORE_SPACE_AT, copy->to.space.b, sizeof space.b);
    return bytes_of(value, record->value.len);
}

static enum store_result read_family(struct reading *reading, struct read_view *of,
                                     enum record_family family)
{
    const struct bytes all = BYTES("");
    struct scan *scan = scan_open(of, family, all, all);
    struct arena *arena = reading->copier->arena;
    struct moved *moved = reading->moved;
    enum store_result result;
    struct record record;

    while (!(result = scan_next(scan, arena, &record))) {
        if (family == RECORD_INNER && placement_is_own_record(record.key))
            continue;
        if (moved->record_count == RECORDS_MAX || record.piece_count > 0) {
            reading->is_bad = true;
            break;
        }
        reading->has_listed = reading->has_listed || family == RECORD_LISTED;
        moved->records[moved->record_count++] = (struct moved_record){
            .family = family,
            .key = record.key,
            .value = family == RECORD_LISTED ? in_destination(reading, &record) : record.value,
        };
    }
    scan_close(scan);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* Tasks of the name itself, such as the end of the retention of a deleted container. */
static enum store_result read_tasks(struct copier *c, struct moved *moved)
{
    struct partition partition = partition_of(c);
    struct arena_mark mark = arena_mark(c->arena);
    struct deferred_task task, before;
    const struct deferred_task *after = NULL;
    enum store_result result;

    while (!(result = store_task_peek(c->endpoint->store, after, c->arena, &task))) {
        before = task;
        after = &before;
        if (!guid_equal(&task.partition.space, &partition.space) ||
            !bytes_equal(task.partition.key, partition.key) || placement_is_own_task(task.kind)) {
            arena_rewind(c->arena, mark); /* the store may have many other tasks */
            continue;
        }
        if (moved->task_count == RECORDS_MAX)
            return STORE_FULL;
        moved->tasks[moved->task_count++] =
            (struct moved_task){ task.due, task.kind, task.payload };
        mark = arena_mark(c->arena);
    }
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

static enum move_result read_name(struct copier *c, struct moved *moved, uint64_t *ret_digest)
{
    struct reading reading = { .copier = c, .moved = moved };
    struct read_view *snapshot =
        read_view_open(c->endpoint->store, partition_of(c), STORE_MAY_BLOCK);
    enum store_result result = read_family(&reading, snapshot, RECORD_LISTED);

    if (!result)
        result = read_family(&reading, snapshot, RECORD_INNER);
    if (!result)
        result = placement_digest(snapshot, c->arena, ret_digest);
    read_view_close(snapshot);
    if (!result)
        result = read_tasks(c, moved);
    if (result)
        return fail(c, store_result_text(result));
    if (reading.is_bad || c->named_count > MOVE_SPACES_MAX)
        return fail(c, "it has too many snapshots and deleted containers that are retained");
    return reading.has_listed ? MOVE_OK : MOVE_MISSING;
}

/* ---- preparing ---- */

static enum move_result prepare(struct copier *c, const struct moved *moved)
{
    struct text body;
    struct bytes answer;
    int status;

    text_init(&body, c->arena, 4096);
    move_write(&body, &c->move);
    moved_write(&body, moved);
    if (text_bytes(&body).len > MOVE_PREPARE_MAX)
        return fail(c, "it has too many snapshots and deleted containers that are retained");
    status = ask(c, MOVE_PREPARE_PATH, PATIENCE_MS, text_bytes(&body), c->arena, &answer);
    if (status == 409)
        return fail(c, "an earlier move of this name to the same cell has not ended yet");
    return status == 200 ? MOVE_OK : fail(c, "the destination cannot be reached");
}

enum move_result copier_prepare(struct copier *c, uint64_t *ret_digest)
{
    struct moved moved = {
        .records = arena_array(c->arena, RECORDS_MAX, sizeof *moved.records),
        .tasks = arena_array(c->arena, RECORDS_MAX, sizeof *moved.tasks),
        .spaces = arena_array(c->arena, MOVE_SPACES_MAX, sizeof *moved.spaces),
    };
    enum move_result result;
    size_t copied = 0;

    c->named_count = 0;
    result = read_name(c, &moved, ret_digest);
    for (size_t i = 0; i < c->named_count && !result; i++)
        if (!find_copy(c, &c->named[i])) {
            result = copy_space(c, c->named[i]);
            copied++;
        }
    if (result || copied > 0) /* the records read before the hold may be older than the contents */
        return result ? result : MOVE_AGAIN;
    for (size_t i = 0; i < c->named_count; i++)
        moved.spaces[moved.space_count++] = find_copy(c, &c->named[i])->to;
    return prepare(c, &moved);
}
