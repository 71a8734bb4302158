/* See move_copy.h. */
#include "admin/move_copy.h"

#include "admin/move_in.h"
#include "admin/restore_read.h"
#include "base/clock.h"
#include "cluster/peer.h"
#include "service/restore.h"
#include "service/space_parts.h"

#define VERSION            2
#define RESPONSE_MAX       256u
/* Timeout of requests that may wait for the disk. Long, because a failed request aborts the
 * copy. */
#define REQUEST_TIMEOUT_MS 30000u
#define RECORDS_MAX        4096u
/* Writes are blocked for about as long as the last round took, so a round shorter than this is the
 * last one. */
#define ROUND_SHORT_MS     100u
#define ROUNDS_MAX         10u

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

/* Sends a request to the destination. Returns the status, or 0 if there was no response. */
static int ask(struct copier *c, const char *path, unsigned timeout_ms, struct bytes body,
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
                                         .timeout_ms = timeout_ms },
                 arena, &response) != PEER_OK)
        return 0;
    *ret_body = response.body;
    return response.status;
}

static void write_clock(struct copier *c, struct text *body)
{
    uint64_t now = clock_now();

    encode_u64(body, now);
    encode_u64(body, store_time_passed(c->endpoint->store, now));
}

static enum move_result begin_copy(struct copier *c, struct space_copy *copy)
{
    struct text body;
    struct bytes answer;
    struct decoder in;
    int status;

    text_init(&body, c->arena, 256);
    encode_u8(&body, VERSION);
    encode_bytes(&body, c->move.service);
    encode_bytes(&body, c->move.account);
    encode_bytes(&body, c->move.key);
    write_clock(c, &body);
    status = ask(c, MOVE_BEGIN_PATH, PEER_PATIENCE_MS, text_bytes(&body), c->arena, &answer);
    if (status == 409)
        return fail(c, "the clocks of the two cells differ too much");
    if (status != 200)
        return fail(c, "the destination cannot be reached");
    decoder_init(&in, answer);
    if (decode_u8(&in) != VERSION)
        return fail(c, "the destination runs a different version");
    decode_fixed(&in, copy->id.b, sizeof copy->id.b);
    decode_fixed(&in, copy->to.space.b, sizeof copy->to.space.b);
    decode_fixed(&in, copy->to.task.b, sizeof copy->to.task.b);
    copy->to.due = decode_u64(&in);
    return decoder_ok(&in) ? MOVE_OK : fail(c, "the destination sent an invalid response");
}

static enum move_result end_copy(struct copier *c, const struct space_copy *copy)
{
    struct bytes answer;
    struct text body;

    text_init(&body, c->arena, 64);
    encode_fixed(&body, copy->id.b, sizeof copy->id.b);
    write_clock(c, &body);
    return ask(c, MOVE_END_PATH, REQUEST_TIMEOUT_MS, text_bytes(&body), c->arena, &answer) == 200
               ? MOVE_OK
               : fail(c, "the destination cannot be reached");
}

/* ---- one space ---- */

/* State of sending one copy. */
struct sending {
    struct copier *copier;
    const struct space_copy *copy;
    uint64_t records, bytes; /* totals of earlier copies */
};

static bool hold(struct copier *c, const struct space_copy *copy)
{
    return store_hold_space(c->endpoint->store, copy->from);
}

static bool send_batch(struct restoring *restoring, struct bytes batch)
{
    struct sending *s = restoring->context;
    const struct guid *id = &s->copy->id;
    struct arena *arena = arena_new(2 * MOVE_PUT_MAX);
    struct bytes answer;
    struct text body;
    int status;

    text_init(&body, arena, batch.len + sizeof id->b);
    encode_fixed(&body, id->b, sizeof id->b);
    text_add(&body, batch);
    status = ask(s->copier, MOVE_PUT_PATH, REQUEST_TIMEOUT_MS, text_bytes(&body), arena, &answer);
    arena_free(arena);
    atomic_store(s->copier->records, s->records + restoring->records);
    atomic_store(s->copier->bytes, s->bytes + restoring->bytes);
    return status == 200 &&
           (!archive_has_many_changes(restoring->archive) || hold(s->copier, s->copy));
}

