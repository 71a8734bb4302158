/* The record of a queue: LISTED "q" in partition (account space, queue name).
 *
 *   version 1:  u8 1; space of the messages, 16 raw; created, ticks; bytes metadata
 *               (service/metadata.h); bytes policies (auth/policies.h)
 * To change it, add a version number, keep the old reader, and add a data folder of the old format
 * to the tests. */
#include "queue/queue.h"

#include "service/names.h"
#include "service/restore.h"
#include "service/small_record.h"
#include "service/usage.h"

#define RECORD_VERSION 1

static const struct bytes record_key = BYTES("q");

bool queue_decode(struct bytes value, struct queue *ret_queue)
{
    struct queue queue = { .created = 0 };
    struct decoder in;

    decoder_init(&in, value);
    if (decode_u8(&in) != RECORD_VERSION)
        return false;
    decode_fixed(&in, queue.space.b, sizeof queue.space.b);
    queue.created = decode_u64(&in);
    queue.metadata = decode_bytes(&in);
    queue.policies = decode_bytes(&in);
    *ret_queue = queue;
    return decoder_ok(&in);
}

enum store_result queue_read(struct read_view *snapshot, struct arena *arena,
                             struct queue *ret_queue)
{
    struct record record;
    enum store_result result = read_view_get(snapshot, RECORD_LISTED, record_key, arena, &record);

    if (result)
        return result;
    if (!queue_decode(record.value, ret_queue))
        return record_is_unknown("a queue's record", record.value);
    return STORE_OK;
}

void queue_write(struct decision *d, const struct queue *queue)
{
    struct text out;

    text_init(&out, d->arena, 64 + queue->metadata.len + queue->policies.len);
    encode_u8(&out, RECORD_VERSION);
    encode_fixed(&out, queue->space.b, sizeof queue->space.b);
    encode_u64(&out, queue->created);
    encode_bytes(&out, queue->metadata);
    encode_bytes(&out, queue->policies);
    changes_put(d->changes, RECORD_LISTED, record_key, text_bytes(&out), NULL, 0);
}

void queue_delete_record(struct changes *changes)
{
    changes_delete(changes, RECORD_LISTED, record_key);
}

/* ---- restoring from a backup: service/restore.h ---- */

static bool is_owner(struct bytes key)
{
    return bytes_equal(key, record_key);
}

static bool put_owner(struct decision *d, const struct record *record, struct bytes name,
                      struct guid space)
{
    struct queue queue;

    (void)name;
    if (!queue_decode(record->value, &queue))
        return false;
    queue.space = space;
    queue_write(d, &queue);
    return true;
}

const struct restore_functions queue_restore = {
    .check_name = name_check, .has_passed_times = true, .is_owner = is_owner, .put_owner = put_owner
};

/* ---- storage used: service/usage.h ---- */

static bool is_queue(const struct space_record *record, struct guid *ret_space,
                     uint64_t *ret_quota_bytes)
{
    struct queue queue;

    (void)ret_quota_bytes;
    if (!bytes_equal(record->record_key, record_key) || !queue_decode(record->value, &queue))
        return false;
    *ret_space = queue.space;
    return true;
}

/* Message bodies: queue/message.h. */
const struct usage_functions queue_usage = { .container = is_queue, .inner_prefix = "m" };
