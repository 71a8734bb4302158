/* Snapshots: a view each, from their first read on. */
#include <assert.h>
#include <stdlib.h>

#include "base/crc.h"
#include "store/rados/rados_private.h"
#include "store/record_key.h"

void rados_raise(_Atomic uint64_t *value, uint64_t to)
{
    uint64_t seen = atomic_load(value);

    while (seen < to && !atomic_compare_exchange_weak(value, &seen, to))
        ;
}

void rados_raise_newest(struct rados_stripe *stripe, instant now)
{
    uint64_t seen = atomic_load(&stripe->newest);

    while (!atomic_compare_exchange_weak(&stripe->newest, &seen, now > seen ? now : seen + 1))
        continue;
}

static void add_open(struct rados *rados, struct rados_snapshot *snapshot)
{
    lock_take(&rados->lock);
    snapshot->opened = clock_now();
    snapshot->older = rados->newest;
    if (rados->newest)
        rados->newest->newer = snapshot;
    else
        rados->oldest = snapshot;
    rados->newest = snapshot;
    lock_give(&rados->lock);
}

static void remove_open(struct rados *rados, struct rados_snapshot *snapshot)
{
    lock_take(&rados->lock);
    *(snapshot->older ? &snapshot->older->newer : &rados->oldest) = snapshot->newer;
    *(snapshot->newer ? &snapshot->newer->older : &rados->newest) = snapshot->older;
    lock_give(&rados->lock);
}

instant rados_oldest_opened(struct rados *rados)
{
    instant opened;

    lock_take(&rados->lock);
    opened = rados->oldest ? rados->oldest->opened : INSTANT_MAX;
    lock_give(&rados->lock);
    return opened;
}

struct snapshot *rados_snapshot_open(struct store *base, struct partition partition)
{
    struct rados *rados = rados_of(base);
    struct rados_snapshot *snapshot;
    struct key key;

    key_init(&key);
    key_set_partition(&key, RECORD_LISTED, partition);
    snapshot = xcalloc(1, sizeof *snapshot + key.len + partition.key.len);
    memcpy(snapshot->room, key.ptr, key.len);
    if (partition.key.len > 0)
        memcpy(snapshot->room + key.len, partition.key.ptr, partition.key.len);
    snapshot->base.store = base;
    snapshot->base.space = partition.space;
    snapshot->base.prefix = bytes_of(snapshot->room, key.len);
    snapshot->partition = (struct partition){ partition.space, bytes_of(snapshot->room + key.len,
                                                                        partition.key.len) };
    snapshot->stripe = &rados->stripes[crc32c(0, snapshot->room + 1, key.len - 1) % RADOS_STRIPES];
    snapshot->base.sequence = rados_newest_sequence(rados);
    snapshot->base.newest = atomic_load(&snapshot->stripe->newest);
    key_release(&key);
    add_open(rados, snapshot);
    return &snapshot->base;
}

bool rados_is_busy(const struct rados *rados, const struct rados_stripe *stripe)
{
    uint64_t until = atomic_load(&stripe->busy_until);

    return rados->is_always_busy || (until > 0 && clock_now() < until);
}

void rados_set_busy(struct rados_stripe *stripe)
{
    instant now = clock_now();

    if (atomic_load(&stripe->large_until) <= now)
        atomic_store(&stripe->busy_until, now + RADOS_BUSY_TICKS);
}

void rados_snapshot_show_pending(struct snapshot *base)
{
    struct rados_snapshot *snapshot = rados_snapshot_of(base);
    struct rados *rados = rados_of(base->store);

    assert(!snapshot->view);
    if (base->access.may_block || !base->access.fetches || !rados_is_busy(rados, snapshot->stripe))
        return;
    snapshot->view = rados_fetch_pending(rados, base->access, &snapshot->partition);
    if (!view_link(snapshot->view))
        return;
    base->sequence = view_sequence(snapshot->view);
    if (rados_fetch_is_late(base->access))
        base->sequence = outcomes_read_late(base->sequence);
    rados_raise(&snapshot->stripe->newest, view_header(snapshot->view)->version);
    base->newest = atomic_load(&snapshot->stripe->newest);
}

void rados_snapshot_close(struct snapshot *base)
{
    struct rados_snapshot *snapshot = rados_snapshot_of(base);

    remove_open(rados_of(base->store), snapshot);
    view_close(snapshot->view);
    free(snapshot);
}

