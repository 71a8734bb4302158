#include "store/rados/part_work.h"

#include "base/codec.h"
#include "store/rados/row_key.h"

#define WORK_VERSION 1

enum verb { SET = 1, REMOVE, COUNT, TASK };

void part_work_init(struct part_work *work)
{
    *work = (struct part_work){ .changes = NULL };
    work->changes_end = &work->changes;
}

static void add_change(struct part_work *work, struct arena *arena, struct shard_change change)
{
    struct shard_change *added = arena_alloc(arena, sizeof *added);

    *added = change;
    *work->changes_end = added;
    work->changes_end = &added->next;
}

void part_work_set(struct part_work *work, struct arena *arena, struct bytes key,
                   struct bytes value)
{
    add_change(work, arena, (struct shard_change){ .key = key, .value = value });
}

void part_work_remove(struct part_work *work, struct arena *arena, struct bytes key)
{
    add_change(work, arena, (struct shard_change){ .key = key, .is_removal = true });
}

void part_work_count(struct part_work *work, struct arena *arena, struct bytes name, int64_t delta)
{
    struct shard_count *added = arena_alloc(arena, sizeof *added);

    *added = (struct shard_count){ work->counts, name, delta };
    work->counts = added;
}

void part_work_task(struct part_work *work, struct arena *arena, instant due, const struct guid *id,
                    struct bytes value)
{
    struct shard_task *added = arena_alloc(arena, sizeof *added);

    *added = (struct shard_task){ work->tasks, due, *id, value };
    work->tasks = added;
}

static void add_row(struct part_work *work, struct arena *arena, struct bytes key,
                    const struct change *change)
{
    if (change->is_delete)
        part_work_remove(work, arena, key);
    else
        part_work_set(work, arena, key, row_value_write(arena, change->value));
}

void part_work_record(struct part_work *work, struct arena *arena, struct bytes partition_key,
                      const struct change *change)
{
    add_row(work, arena, row_key_record(arena, change->family, partition_key, change->key), change);
}

void part_work_records(struct part_work *work, struct arena *arena, struct bytes partition_key,
                       const struct change *change)
{
    for (; change; change = change->next)
        part_work_record(work, arena, partition_key, change);
}

void part_work_index(struct part_work *work, struct arena *arena, struct bytes partition_key,
                     const struct change *change)
{
    for (; change; change = change->next)
        add_row(work, arena, row_key_index(arena, change->key, partition_key), change);
}

struct bytes part_work_write(const struct part_work *work, struct arena *arena)
{
    struct text out;

    text_init(&out, arena, 4096);
    encode_u8(&out, WORK_VERSION);
    for (const struct shard_change *c = work->changes; c; c = c->next) {
        encode_u8(&out, c->is_removal ? REMOVE : SET);
        encode_bytes(&out, c->key);
        if (!c->is_removal)
            encode_bytes(&out, c->value);
    }
    for (const struct shard_count *c = work->counts; c; c = c->next) {
        encode_u8(&out, COUNT);
        encode_bytes(&out, c->name);
        encode_long(&out, (uint64_t)c->delta);
    }
    for (const struct shard_task *t = work->tasks; t; t = t->next) {
        encode_u8(&out, TASK);
        encode_long(&out, t->due);
        encode_fixed(&out, t->id.b, sizeof t->id.b);
        encode_bytes(&out, t->value);
    }
    return text_bytes(&out);
}

static bool read_one(struct decoder *from, struct arena *arena, struct part_work *work)
{
    struct bytes key;
    struct guid id;
    instant due;

    switch (decode_u8(from)) {
    case SET:
        key = decode_bytes(from);
        part_work_set(work, arena, key, decode_bytes(from));
        break;
    case REMOVE:
        part_work_remove(work, arena, decode_bytes(from));
        break;
    case COUNT:
        key = decode_bytes(from);
        part_work_count(work, arena, key, (int64_t)decode_long(from));
        break;
    case TASK:
        due = decode_long(from);
        decode_fixed(from, id.b, sizeof id.b);
        part_work_task(work, arena, due, &id, decode_bytes(from));
        break;
    default:
        return false;
    }
    return !from->bad;
}

bool part_work_read(struct bytes value, struct arena *arena, struct part_work *ret_work)
{
    struct decoder from;

    part_work_init(ret_work);
    decoder_init(&from, value);
    if (decode_u8(&from) != WORK_VERSION)
        return false;
    while (from.at < from.end)
        if (!read_one(&from, arena, ret_work))
            return false;
    return true;
}
