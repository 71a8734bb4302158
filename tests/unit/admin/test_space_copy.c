/* A space that is copied from one store to another while commits change it: after the last round the copy
 * has the same records, pieces, index records and counters. admin/restore_read.h, store/archive.h */
#include "admin/restore_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../store/chosen.h"
#include "admin/restore_state.h"
#include "base/sleeper.h"
#include "blob/blob.h"
#include "store/store_private.h"

#define PARTITIONS    4u
#define KEYS          12u
#define PIECE_BYTES   (600u << 10)
#define COPIES        4u
#define ROUNDS        3u
#define CHANGES_BEGIN 60u
#define TASK_KIND     0x900u

static struct {
    struct store *from, *to;
    char folder[CHOSEN_FOLDER_SIZE];
    struct arena *arena;
    struct endpoint endpoint;
    struct guid space;
    struct restore *restore;
    uint64_t random;
    unsigned changes_at_batch; /* made whenever a batch has been sent */
    unsigned tasks;
} w;

static unsigned random_below(unsigned limit)
{
    w.random = w.random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(w.random >> 33) % limit;
}

static int set_up(void **state)
{
    (void)state;
    w.from = chosen_store_open("embedded", w.folder);
    w.to = store_open_memory();
    w.arena = arena_new((size_t)1 << 30);
    w.endpoint = (struct endpoint){ .service = &blob_service, .store = w.to };
    w.space = guid_new();
    w.random = 1;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(w.arena);
    store_close(w.to);
    chosen_store_close(w.from, w.folder);
    return 0;
}

/* ---- changing the source ---- */

/* The keys of partitions and records, some of which have to be escaped. */
static struct bytes key_of(unsigned number)
{
    char *key = arena_bytes(w.arena, 3);

    key[0] = 'k';
    key[1] = (char)(number % 3);
    key[2] = (char)number;
    return bytes_of(key, 3);
}

static struct stage *new_piece(struct piece *ret_piece)
{
    static char bytes[PIECE_BYTES];
    struct stage *stage = stage_open(w.from, PIECE_BYTES);
    struct bytes data = bytes_of(bytes, PIECE_BYTES);
    struct sleeper sleeper;
    size_t count;

    memset(bytes, (int)random_below(256), sizeof bytes);
    sleeper_init(&sleeper);
    while (data.len > 0) {
        size_t taken = 0;

        if (stage_write(stage, data, sleeper_arm(&sleeper), &taken) == STORE_WAIT)
            sleeper_wait(&sleeper);
        data = bytes_from(data, taken);
    }
    while (stage_finish(stage, sleeper_arm(&sleeper)) == STORE_WAIT)
        sleeper_wait(&sleeper);
    sleeper_release(&sleeper);
    *ret_piece = stage_pieces(stage, &count)[0];
    assert_int_equal(count, 1);
    return stage;
}

static void change_record(struct read_view *before, struct changes *changes,
                          struct stage **ret_stage)
{
    enum record_family family = random_below(3) == 0 ? RECORD_LISTED : RECORD_INNER;
    struct bytes key = key_of(random_below(KEYS));
    struct record record;
    struct piece piece;

    *ret_stage = NULL;
    if (!read_view_get(before, family, key, w.arena, &record)) {
        changes_release(changes, record.pieces, record.piece_count);
        changes_delete(changes, family, key);
    }
    if (random_below(3) == 0)
        return;
    if (random_below(2) == 0)
        *ret_stage = new_piece(&piece);
    changes_put(changes, family, key, key_of(random_below(100)), &piece, *ret_stage ? 1 : 0);
}

