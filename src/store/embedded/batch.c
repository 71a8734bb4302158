/* Creates the batch of a commit from its changes. */
#include "store/embedded/batch.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/endian.h"
#include "base/log.h"
#include "store/embedded/embedded_private.h"
#include "store/record_key.h"
#include "store/record_value.h"

#define DROPPED_VERSION 1
#define CLOCK_STEP      (TICKS_PER_SECOND / 10)
/* Commits of ordinary requests are smaller; larger buffers are not reused. */
#define SPARE_BYTES_MAX (64u << 10)

/* ---- the batch that a thread keeps for its next commit, to reuse its memory ---- */

static _Thread_local rocksdb_writebatch_t *spare;
static _Thread_local bool has_end; /* the key is set: the spare batch is freed with the thread */
static pthread_key_t end_of_thread;
static pthread_once_t end_once = PTHREAD_ONCE_INIT;

/* Called on the ending thread. */
static void free_spare(void *unused)
{
    (void)unused;
    if (spare)
        rocksdb_writebatch_destroy(spare);
    spare = NULL;
    has_end = false;
}

static void make_end(void)
{
    if (pthread_key_create(&end_of_thread, free_spare) != 0)
        abort();
}

static bool will_be_freed(void)
{
    if (has_end)
        return true;
    pthread_once(&end_once, make_end);
    has_end = pthread_setspecific(end_of_thread, &spare) == 0;
    return has_end;
}

static rocksdb_writebatch_t *take_writes(void)
{
    rocksdb_writebatch_t *writes = spare;

    spare = NULL;
    return writes ? writes : rocksdb_writebatch_create();
}

static void give_writes(rocksdb_writebatch_t *writes)
{
    size_t bytes;

    (void)rocksdb_writebatch_data(writes, &bytes);
    if (bytes > SPARE_BYTES_MAX || spare || !will_be_freed()) {
        rocksdb_writebatch_destroy(writes);
        return;
    }
    rocksdb_writebatch_clear(writes);
    spare = writes;
}

/* ---- batches ---- */

void batch_init(struct batch *batch, struct embedded *embedded)
{
    *batch =
        (struct batch){ .embedded = embedded, .task_due = INSTANT_MAX, .writes = take_writes() };
}

void batch_release(struct batch *batch)
{
    give_writes(batch->writes);
    free(batch->freed);
}

/* Puts a value, encrypted if the store is. */
static void put_value(struct batch *batch, const struct key *key, struct bytes value,
                      struct arena *arena)
{
    struct record_sealer *sealer = batch->embedded->sealer;

    if (record_is_sealed(sealer, key_bytes(key)))
        value = record_seal(sealer, key_bytes(key), value,
                            arena_bytes(arena, value.len + RECORD_SEAL_BYTES));
    rocksdb_writebatch_put(batch->writes, key->ptr, key->len, value.ptr, value.len);
}

static void add_change(struct batch *batch, const struct key *key, const struct change *change,
                       struct arena *arena)
{
    if (change->is_delete)
        rocksdb_writebatch_delete(batch->writes, key->ptr, key->len);
    else
        put_value(batch, key, change->value, arena);
}

static void add_counts(struct batch *batch, const struct guid *space,
                       const struct count_change *count)
{
    struct key key;

    key_init(&key);
    for (; count; count = count->next) {
        char delta[sizeof(uint64_t)];

        le64_put(delta, (uint64_t)count->delta);
        key_set_counter(&key, space, count->name);
        rocksdb_writebatch_merge(batch->writes, key.ptr, key.len, delta, sizeof delta);
    }
    key_release(&key);
}

static void add_drops(struct batch *batch, const struct guid *spaces, size_t count)
{
    static const char version = DROPPED_VERSION;

    for (size_t i = 0; i < count; i++) {
        struct key key;

        key_init(&key);
        key_set_space(&key, KEY_KIND_DROPPED, &spaces[i]);
        rocksdb_writebatch_put(batch->writes, key.ptr, key.len, &version, sizeof version);
        key_release(&key);
    }
}

void batch_add_changes(struct batch *batch, struct bytes prefix, const struct guid *space,
                       const struct changes *changes)
{
    const struct guid *dropped;
    size_t dropped_count;
    struct key key;

    key_init(&key);
    for (const struct change *c = changes_first(changes); c; c = c->next) {
        key_set_record(&key, c->family, prefix, c->key);
        add_change(batch, &key, c, changes_arena(changes));
    }
    for (const struct change *c = changes_first_index(changes); c; c = c->next) {
        key_set_index(&key, prefix, c->key);
        add_change(batch, &key, c, changes_arena(changes));
    }
    key_release(&key);
    batch->has_tasks = batch->has_tasks || changes_first_task(changes);
    batch->has_pieces = batch->has_pieces || changes_have_pieces(changes);
    add_counts(batch, space, changes_first_count(changes));
    dropped = changes_dropped_spaces(changes, &dropped_count);
    add_drops(batch, dropped, dropped_count);
}

