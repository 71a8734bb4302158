/* Stores on disk when the disk fails or is full: a failure is final, nothing that is not durable is
 * acknowledged, and a full disk changes nothing. store invariant 6
 *
 * This program has its own fsync() and fdatasync(), which the store's library and its record engine
 * call instead of libc's, so that a test can make them fail. */
#include "conformance_child.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MIB (1u << 20)

static atomic_bool syncs_fail;
static atomic_uint syncs_failed;

static int sync_or_fail(long call, int fd)
{
    if (!atomic_load(&syncs_fail))
        return (int)syscall(call, fd);
    atomic_fetch_add(&syncs_failed, 1);
    errno = EIO;
    return -1;
}

int fsync(int fd)
{
    return sync_or_fail(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return sync_or_fail(SYS_fdatasync, fd);
}

/* The store takes no more commits and no more pieces. */
static void assert_stopped(struct fixture *f)
{
    struct changes *changes = changes_new(f->arena);
    struct stage *stage;

    assert_false(store_healthy(f->store));
    changes_put(changes, RECORD_LISTED, bytes_from_string("after"), bytes_from_string("x"), NULL,
                0);
    assert_int_equal(commit_new(f->store, f->partition, changes, NULL), STORE_IO);
    assert_int_equal(commit_new(f->store, partition_of(guid_new(), "any"), changes, NULL),
                     STORE_IO);
    assert_int_equal(stage_pattern(f->store, 200000, 1, 100000, &stage), STORE_IO);
    stage_close(stage);
}

/* Rule: when the log cannot be synced, waiters are woken, the sequence never becomes durable, and
 * the store stops for good, also when the disk works again. */
static void failed_sync_of_the_log_is_final(void **state)
{
    struct fixture *f = *state;
    struct changes *changes = changes_new(f->arena);
    uint64_t before = put_text(f->store, f->partition, "k", "before");
    uint64_t lost = 0;
    enum store_result result;

    wait_durable(f->store, before);
    atomic_store(&syncs_fail, true);
    changes_put(changes, RECORD_LISTED, bytes_from_string("lost"), bytes_from_string("x"), NULL, 0);
    result = commit_new(f->store, f->partition, changes, &lost);
    assert_true(result == STORE_OK || result == STORE_IO);
    if (result == STORE_OK) {
        wait_durable(f->store, lost);
        assert_int_not_equal(store_durable(f->store, lost), STORE_OK);
    }
    assert_true(atomic_load(&syncs_failed) > 0);
    assert_stopped(f);

    atomic_store(&syncs_fail, false);
    assert_stopped(f);
    if (result == STORE_OK)
        assert_int_not_equal(store_durable(f->store, lost), STORE_OK);
    assert_int_equal(store_durable(f->store, before), STORE_OK);
    assert_string_equal(get_now(f->store, f->partition, f->arena, "k"), "before");
    fixture_reopen(f);
    assert_string_equal(get_now(f->store, f->partition, f->arena, "k"), "before");
    put_text(f->store, f->partition, "k", "again");
}

/* Rule: pieces that could not be synced are not given to a commit; the store stops for good. */
static void failed_sync_of_pieces_is_final(void **state)
{
    struct fixture *f = *state;
    uint64_t before = put_stream(f->store, f->partition, "s", 2 * MIB, 2);
    struct read_view *snapshot;
    struct stage *stage;

    wait_durable(f->store, before);
    atomic_store(&syncs_fail, true);
    assert_int_equal(stage_pattern(f->store, 3 * MIB, 1, 100000, &stage), STORE_IO);
    stage_close(stage);
    atomic_store(&syncs_fail, false);
    assert_stopped(f);
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_true(stream_matches(f->store, snapshot, "s", 2 * MIB, 2)); /* what is there is read */
    read_view_close(snapshot);
    fixture_reopen(f);
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_true(stream_matches(f->store, snapshot, "s", 2 * MIB, 2));
    read_view_close(snapshot);
    assert_int_equal(usage_now(f->store).piece_bytes, 2 * MIB);
}

/* A child whose files may not grow past 1 MiB: commits until one fails; tells the number of each
 * that is acknowledged. */
static void commit_until_failure(struct fixture *f, int to_parent)
{
    const struct rlimit limit = { MIB, MIB };

    child_open(f);
    if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR || setrlimit(RLIMIT_FSIZE, &limit) != 0)
        abort();
    for (uint64_t i = 1; store_healthy(f->store); i++) {
        struct arena *arena = arena_new(1u << 20);
        struct changes *changes = changes_new(arena);
        char *value = arena_bytes(arena, 20000);
        uint64_t sequence = 0;

        pattern_fill(value, 20000, i, 0); /* it does not compress */
        changes_put(changes, RECORD_LISTED, arena_printf(arena, "%u", (unsigned)i),
                    bytes_of(value, 20000), NULL, 0);
        if (commit_new(f->store, f->partition, changes, &sequence) == STORE_OK) {
            wait_durable(f->store, sequence);
            if (store_durable(f->store, sequence) == STORE_OK)
                child_tell(to_parent, i);
        }
        arena_free(arena);
    }
}