/* The view, if something may be read at all. */
static struct view *view_of(struct rados_snapshot *snapshot)
{
    const struct store_access access = snapshot->base.access;

    if (!snapshot->view && rados_may_fetch(access))
        snapshot->view = (access.afresh ? rados_fetch_afresh : rados_fetch_view)(
            rados_of(snapshot->base.store), access, &snapshot->partition);
    return snapshot->view;
}

/* After a call of the view returned this: true if it is to be called again. */
static bool is_again(struct rados_snapshot *snapshot, enum store_result *result)
{
    if (*result != STORE_WAIT)
        return false;
    if (!rados_may_fetch(snapshot->base.access))
        return false;
    *result = rados_await(snapshot->base.access, view_arrival(snapshot->view));
    return *result == STORE_OK;
}

enum store_result rados_begin(struct rados_snapshot *snapshot)
{
    struct view *view = view_of(snapshot);
    enum store_result result;

    if (!view)
        return STORE_WAIT;
    do
        result = view_begin(view);
    while (is_again(snapshot, &result));
    if (result == STORE_OK) {
        rados_raise(&snapshot->stripe->newest, view_header(view)->version);
        if (!view_link(view) && rados_is_busy(rados_of(snapshot->base.store), snapshot->stripe))
            pending_seen(rados_of(snapshot->base.store)->pending, view);
    } else if (result == STORE_NOT_FOUND)
        snapshot->base.gone = view_is_gone(view);
    return result;
}

/* Another front end may have committed since it was opened, perhaps by a clock that is ahead: a decision that has
 * looked at the clock before it has read that would be older than what it decides on. */
instant rados_snapshot_instant(const struct snapshot *base)
{
    struct rados_snapshot *snapshot = rados_snapshot_of((struct snapshot *)(uintptr_t)base);
    instant newest = base->newest;

    if (rados_begin(snapshot) == STORE_OK && view_header(snapshot->view)->version > newest)
        newest = view_header(snapshot->view)->version;
    return newest;
}

/* By versions: they only rise, and the state that a commit in flight will leave has one already. */
static bool is_same(const struct view *seen, const struct view *now)
{
    if (view_is_gone(seen) || view_is_gone(now))
        return view_is_gone(seen) == view_is_gone(now);
    return view_header(now)->version <= view_header(seen)->version;
}

enum store_result rados_snapshot_confirm(struct snapshot *base, struct snapshot *now)
{
    struct rados_snapshot *snapshots[2] = { rados_snapshot_of(base), rados_snapshot_of(now) };

    for (unsigned i = 0; i < 2; i++) {
        enum store_result result = rados_begin(snapshots[i]);

        if (result && result != STORE_NOT_FOUND)
            return result;
    }
    return is_same(snapshots[0]->view, snapshots[1]->view) ? STORE_OK : STORE_CONFLICT;
}

enum store_result rados_snapshot_hold(struct snapshot *base)
{
    struct rados_snapshot *snapshot = rados_snapshot_of(base);
    enum store_result result = rados_begin(snapshot);

    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    do
        result = view_read_all(snapshot->view);
    while (is_again(snapshot, &result));
    return result;
}

enum record_family rados_family(struct bytes key)
{
    assert(key.ptr[0] == KEY_KIND_LISTED || key.ptr[0] == KEY_KIND_INNER);
    return key.ptr[0] == KEY_KIND_LISTED ? RECORD_LISTED : RECORD_INNER;
}

enum store_result rados_get(struct snapshot *base, struct bytes key, struct arena *arena,
                            struct record *ret_record)
{
    struct rados_snapshot *snapshot = rados_snapshot_of(base);
    enum store_result result = rados_begin(snapshot);

    if (result)
        return result;
    do
        result = view_get(snapshot->view, rados_family(key), bytes_from(key, base->prefix.len),
                          arena, ret_record);
    while (is_again(snapshot, &result));
    return result;
}

enum store_result rados_limb(struct rados_snapshot *snapshot, enum record_family family,
                             struct bytes key, struct arena *arena, struct view_limb **ret_limb)
{
    enum store_result result;

    do
        result = view_limb(snapshot->view, family, key, arena, ret_limb);
    while (is_again(snapshot, &result));
    return result;
}