/* Sends an entire space or its changes, as read by `read`. */
static enum move_result send_space(struct copier *c, const struct space_copy *copy,
                                   enum store_result (*read)(struct restoring *, struct guid))
{
    struct sending sending = { .copier = c,
                               .copy = copy,
                               .records = atomic_load(c->records),
                               .bytes = atomic_load(c->bytes) };
    struct restoring restoring = { .archive = c->archive,
                                   .service = c->endpoint->service,
                                   .account = c->move.account,
                                   .send = send_batch,
                                   .context = &sending };
    enum store_result result = read(&restoring, copy->from);

    if (result == STORE_BUSY)
        return fail(c, "the destination cannot be reached, or did not accept the contents");
    if (result == STORE_FULL)
        return fail(c, "it changes faster than it can be copied");
    return result ? fail(c, store_result_text(result)) : MOVE_OK;
}

/* Sends changes in rounds, until a round is short or took no less time than the one before. */
static enum move_result catch_up(struct copier *c, const struct space_copy *copy)
{
    uint64_t took_ms = UINT64_MAX, before_ms;
    enum move_result result = MOVE_OK;

    for (unsigned i = 0; i < ROUNDS_MAX && !result; i++) {
        uint64_t began_ms = clock_monotonic_ms();

        before_ms = took_ms;
        result = send_space(c, copy, restoring_read_changes);
        took_ms = clock_monotonic_ms() - began_ms;
        if (took_ms < ROUND_SHORT_MS || took_ms >= before_ms)
            break;
    }
    return result;
}

/* Holds the space of the last copy, and completes the copy. */
static enum move_result complete_copy(struct copier *c)
{
    const struct space_copy *copy = &c->copies[c->copy_count - 1];
    enum move_result result = catch_up(c, copy);

    if (!result && !hold(c, copy))
        result = fail(c, "too many spaces are held");
    if (!result)
        result = send_space(c, copy, restoring_read_changes);
    if (!result)
        result = end_copy(c, copy);
    archive_close(c->archive);
    c->archive = NULL;
    return result;
}

/* Copies a space. is_live: clients may write to it during the copy, which is then completed later
 */
static enum move_result copy_space(struct copier *c, struct guid space, bool is_live)
{
    struct space_copy *copy = &c->copies[c->copy_count];
    enum move_result result = MOVE_OK;

    if (c->archive)
        result = complete_copy(c);
    if (result)
        return result;
    if (c->copy_count == MOVE_SPACES_MAX)
        return fail(c, "too many soft-deleted containers of this name");
    c->archive = archive_of(c->endpoint->store);
    if (!c->archive || !archive_watch(c->archive, space))
        return fail(c, "the store cannot copy it");
    *copy = (struct space_copy){ .from = space };
    c->copy_count++;
    result = begin_copy(c, copy);
    if (!result)
        result = send_space(c, copy, restoring_read_space);
    if (result)
        return result;
    return is_live ? catch_up(c, copy) : complete_copy(c);
}

void copier_release(struct copier *c)
{
    for (size_t i = 0; i < c->copy_count; i++)
        store_release_space(c->endpoint->store, c->copies[i].from);
    if (c->archive)
        archive_close(c->archive);
    c->archive = NULL;
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
    bool is_shared; /* a space that other containers share, which cannot be moved */
};

static void add_name(struct copier *c, const struct guid *space, bool is_live)
{
    size_t i = 0;

    while (i < c->named_count && i < MOVE_SPACES_MAX && !guid_equal(&c->named[i], space))
        i++;
    if (i == MOVE_SPACES_MAX) {
        c->named_count = i + 1; /* too many */
        return;
    }
    if (i == c->named_count) {
        c->named_count++;
        c->is_live[i] = false;
    }
    c->named[i] = *space;
    c->is_live[i] = c->is_live[i] || is_live;
}

