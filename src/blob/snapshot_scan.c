/* See snapshot_scan.h. */
#include "blob/snapshot_scan.h"

#include "service/small_record.h"

/* Records examined in one call of snapshots_collect(). */
#define LOOKED_AT_MAX 1024u
#define ON_WORKER_MAX 64u

enum store_result snapshot_next(struct scan *scan, struct arena *arena,
                                const struct snapshot_marks *marks, struct blob *ret_snapshot)
{
    struct record record;
    enum store_result result;

    do {
        result = scan_next(scan, arena, &record);
        if (result)
            return result;
        if (!blob_decode(record.value, ret_snapshot))
            return record_is_unknown("a snapshot's record", record.value);
    } while (!snapshot_marks_apply(marks, ret_snapshot));
    return STORE_OK;
}

static bool is_too_much_for_worker(const struct decision *d, unsigned looked_at)
{
    return !d->access.may_block && looked_at > ON_WORKER_MAX;
}

/* Returns the date at which a scan of existing snapshots begins: after those that a mark
 * deleted. */
static instant first_of(const struct snapshot_marks *marks)
{
    bool ends = marks->count > 0 && marks->items[0].kind == MARK_GONE;

    return ends ? marks->items[0].until + 1 : 0;
}

enum store_result snapshots_find(struct decision *d, const struct snapshot_marks *marks,
                                 snapshot_test *test, const void *context, bool *ret_found)
{
    struct arena *arena = arena_new(1 << 20);
    struct arena_mark empty = arena_mark(arena);
    struct scan *scan = blob_scan_snapshots(d->before, first_of(marks));
    enum store_result result = STORE_OK;
    struct blob snapshot;

    *ret_found = false;
    for (unsigned looked_at = 0; !result && !*ret_found; looked_at++) {
        result = is_too_much_for_worker(d, looked_at)
                     ? STORE_WAIT
                     : snapshot_next(scan, arena, marks, &snapshot);
        if (!result)
            *ret_found = test(&snapshot, context);
        arena_rewind(arena, empty);
    }
    scan_close(scan);
    arena_free(arena);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

static bool is_other_version(const struct blob *snapshot, const void *except)
{
    return snapshot->ref.kind == BLOB_VERSION && snapshot->ref.at != *(const instant *)except;
}

enum store_result versions_find(struct decision *d, instant except, bool *ret_found)
{
    struct snapshot_marks marks;
    enum store_result result = snapshot_marks_read(d->before, d->arena, &marks);

    return result ? result : snapshots_find(d, &marks, is_other_version, &except, ret_found);
}

enum store_result snapshots_collect(struct decision *d, const struct snapshot_mark *mark,
                                    size_t max, struct some_snapshots *ret_some)
{
    struct scan *scan = blob_scan_snapshots(d->before, mark->from);
    enum store_result result = STORE_OK;
    struct record record;
    struct blob snapshot;

    ret_some->count = 0;
    ret_some->next = 0;
    for (unsigned looked_at = 0; !result; looked_at++) {
        result =
            is_too_much_for_worker(d, looked_at) ? STORE_WAIT : scan_next(scan, d->arena, &record);
        if (result)
            break;
        if (!blob_decode(record.value, &snapshot)) {
            result = record_is_unknown("a snapshot's record", record.value);
        } else if (snapshot.ref.at > mark->until) {
            break;
        } else if (snapshot_mark_apply(mark, &snapshot) == MARK_LEAVES_IT) {
            ret_some->next = looked_at == LOOKED_AT_MAX ? snapshot.ref.at : 0;
        } else if (ret_some->count == max) {
            ret_some->next = snapshot.ref.at;
        } else {
            ret_some->items[ret_some->count++] = snapshot;
        }
        if (ret_some->next > 0)
            break;
    }
    scan_close(scan);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}
