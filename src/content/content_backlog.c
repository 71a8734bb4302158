/* What changes left to be deleted, and deleting it step by step. */
#include <assert.h>

#include "base/codec.h"
#include "base/endian.h"
#include "content/sparse.h"

#define BACKLOG_VERSION  1
#define BACKLOG_PREFIX   'q'
#define BACKLOG_KEY_SIZE 15

/* A run has few segments; each costs one more to look for. */
#define SEGMENTS_OF_RUN  4u

/* What the changes of a step hold when no more is begun: a unit or a record adds less than 2 MiB, the
 * commit about as much again. decision: 245 */
#define STEP_HELD_BYTES  ((size_t)4 << 20)

enum store_result segments_delete(struct snapshot *before, struct changes *changes,
                                  enum segment_owner owner, uint64_t id, size_t limit,
                                  struct bytes *ret_next)
{
    char prefix[SEGMENT_PREFIX_SIZE];
    enum store_result result;
    struct record record;
    struct scan *scan;

    *ret_next = bytes_of(NULL, 0);
    segment_prefix(owner, id, prefix);
    scan = scan_open(before, RECORD_INNER, bytes_of(prefix, sizeof prefix), bytes_of("", 0));
    while ((result = scan_next(scan, NULL, &record)) == STORE_OK) {
        if (limit-- == 0) {
            *ret_next = arena_copy(changes_arena(changes), record.key);
            break;
        }
        changes_delete(changes, RECORD_INNER, record.key);
        changes_release(changes, record.pieces, record.piece_count);
    }
    scan_close(scan);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* ---- adding ---- */

static void put(struct changes *changes, const struct backlog *backlog, const struct text *value)
{
    char key[BACKLOG_KEY_SIZE];

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

static void put_records(struct changes *changes, const struct backlog *backlog)
{
    struct text value;

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
    put_records(changes, &backlog);
}

void backlog_add_kind(struct changes *changes, uint64_t id, char kind)
{
    char prefix[SEGMENT_PREFIX_SIZE];
    struct backlog backlog = { .kind = BACKLOG_RECORDS, .id = id, .part = (uint8_t)kind };

    prefix[0] = kind;
    be64_put(prefix + 1, id);
    backlog.prefix = backlog.from = bytes_of(prefix, sizeof prefix);
    put_records(changes, &backlog);
}

void backlog_add_generation(struct changes *changes, uint64_t id, uint32_t generation)
{
    const struct backlog backlog = { .kind = BACKLOG_GENERATION, .id = id, .part = generation };

    put_records(changes, &backlog);
}

void backlog_add_hole(struct changes *changes, uint64_t id, uint64_t stamp)
{
    struct backlog backlog = { .kind = BACKLOG_HOLE, .id = id, .part = (uint32_t)stamp };
    char prefix[8];

    be64_put(prefix, stamp);
    backlog.prefix = bytes_of(prefix, sizeof prefix);
    put_records(changes, &backlog);
}

static void put_runs(struct changes *changes, const struct backlog *backlog, const uint64_t *runs,
                     size_t count)
{
    struct text value;
    char run[8];

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
        put_runs(changes, &backlog, runs->ids + done, some);
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

    put_records(changes, &backlog);
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

/* ---- a step ---- */

void budget_spend(struct budget *budget, size_t records)
{
    budget->records -= records < budget->records ? records : budget->records;
}

bool budget_is_spent(const struct budget *budget)
{
    return budget->records == 0 ||
           arena_held(changes_arena(budget->changes)) - budget->held > STEP_HELD_BYTES;
}

struct step {
    struct snapshot *before;
    struct changes *changes;
    struct arena *arena;
    struct budget budget;
};

static enum store_result delete_run(struct step *step, const struct content_block *block)
{
    budget_spend(&step->budget, block->run != 0 ? SEGMENTS_OF_RUN : 1);
    return content_block_delete(step->before, step->changes, block);
}

static enum store_result collect_runs(struct step *step, const struct backlog *backlog)
{
    uint64_t *runs = arena_array(step->arena, backlog->run_count, sizeof runs[0]);
    size_t done = 0;

    for (size_t i = 0; i < backlog->run_count; i++)
        runs[i] = le64_get(backlog->runs + 8 * i);
    while (done < backlog->run_count && !budget_is_spent(&step->budget)) {
        const struct content_block block = { .run = runs[done++] };
        enum store_result result = delete_run(step, &block);

        if (result)
            return result;
    }
    if (done == backlog->run_count)
        return STORE_NOT_FOUND;
    put_runs(step->changes, backlog, runs + done, backlog->run_count - done);
    return STORE_OK;
}

static enum store_result delete_record(struct step *step, const struct backlog *backlog,
                                       const struct record *record)
{
    struct content_block block;

    changes_delete(step->changes, RECORD_INNER, record->key);
    budget_spend(&step->budget, 1);
    if (backlog->with_runs && content_block_decode(record, &block))
        return delete_run(step, &block);
    changes_release(step->changes, record->pieces, record->piece_count);
    return STORE_OK;
}

/* What is left begins at the record that the step comes to when it has no budget any more: the next
 * step does not pass over what was deleted. */
static enum store_result collect_records(struct step *step, const struct backlog *backlog)
{
    struct scan *scan = scan_open(step->before, RECORD_INNER, backlog->prefix, backlog->from);
    struct backlog rest = *backlog;
    enum store_result result;
    struct record record;

    while ((result = scan_next(scan, NULL, &record)) == STORE_OK) {
        if (budget_is_spent(&step->budget)) {
            rest.from = record.key;
            put_records(step->changes, &rest);
            break;
        }
        result = delete_record(step, backlog, &record);
        if (result)
            break;
    }
    scan_close(scan);
    return result;
}

static enum store_result collect_chain(struct step *step, const struct backlog *backlog)
{
    enum store_result result = chain_leave(step->before, step->changes, step->arena, backlog->id);

    step->budget.records = 0; /* chain invariant 3 */
    return result ? result : STORE_NOT_FOUND;
}

/* What is left begins at `backlog->from`, which the step has moved. */
static enum store_result collect_sparse(struct step *step, const struct backlog *backlog)
{
    struct backlog rest = *backlog;
    enum store_result result =
        backlog->kind == BACKLOG_HOLE
            ? sparse_collect_hole(step->before, step->changes, &rest, &step->budget)
            : sparse_collect_generation(step->before, step->changes, &rest, &step->budget);

    step->budget.records = 0; /* what one step wrote, another would not see */
    if (!result)
        put_records(step->changes, &rest);
    return result;
}

/* Works on what one record names.
 * returns STORE_NOT_FOUND when nothing of it is left, STORE_OK when something is */
static enum store_result collect_one(struct step *step, const struct backlog *backlog)
{
    switch (backlog->kind) {
    case BACKLOG_RECORDS:
        return collect_records(step, backlog);
    case BACKLOG_RUNS:
        return collect_runs(step, backlog);
    case BACKLOG_CHAIN:
        return collect_chain(step, backlog);
    case BACKLOG_GENERATION:
    case BACKLOG_HOLE:
        return collect_sparse(step, backlog);
    case BACKLOG_KINDS:
        break;
    }
    return STORE_CORRUPT;
}

/* A record that makes no sense is removed: what it named stays behind, and the rest goes on. */
static enum store_result collect_record(struct step *step, const struct record *record)
{
    enum store_result result = STORE_NOT_FOUND;
    struct backlog backlog;

    if (backlog_decode(record, &backlog))
        result = collect_one(step, &backlog);
    else
        (void)content_damaged(0, 0, "a note of what is to be deleted");
    budget_spend(&step->budget, 1); /* there may be many that name nothing any more */
    if (result != STORE_NOT_FOUND)
        return result;
    changes_delete(step->changes, RECORD_INNER, record->key);
    return STORE_OK;
}

enum store_result content_collect(struct snapshot *before, struct changes *changes,
                                  struct arena *arena, size_t records, bool *ret_more)
{
    static const char prefix = BACKLOG_PREFIX;
    struct step step = {
        before, changes, arena, { records, changes, arena_held(changes_arena(changes)) }
    };
    enum store_result result = STORE_OK;
    struct record record;
    struct scan *scan;

    assert(records > 0);
    scan = scan_open(before, RECORD_INNER, bytes_of(&prefix, 1), bytes_of("", 0));
    while (!result && !budget_is_spent(&step.budget)) {
        result = scan_next(scan, arena, &record);
        if (!result)
            result = collect_record(&step, &record);
    }
    scan_close(scan);
    if (result && result != STORE_NOT_FOUND)
        return result;
    *ret_more = result != STORE_NOT_FOUND;
    return STORE_OK;
}