static bool is_of_shared_space(const struct copier *c, const struct record *record)
{
    const struct space_record at = { .record_key = record->key, .value = record->value };
    const struct part_functions *parts = c->endpoint->service->parts;
    struct guid part;

    return parts && parts->of_container(&at, &part);
}

/* Returns the record's value with its space replaced by that of the destination, once it is
 * known. */
static struct bytes in_destination(struct reading *reading, const struct record *record)
{
    const struct restore_functions *restore = reading->copier->endpoint->service->restore;
    const struct space_copy *copy;
    char *value;
    struct guid space;

    if (record->value.len < RESTORE_SPACE_AT + sizeof space.b) {
        reading->is_bad = true;
        return record->value;
    }
    reading->is_shared |= is_of_shared_space(reading->copier, record);
    memcpy(space.b, record->value.ptr + RESTORE_SPACE_AT, sizeof space.b);
    add_name(reading->copier, &space, restore->is_owner(record->key));
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

static bool add_task(void *context, const struct archive_row *row)
{
    struct copier *c = context;

    if (!bytes_equal(row->partition_key, c->move.key) || placement_is_own_task(row->kind))
        return true;
    if (c->task_count < RECORDS_MAX)
        c->tasks[c->task_count] =
            (struct moved_task){ row->due, row->kind,
                                 row->value.ptr ? arena_copy(c->kept, row->value) : row->value };
    return ++c->task_count <= RECORDS_MAX;
}

/* Reads the tasks of the name itself, such as the one that ends the retention of a deleted
 * container. A task is only added together with a change of the name's records, so tasks are reread
 * only if the records have changed. */
static enum store_result read_tasks(struct copier *c, struct moved *moved, uint64_t digest)
{
    enum store_result result = STORE_OK;
    struct archive *archive;

    if (!c->tasks || c->tasks_digest != digest) {
        c->tasks = arena_array(c->kept, RECORDS_MAX, sizeof *c->tasks);
        c->task_count = 0;
        c->tasks_digest = digest;
        archive = archive_of(c->endpoint->store);
        result = archive_tasks(archive, partition_of(c).space, add_task, c);
        archive_close(archive);
    }
    moved->tasks = c->tasks;
    moved->task_count = c->task_count;
    return !result && c->task_count > RECORDS_MAX ? STORE_FULL : result;
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
        result = read_tasks(c, moved, *ret_digest);
    if (result)
        return fail(c, store_result_text(result));
    if (reading.is_shared)
        return fail(c, "it has its paths in one tree with other containers of the account");
    if (reading.is_bad || c->named_count > MOVE_SPACES_MAX)
        return fail(c, "it has too many snapshots and soft-deleted containers");
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
        return fail(c, "it has too many snapshots and soft-deleted containers");
    status = ask(c, MOVE_PREPARE_PATH, REQUEST_TIMEOUT_MS, text_bytes(&body), c->arena, &answer);
    if (status == 409)
        return fail(c, "an earlier move of this name has not ended at the destination");
    return status == 200 ? MOVE_OK : fail(c, "the destination cannot be reached");
}

enum move_result copier_prepare(struct copier *c, uint64_t *ret_digest)
{
    struct moved moved = {
        .records = arena_array(c->arena, RECORDS_MAX, sizeof *moved.records),
        .spaces = arena_array(c->arena, MOVE_SPACES_MAX, sizeof *moved.spaces),
    };
    enum move_result result = c->archive ? complete_copy(c) : MOVE_OK;
    size_t copied = 0;

    c->named_count = 0;
    if (!result)
        result = read_name(c, &moved, ret_digest);
    for (size_t i = 0; i < c->named_count && !result; i++)
        if (!find_copy(c, &c->named[i])) {
            result = copy_space(c, c->named[i], c->is_live[i]);
            copied++;
        }
    if (result || copied > 0) /* the values read above contain spaces of the source */
        return result ? result : MOVE_AGAIN;
    for (size_t i = 0; i < c->named_count; i++)
        moved.spaces[moved.space_count++] = find_copy(c, &c->named[i])->to;
    return prepare(c, &moved);
}