/* One commit to any partition. */
static void change(void)
{
    const struct partition at = { w.space, key_of(random_below(PARTITIONS)) };
    struct read_view *before = read_view_open(w.from, at, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(w.arena);
    struct stage *stage;
    uint64_t sequence;

    change_record(before, changes, &stage);
    if (random_below(2) == 0)
        changes_index_put(changes, key_of(random_below(KEYS)), key_of(random_below(100)));
    else
        changes_index_delete(changes, key_of(random_below(KEYS)));
    changes_count(changes, key_of(random_below(3)), (int64_t)random_below(100) - 30);
    if (random_below(4) == 0) {
        changes_defer(changes, INSTANT_MAX - 1, TASK_KIND, bytes_of(NULL, 0));
        w.tasks++;
    }
    assert_int_equal(store_commit(w.from, &(struct commit_part){ before, changes }, 1,
                                  clock_above(read_view_instant(before)), STORE_MAY_BLOCK,
                                  &sequence),
                     STORE_OK);
    read_view_close(before);
    if (stage)
        stage_close(stage);
}

/* ---- copying ---- */

static bool send_batch(struct restoring *restoring, struct bytes batch)
{
    (void)restoring;
    if (!restore_put(w.restore, batch))
        fail_msg("%s", w.restore->problem);
    for (unsigned i = 0; i < w.changes_at_batch; i++)
        change();
    return true;
}

static enum store_result copy(struct archive *archive,
                              enum store_result (*read)(struct restoring *, struct guid))
{
    struct restoring restoring = {
        .archive = archive, .service = &blob_service, .account = BYTES("acme"), .send = send_batch
    };

    return read(&restoring, w.space);
}

/* ---- comparing ---- */

static void compare_records(struct partition from, struct partition to, enum record_family family,
                            struct bytes key)
{
    struct read_view *a = read_view_open(w.from, from, STORE_MAY_BLOCK);
    struct read_view *b = read_view_open(w.to, to, STORE_MAY_BLOCK);
    struct record record, copied;
    enum store_result result = read_view_get(a, family, key, w.arena, &record);

    assert_int_equal(read_view_get(b, family, key, w.arena, &copied), result);
    if (!result) {
        assert_true(bytes_equal(record.value, copied.value));
        assert_int_equal(record.piece_count, copied.piece_count);
    }
    for (size_t i = 0; !result && i < record.piece_count; i++) {
        char left, right;

        assert_int_equal(record.pieces[i].length, copied.pieces[i].length);
        assert_int_equal(piece_read(w.from, &record.pieces[i], 9, 1, &left, NULL), STORE_OK);
        assert_int_equal(piece_read(w.to, &copied.pieces[i], 9, 1, &right, NULL), STORE_OK);
        assert_int_equal(left, right);
    }
    read_view_close(b);
    read_view_close(a);
}

static void compare_indexes(void)
{
    const struct bytes all = BYTES("");
    struct index_iterator *a = index_iterator_open(w.from, w.space, all, all, all, STORE_MAY_BLOCK);
    struct index_iterator *b =
        index_iterator_open(w.to, w.restore->space, all, all, all, STORE_MAY_BLOCK);
    struct index_record record, copied;
    enum store_result result;

    do {
        result = index_iterator_next(a, &record);
        assert_int_equal(index_iterator_next(b, &copied), result);
        if (!result) {
            assert_true(bytes_equal(record.key, copied.key));
            assert_true(bytes_equal(record.partition_key, copied.partition_key));
            assert_true(bytes_equal(record.value, copied.value));
        }
    } while (!result);
    assert_int_equal(result, STORE_NOT_FOUND);
    index_iterator_close(b);
    index_iterator_close(a);
}

static void compare(void)
{
    struct store_usage from, to;

    for (unsigned i = 0; i < PARTITIONS; i++)
        for (unsigned k = 0; k < KEYS; k++)
            for (int family = 0; family < 2; family++)
                compare_records((struct partition){ w.space, key_of(i) },
                                (struct partition){ w.restore->space, key_of(i) },
                                family == 0 ? RECORD_LISTED : RECORD_INNER, key_of(k));
    compare_indexes();
    for (unsigned i = 0; i < 3; i++) {
        int64_t sum, copied;
        uint64_t sequence;

        assert_int_equal(store_count(w.from, w.space, key_of(i), STORE_MAY_BLOCK, &sum, &sequence),
                         STORE_OK);
        assert_int_equal(
            store_count(w.to, w.restore->space, key_of(i), STORE_MAY_BLOCK, &copied, &sequence),
            STORE_OK);
        assert_int_equal(sum, copied);
    }
    store_collect_now(w.from, &from);
    store_collect_now(w.to, &to);
    assert_int_equal(from.piece_bytes, to.piece_bytes);
}

static unsigned count_tasks(void)
{
    struct deferred_task task, before;
    const struct deferred_task *after = NULL;
    unsigned count = 0;

    while (!store_task_peek(w.to, after, w.arena, &task)) {
        before = task;
        after = &before;
        if (task.kind == TASK_KIND && guid_equal(&task.partition.space, &w.restore->space))
            count++;
    }
    return count;
}

/* Rule: whenever a commit is made, it is in the copy once nothing changes any more. decision: 1130 */
static void has_what_changes_meanwhile(void **state)
{
    (void)state;
    for (unsigned n = 0; n < COPIES; n++) {
        struct archive *archive = archive_of(w.from);

        for (unsigned i = 0; i < CHANGES_BEGIN; i++)
            change();
        assert_true(
            restore_begin(&w.endpoint, bytes_from_string("acme"), key_of(n), false, &w.restore));
        assert_true(archive_watch(archive, w.space));
        w.changes_at_batch = 10;
        assert_int_equal(copy(archive, restoring_read_space), STORE_OK);
        for (unsigned i = 0; i < ROUNDS; i++)
            assert_int_equal(copy(archive, restoring_read_changes), STORE_OK);
        w.changes_at_batch = 0;
        assert_int_equal(copy(archive, restoring_read_changes), STORE_OK);
        compare();
        assert_true(count_tasks() >= w.tasks);
        archive_close(archive);
        restore_free(w.restore, false);
    }
}

/* Rule: one space at a time is watched, and nothing of others is remembered. */
static void watches_one_space(void **state)
{
    struct archive *archive = archive_of(w.from), *other = archive_of(w.from);
    struct archive_change *changes;
    size_t count;

    (void)state;
    assert_true(archive_watch(archive, guid_new()));
    assert_false(archive_watch(other, w.space));
    for (unsigned i = 0; i < 20; i++)
        change();
    assert_int_equal(archive_take_changes(archive, w.arena, &changes, &count), STORE_OK);
    assert_int_equal(count, 0);
    archive_close(archive);
    assert_true(archive_watch(other, w.space));
    change();
    assert_int_equal(archive_take_changes(other, w.arena, &changes, &count), STORE_OK);
    assert_true(count > 0);
    archive_close(other);
}

/* Rule: too many changes are noticed before they are lost, and then it is said that they are. */
static void too_many_changes_are_noticed(void **state)
{
    enum { KEY = 8000, AT_ONCE = 500, COMMITS = 20 };
    const struct partition at = { w.space, BYTES("p") };
    struct archive *archive = archive_of(w.from);
    struct archive_change *changes;
    bool many = false;
    size_t count;

    (void)state;
    assert_true(archive_watch(archive, w.space));
    for (unsigned i = 0; i < COMMITS; i++) {
        struct read_view *before = read_view_open(w.from, at, STORE_MAY_BLOCK);
        struct changes *commit = changes_new(w.arena);
        char *key = arena_bytes(w.arena, KEY);
        uint64_t sequence;

        memset(key, 'k', KEY);
        for (unsigned k = 0; k < AT_ONCE; k++) {
            memcpy(key, &(unsigned){ i * AT_ONCE + k }, sizeof(unsigned));
            changes_put(commit, RECORD_INNER, bytes_of(key, KEY), bytes_of("", 0), NULL, 0);
        }
        assert_int_equal(store_commit(w.from, &(struct commit_part){ before, commit }, 1,
                                      clock_above(read_view_instant(before)), STORE_MAY_BLOCK,
                                      &sequence),
                         STORE_OK);
        read_view_close(before);
        assert_true(!many || archive_has_many_changes(archive));
        many = archive_has_many_changes(archive);
        assert_int_equal(many, (i + 1) * AT_ONCE * (size_t)KEY > (size_t)32 << 20);
    }
    assert_int_equal(archive_take_changes(archive, w.arena, &changes, &count), STORE_FULL);
    assert_int_equal(count, 0);
    archive_close(archive);
}

static bool count_one(void *context, enum record_family family, const struct record *record)
{
    (void)family;
    (void)record;
    ++*(unsigned *)context;
    return false;
}

/* Otherwise a container that was deleted and created again a moment before the backup, which has a
 * record of each family, was not found in it. store/archive.h */
static void reading_stops_before_the_second_family(void **state)
{
    const struct partition at = { w.space, key_of(0) };
    struct read_view *before = read_view_open(w.from, at, STORE_MAY_BLOCK);
    struct archive *archive = archive_of(w.from);
    struct changes *commit = changes_new(w.arena);
    unsigned count = 0;
    uint64_t sequence;

    (void)state;
    changes_put(commit, RECORD_LISTED, key_of(1), bytes_of("", 0), NULL, 0);
    changes_put(commit, RECORD_INNER, key_of(2), bytes_of("", 0), NULL, 0);
    assert_int_equal(store_commit(w.from, &(struct commit_part){ before, commit }, 1,
                                  clock_above(read_view_instant(before)), STORE_MAY_BLOCK,
                                  &sequence),
                     STORE_OK);
    read_view_close(before);
    archive_select(archive, at);
    assert_int_equal(archive_records(archive, count_one, &count), STORE_OK);
    assert_int_equal(count, 1);
    archive_close(archive);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(has_what_changes_meanwhile, set_up, tear_down),
        cmocka_unit_test_setup_teardown(watches_one_space, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_many_changes_are_noticed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reading_stops_before_the_second_family, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
