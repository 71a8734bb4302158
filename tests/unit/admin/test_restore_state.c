/* What is put of a restored container: batches of any form, and what becomes of one that is never finished.
 * admin/restore_state.h */
#include "admin/restore_state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/codec.h"
#include "blob/blob.h"
#include "service/deferred_tasks.h"
#include "service/names.h"

static struct {
    struct store *store;
    struct arena *arena;
    struct endpoint endpoint;
} w;

static const struct bytes account = BYTES("acme");

static int set_up(void **state)
{
    (void)state;
    w.store = store_open_memory();
    w.arena = arena_new(64u << 20);
    w.endpoint = (struct endpoint){ .service = &blob_service, .store = w.store };
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(w.arena);
    store_close(w.store);
    return 0;
}

static struct bytes container_value(void)
{
    struct changes *changes = changes_new(w.arena);
    const struct container container = { .space = { { 9 } }, .created = 5, .etag = { 6 } };
    const struct partition at = { .space = { { 7 } }, .key = BYTES("x") };
    struct read_view *snapshot = read_view_open(w.store, at, STORE_MAY_BLOCK);
    struct record record;
    uint64_t sequence;

    container_write(changes, w.arena, &container);
    assert_int_equal(store_commit(w.store, &(struct commit_part){ snapshot, changes }, 1,
                                  clock_now(), STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(snapshot);
    snapshot = read_view_open(w.store, at, STORE_MAY_BLOCK);
    assert_int_equal(
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("c"), w.arena, &record), STORE_OK);
    read_view_close(snapshot);
    return record.value;
}

static void add_record(struct text *batch, const char *key, unsigned pieces)
{
    encode_u8(batch, RESTORE_RECORD);
    encode_u8(batch, RECORD_INNER);
    encode_bytes(batch, bytes_from_string(key));
    encode_bytes(batch, bytes_from_string("value"));
    encode_u64(batch, pieces);
    for (unsigned i = 0; i < pieces; i++)
        encode_u64(batch, i);
}

/* Every kind of entry. */
static struct bytes whole_batch(void)
{
    struct text batch;

    text_init(&batch, w.arena, 0);
    encode_u8(&batch, RESTORE_OWNER);
    encode_bytes(&batch, bytes_from_string("c"));
    encode_bytes(&batch, container_value());
    encode_u8(&batch, RESTORE_PARTITION);
    encode_bytes(&batch, bytes_from_string("blob"));
    encode_u8(&batch, RESTORE_PIECE);
    encode_bytes(&batch, bytes_from_string("bytes of a piece"));
    encode_u8(&batch, RESTORE_PIECE);
    encode_bytes(&batch, bytes_from_string("and another"));
    add_record(&batch, "r", 2);
    add_record(&batch, "s", 1);
    encode_u8(&batch, RESTORE_INDEX);
    encode_bytes(&batch, bytes_from_string("i"));
    encode_bytes(&batch, bytes_from_string("v"));
    encode_u8(&batch, RESTORE_COUNTER);
    encode_bytes(&batch, bytes_from_string("n"));
    encode_u64(&batch, 42);
    encode_u8(&batch, RESTORE_TASK);
    encode_u64(&batch, INSTANT_MAX - 1);
    encode_u64(&batch, 0x900);
    encode_bytes(&batch, bytes_from_string("payload"));
    return text_bytes(&batch);
}

static struct restore *begin(void)
{
    struct restore *r;

    assert_true(restore_begin(&w.endpoint, account, bytes_from_string("photos"), false, &r));
    return r;
}

static enum store_result get(struct guid space, struct record *ret_record)
{
    const struct partition at = { .space = space, .key = BYTES("blob") };
    struct read_view *snapshot = read_view_open(w.store, at, STORE_MAY_BLOCK);
    enum store_result result =
        read_view_get(snapshot, RECORD_INNER, bytes_from_string("r"), w.arena, ret_record);
    char bytes[16];

    if (!result) {
        assert_int_equal(ret_record->piece_count, 2);
        assert_int_equal(piece_read(w.store, &ret_record->pieces[0], 0, 16, bytes, NULL), STORE_OK);
        assert_memory_equal(bytes, "bytes of a piece", 16);
    }
    read_view_close(snapshot);
    return result;
}

static instant run_tasks(instant now)
{
    static const struct service *const services[] = { &blob_service };
    bool left;

    return tasks_run_due(w.store, services, &w.endpoint, 1, now, &left);
}

static void all_is_there(void **state)
{
    struct restore *r = begin();
    struct guid space = r->space;
    struct record record;
    uint64_t sequence;
    int64_t sum;

    (void)state;
    assert_true(restore_put(r, whole_batch()));
    assert_int_equal(restore_publish(r, 0), OK);
    restore_free(r, true);
    assert_int_equal(get(space, &record), STORE_OK);
    assert_int_equal(
        store_count(w.store, space, bytes_from_string("n"), STORE_MAY_BLOCK, &sum, &sequence),
        STORE_OK);
    assert_int_equal(sum, 42);
    /* Nothing drops it later. */
    run_tasks(clock_now() + 3 * TICKS_PER_DAY);
    assert_int_equal(get(space, &record), STORE_OK);
    /* Its name is taken. */
    r = begin();
    assert_true(restore_put(r, whole_batch()));
    assert_int_equal(restore_publish(r, 0), E_ContainerAlreadyExists);
    space = r->space;
    restore_free(r, false);
    assert_int_equal(get(space, &record), STORE_NOT_FOUND);
}

/* Invariant 2: after a kill the task is what is left. */
static void never_finished(void **state)
{
    struct restore *r = begin();
    struct guid space = r->space;
    struct record record;

    (void)state;
    assert_true(restore_put(r, whole_batch()));
    assert_int_equal(get(space, &record), STORE_OK);
    run_tasks(clock_now() + TICKS_PER_DAY / 2);
    assert_int_equal(get(space, &record), STORE_OK);
    run_tasks(clock_now() + 2 * TICKS_PER_DAY);
    assert_int_equal(get(space, &record), STORE_NOT_FOUND);
    assert_false(restore_put(r, whole_batch()));
    restore_free(r, false);
}

/* Cut anywhere, or with any byte changed, it is refused or put: never more than that. */
static void hostile(void **state)
{
    struct bytes batch = whole_batch();

    (void)state;
    for (size_t i = 0; i < batch.len; i++) {
        char *changed = arena_bytes(w.arena, batch.len);
        struct restore *r = begin();

        (void)restore_put(r, bytes_of(batch.ptr, i));
        restore_free(r, false);
        r = begin();
        memcpy(changed, batch.ptr, batch.len);
        changed[i] = (char)(changed[i] ^ (i % 2 ? 0xFF : 0x41));
        (void)restore_put(r, bytes_of(changed, batch.len));
        (void)restore_publish(r, 0);
        restore_free(r, false);
    }
}

static void refused(void **state)
{
    struct text batch;
    struct restore *r = begin();

    (void)state;
    text_init(&batch, w.arena, 0);
    add_record(&batch, "without a partition", 0);
    assert_false(restore_put(r, text_bytes(&batch)));
    assert_int_equal(restore_publish(r, 0), E_InvalidInput);
    restore_free(r, false);
    r = begin();
    batch.len = 0;
    encode_u8(&batch, RESTORE_PARTITION);
    encode_bytes(&batch, bytes_from_string("b"));
    add_record(&batch, "with a piece that did not come", 1);
    assert_false(restore_put(r, text_bytes(&batch)));
    restore_free(r, false);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest tests[] = { TEST(all_is_there), TEST(never_finished),
                                               TEST(hostile), TEST(refused) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