/* Rule: a write of the log that fails is final too, and takes nothing acknowledged with it. */
static void failed_write_of_the_log_is_final(void **state)
{
    struct fixture *f = *state;
    uint64_t acknowledged = 0, heard;
    struct read_view *snapshot;
    struct record record;
    int from_child;
    pid_t child = child_start(f, "commit_until_failure", &from_child);

    while (child_hear(from_child, &heard) && heard < 1000)
        acknowledged = heard;
    assert_true(child_end(child, from_child));
    assert_true(acknowledged > 5);
    fixture_reopen(f);
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    for (uint64_t i = 1; i <= acknowledged; i++) {
        assert_int_equal(read_view_get(snapshot, RECORD_LISTED,
                                       arena_printf(f->arena, "%u", (unsigned)i), f->arena,
                                       &record),
                         STORE_OK);
        assert_int_equal(record.value.len, 20000);
        assert_true(pattern_matches(record.value.ptr, 20000, i, 0));
    }
    read_view_close(snapshot);
}

/* Rule: when there is no room for pieces, STORE_FULL, and nothing was changed; when there is room
 * again, it is used. store.h, STORE_FULL */
static void full_disk_changes_nothing(void **state)
{
    struct fixture *f = *state;
    struct read_view *snapshot;
    struct stage *stage;
    enum store_result result;
    bool went_on = false;

    store_close(f->store);
    f->store = NULL;
    if (mount("lagra-test", f->folder, "tmpfs", 0, "size=64m") != 0) {
        print_message("a file system of 64 MiB cannot be mounted here: %s\n", strerror(errno));
        skip();
    }
    fixture_reopen(f);
    put_stream(f->store, f->partition, "s", 8 * MIB, 2);
    result = stage_pattern(f->store, 96 * MIB, 1, 300000, &stage);
    stage_close(stage);
    (void)usage_now(f->store);
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    if (result == STORE_FULL && store_healthy(f->store) &&
        stream_matches(f->store, snapshot, "s", 8 * MIB, 2)) {
        put_stream(f->store, f->partition, "t", 8 * MIB, 4);
        put_text(f->store, f->partition, "k", "goes on");
        went_on = store_healthy(f->store);
    }
    read_view_close(snapshot);
    store_close(f->store);
    f->store = NULL;
    assert_int_equal(umount(f->folder), 0);
    assert_int_equal(result, STORE_FULL);
    assert_true(went_on);
}

int main(int argc, char **argv)
{
    static const struct conformance_child children[] = { CHILD(commit_until_failure) };
    static const struct conformance_test tests[] = {
        TEST(failed_sync_of_the_log_is_final, STORES_ON_DISK),
        TEST(failed_sync_of_pieces_is_final, STORES_ON_DISK),
        TEST(failed_write_of_the_log_is_final, STORES_ON_DISK),
        TEST(full_disk_changes_nothing, STORES_ON_DISK),
    };

    child_main(argc, argv, children, sizeof children / sizeof children[0]);
    return conformance_run("disk", tests, sizeof tests / sizeof tests[0]);
}
