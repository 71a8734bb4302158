/* Backlog records of data that content_collect.c will delete. */
#include <assert.h>

#include "base/codec.h"
#include "base/endian.h"
#include "content/backlog.h"

#define BACKLOG_VERSION  1
#define BACKLOG_KEY_SIZE 15

/* ---- adding ---- */

static void put(struct changes *changes, const struct backlog *backlog, const struct text *value)
{
    char key[BACKLOG_KEY_SIZE];

    assert(backlog->kind < BACKLOG_KINDS && backlog->source <= BACKLOG_OF_BLOCKS);
    key[0] = BACKLOG_PREFIX;
    key[1] = (char)backlog->kind;
    key[2] = (char)backlog->source;
    be64_put(key + 3, backlog->id);
    be32_put(key + 11, backlog->part);
    changes_put(changes, RECORD_INNER, bytes_of(key, sizeof key), text_bytes(value), NULL, 0);
}

void backlog_add_chain(struct changes *changes, uint64_t id)
{
    const struct backlog backlog = { .kind = BACKLOG_CHAIN, .id = id };
    struct text value;

    text_init(&value, changes_arena(changes), 1);
    encode_u8(&value, BACKLOG_VERSION);
    put(changes, &backlog, &value);
}

void backlog_put_records(struct changes *changes, const struct backlog *backlog)
{
    struct text value;

    assert(backlog->kind != BACKLOG_RUNS && backlog->kind != BACKLOG_CHAIN);
    assert(backlog->kind != BACKLOG_RECORDS || backlog->prefix.len > 0);
    text_init(&value, changes_arena(changes), 16 + backlog->prefix.len + backlog->from.len);
    encode_u8(&value, BACKLOG_VERSION);
    encode_u8(&value, backlog->with_runs);
    encode_bytes(&value, backlog->prefix);
    encode_bytes(&value, backlog->from);
    put(changes, backlog, &value);
}

void backlog_add_segments(struct changes *changes, uint64_t id, struct bytes from)
{
    char prefix[SEGMENT_PREFIX_SIZE];
    struct backlog backlog = { .kind = BACKLOG_RECORDS, .id = id, .from = from };

    segment_prefix(SEGMENT_OF_CONTENT, id, prefix);
    backlog.prefix = bytes_of(prefix, sizeof prefix);
    backlog_put_records(changes, &backlog);
}

void backlog_add_kind(struct changes *changes, uint64_t id, char kind)
{
    char prefix[SEGMENT_PREFIX_SIZE];
    struct backlog backlog = { .kind = BACKLOG_RECORDS, .id = id, .part = (uint8_t)kind };

    prefix[0] = kind;
    be64_put(prefix + 1, id);
    backlog.prefix = backlog.from = bytes_of(prefix, sizeof prefix);
    backlog_put_records(changes, &backlog);
}

void backlog_add_generation(struct changes *changes, uint64_t id, uint32_t generation)
{
    const struct backlog backlog = { .kind = BACKLOG_GENERATION, .id = id, .part = generation };

    backlog_put_records(changes, &backlog);
}

void backlog_add_hole(struct changes *changes, uint64_t id, uint64_t stamp)
{
    struct backlog backlog = { .kind = BACKLOG_HOLE, .id = id, .part = (uint32_t)stamp };
    char prefix[8];

    be64_put(prefix, stamp);
    backlog.prefix = bytes_of(prefix, sizeof prefix);
    backlog_put_records(changes, &backlog);
}

void backlog_put_runs(struct changes *changes, const struct backlog *backlog, const uint64_t *runs,
                      size_t count)
{
    struct text value;
    char run[8];

    assert(backlog->kind == BACKLOG_RUNS && count > 0 && count <= BACKLOG_RUNS_MAX);
    text_init(&value, changes_arena(changes), 8 + sizeof run * count);
    encode_u8(&value, BACKLOG_VERSION);
    encode_u64(&value, count);
    for (size_t i = 0; i < count; i++) {
        le64_put(run, runs[i]);
        encode_fixed(&value, run, sizeof run);
    }
    put(changes, backlog, &value);
}

void backlog_add_runs(struct changes *changes, enum backlog_source source, uint64_t id,
                      const struct run_set *runs)
{
    struct backlog backlog = { .kind = BACKLOG_RUNS, .source = source, .id = id };

    for (size_t done = 0; done < runs->count; backlog.part++) {
        size_t some = runs->count - done;

        if (some > BACKLOG_RUNS_MAX)
            some = BACKLOG_RUNS_MAX;
        backlog_put_runs(changes, &backlog, runs->ids + done, some);
        done += some;
    }
}

void content_leave_blocks(struct changes *changes, uint64_t id, struct bytes prefix, bool with_runs)
{
    const struct backlog backlog = {
        .kind = BACKLOG_RECORDS,
        .source = BACKLOG_OF_BLOCKS,
        .id = id,
        .with_runs = with_runs,
        .prefix = prefix,
        .from = prefix,
    };

    backlog_put_records(changes, &backlog);
}

/* ---- reading ---- */

static bool decode_runs(struct decoder *d, struct backlog *backlog)
{
    uint64_t count = decode_u64(d);

    if (d->bad || count == 0 || count > BACKLOG_RUNS_MAX || (size_t)(d->end - d->at) != 8 * count)
        return false;
    backlog->runs = d->at;
    backlog->run_count = (size_t)count;
    return true;
}

bool backlog_decode(const struct record *record, struct backlog *ret_backlog)
{
    const uint8_t *key = (const uint8_t *)record->key.ptr;
    struct backlog backlog = { .kind = BACKLOG_RECORDS };
    struct decoder d;

    if (record->key.len != BACKLOG_KEY_SIZE || key[1] >= BACKLOG_KINDS ||
        key[2] > BACKLOG_OF_BLOCKS)
        return false;
    backlog.kind = (enum backlog_kind)key[1];
    backlog.source = (enum backlog_source)key[2];
    backlog.id = be64_get(key + 3);
    backlog.part = be32_get(key + 11);
    decoder_init(&d, record->value);
    if (decode_u8(&d) != BACKLOG_VERSION)
        return false;
    if (backlog.kind == BACKLOG_RUNS) {
        *ret_backlog = backlog;
        return decode_runs(&d, ret_backlog);
    }
    if (backlog.kind != BACKLOG_CHAIN) {
        backlog.with_runs = decode_u8(&d) != 0;
        backlog.prefix = decode_bytes(&d);
        backlog.from = decode_bytes(&d);
    }
    *ret_backlog = backlog;
    return decoder_ok(&d) && (backlog.kind != BACKLOG_RECORDS || backlog.prefix.len > 0) &&
           (backlog.kind != BACKLOG_HOLE || backlog.prefix.len == 8);
}