void batch_add_tasks(struct batch *batch, struct bytes prefix, const struct changes *changes)
{
    struct deferred *deferred = &batch->embedded->deferred;
    bool has_done = false;
    char mark[8];
    struct key key;

    key_init(&key);
    for (const struct task_change *c = changes_first_task(changes); c; c = c->next) {
        struct text value;
        instant due;

        has_done = has_done || c->is_done;
        if (c->is_done) {
            deferred_done_key(c, &key);
            rocksdb_writebatch_delete(batch->writes, key.ptr, key.len);
            continue;
        }
        text_init(&value, changes_arena(changes), 64 + c->payload.len);
        due = deferred_task_rows(deferred, c, prefix, &key, &value);
        put_value(batch, &key, text_bytes(&value), changes_arena(changes));
        if (due < batch->task_due)
            batch->task_due = due;
    }
    if (has_done && deferred_mark_row(deferred, &key, mark))
        rocksdb_writebatch_put(batch->writes, key.ptr, key.len, mark, sizeof mark);
    key_release(&key);
}

/* Returns the current number of references to a piece; 0 if it has no row. */
static enum store_result read_row(struct batch *batch, struct bytes key, uint32_t length,
                                  struct store_access access, uint64_t *ret_references)
{
    struct keyspace *keyspace = &batch->embedded->keyspace;
    rocksdb_pinnableslice_t *value;
    struct piece_row row;
    enum store_result result = keyspace_get(keyspace, keyspace->newest, access, key, &value);
    const char *bytes;
    size_t size;

    if (result == STORE_NOT_FOUND) {
        *ret_references = 0;
        return STORE_OK;
    }
    if (result)
        return result;
    bytes = rocksdb_pinnableslice_value(value, &size);
    result = piece_row_read(bytes_of(bytes, size), &row) && row.length == length ? STORE_OK
                                                                                 : STORE_CORRUPT;
    rocksdb_pinnableslice_destroy(value);
    if (result) {
        log_line(LOG_ERROR, "store: a row of the piece index is corrupt");
        return result;
    }
    *ret_references = row.references;
    return STORE_OK;
}

static void add_freed(struct batch *batch, const struct piece_change *change)
{
    if (!batch->freed)
        batch->freed = freed_new(batch->piece_count);
    assert(batch->freed->count < batch->piece_count);
    batch->freed->pieces[batch->freed->count++] =
        (struct freed_piece){ change->extent, change->length, change->offset };
    batch->referred_bytes -= change->length;
}

/* The rows may be read before the stripes are locked, because a piece belongs to one partition, and
 * if that has changed the commit is a conflict. */
static enum store_result add_piece(struct batch *batch, const struct piece_change *change,
                                   struct store_access access)
{
    struct piece_row row = { .length = change->length };
    char key[KEY_PIECE_SIZE];
    char value[PIECE_ROW_SIZE_MAX];
    uint64_t before;
    enum store_result result;

    assert(change->references != 0 && change->length > 0);
    key_write_piece(key, change->extent, change->offset);
    result = read_row(batch, bytes_of(key, sizeof key), row.length, access, &before);
    if (result)
        return result;
    if (change->references < 0 && before < (uint64_t)-change->references)
        return STORE_CONFLICT;
    if (before == 0 &&
        !extents_has_staged(&batch->embedded->extents, change->extent, change->offset))
        return STORE_CONFLICT;
    row.references = before + (uint64_t)change->references;
    if (row.references == 0) {
        rocksdb_writebatch_delete(batch->writes, key, sizeof key);
        add_freed(batch, change);
        return STORE_OK;
    }
    if (before == 0) {
        batch->first_count++;
        batch->referred_bytes += row.length;
    }
    rocksdb_writebatch_put(batch->writes, key, sizeof key, value, piece_row_write(value, row));
    return STORE_OK;
}

enum store_result batch_add_pieces(struct batch *batch, const struct piece_change *pieces,
                                   size_t count, struct store_access access)
{
    assert(batch->piece_count == 0 && !batch->freed); /* only once per batch */
    batch->pieces = pieces;
    batch->piece_count = count;
    for (size_t i = 0; i < count; i++) {
        enum store_result result = add_piece(batch, &pieces[i], access);

        if (result)
            return result;
    }
    return STORE_OK;
}

instant batch_put_clock_row(rocksdb_writebatch_t *writes, uint16_t number,
                            struct clock_checkpoint checkpoint)
{
    char key[KEY_CLOCK_SIZE] = { KEY_KIND_CLOCK }, row[CLOCK_ROW_SIZE_MAX];
    size_t size;

    checkpoint.bound += CLOCK_STEP;
    size = clock_row_write(row, &checkpoint);
    be16_put(key + 1, number);
    rocksdb_writebatch_put(writes, key, sizeof key, row, size);
    return checkpoint.bound;
}

/* After a restart the clock continues after the newest clock row, so that it does not go back. Not
 * every commit writes one: a row is CLOCK_STEP ahead, and commits up to it need none, unless they
 * know of a step that the clock has not followed. They may rely on it as soon as it is written,
 * since the log preserves the order. */
instant batch_add_clock(struct batch *batch, const struct stripe *stripe, instant now)
{
    size_t number = (size_t)(stripe - batch->embedded->stripes);
    instant known = atomic_load(&batch->embedded->clock_ahead);

    if (now <= known && !clock_is_behind())
        return 0;
    return batch_put_clock_row(batch->writes, (uint16_t)number,
                               clock_checkpoint(now > known ? now : known));
}

void batch_announce_clock(struct embedded *embedded, instant ahead)
{
    instant known = atomic_load(&embedded->clock_ahead);

    while (known < ahead && !atomic_compare_exchange_weak(&embedded->clock_ahead, &known, ahead))
        ;
}
