/* See decider.h. */
#include "decider.h"

#include <assert.h>

#include "base/sleeper.h"

int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->live = live_new((struct fake_options){ .seed = 5 });
    f->store = live_open(live_port(f->live), 0);
    f->arena = arena_new(256u << 20);
    f->space = guid_new();
    *state = f;
    return 0;
}

static struct store_access access_of(const struct decider *d)
{
    return (struct store_access){ .shows_pending = true, .fetches = d->set };
}

void wait_for(struct fetch_set *set)
{
    struct sleeper sleeper;

    sleeper_init(&sleeper);
    assert(fetch_set_wait(set, sleeper_arm(&sleeper)));
    sleeper_wait(&sleeper);
    sleeper_release(&sleeper);
}

static void see(struct decider *d, uint64_t sequence)
{
    if (sequence > d->seen)
        d->seen = sequence;
}

void decider_init(struct decider *d, struct guid space, struct store *store)
{
    *d = (struct decider){ .store = store,
                           .set = fetch_set_open(store),
                           .partition = { space, B("p") },
                           .arena = arena_new(64u << 20) };
}

void decider_release(struct decider *d)
{
    if (d->snapshot)
        snapshot_close(d->snapshot);
    fetch_set_close(d->set);
    arena_free(d->arena);
}

struct decider *decider_new(struct fixture *f, struct store *store)
{
    struct decider *d = calloc(1, sizeof *d);

    decider_init(d, f->space, store);
    d->next = f->deciders;
    f->deciders = d;
    return d;
}

int tear_down(void **state)
{
    struct fixture *f = *state;

    live_set_pause(f->live, 0);
    live_hold(f->live, false);
    live_set_full(f->live, false);
    while (f->deciders) {
        struct decider *d = f->deciders;

        f->deciders = d->next;
        decider_release(d);
        free(d);
    }
    if (f->other)
        snapshot_close(f->other);
    if (f->faster)
        store_close(f->faster);
    store_close(f->store);
    live_free(f->live);
    arena_free(f->arena);
    free(f);
    return 0;
}

enum store_result begin_read(struct decider *d)
{
    enum store_result result;
    struct record record;

    if (d->snapshot)
        snapshot_close(d->snapshot);
    fetch_set_begin(d->set);
    d->seen = d->value = 0;
    d->snapshot = snapshot_open(d->store, d->partition, access_of(d));
    snapshot_show_pending(d->snapshot);
    see(d, snapshot_sequence(d->snapshot));
    result = snapshot_get(d->snapshot, RECORD_INNER, B("n"), d->arena, &record);
    if (result == STORE_OK)
        assert(bytes_parse_u64(record.value, UINT32_MAX, &d->value));
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

enum store_result read_number(struct decider *d)
{
    enum store_result result;

    while ((result = begin_read(d)) == STORE_WAIT)
        wait_for(d->set);
    return result;
}

enum store_result add_one(struct decider *d, struct snapshot *other)
{
    struct changes *changes = changes_new(d->arena), *more = changes_new(d->arena);
    struct commit_part parts[2] = { { d->snapshot, changes } };
    uint64_t sequence = 0;
    enum store_result result;

    changes_put(changes, RECORD_INNER, B("n"),
                arena_printf(d->arena, "%llu", (unsigned long long)d->value + 1), NULL, 0);
    changes_count(changes, B("added"), 1);
    if (d->grows)
        changes_put(changes, RECORD_LISTED, B("more"), B("more"), NULL, 0);
    if (other) {
        parts[1] = (struct commit_part){ other, more };
        changes_put(more, RECORD_INNER, B("n"), B("1"), NULL, 0);
    }
    for (;;) {
        instant above = snapshot_instant(d->snapshot);

        result = store_commit(d->store, parts, other ? 2 : 1, clock_above(above) + d->ahead,
                              access_of(d), &sequence);
        if (result != STORE_WAIT)
            break;
        wait_for(d->set);
    }
    if (!result)
        see(d, sequence);
    return result;
}

enum store_result decide(struct decider *d)
{
    enum store_result result = read_number(d);

    if (!result)
        result = add_one(d, NULL);
    snapshot_close(d->snapshot);
    d->snapshot = NULL;
    return result;
}

uint64_t number_of(struct fixture *f)
{
    struct snapshot *snapshot =
        snapshot_open(f->store, (struct partition){ f->space, B("p") }, STORE_MAY_BLOCK);
    struct record record;
    uint64_t value = 0;

    if (snapshot_get(snapshot, RECORD_INNER, B("n"), f->arena, &record) == STORE_OK)
        assert_true(bytes_parse_u64(record.value, UINT32_MAX, &value));
    snapshot_close(snapshot);
    return value;
}

void make_busy(struct fixture *f)
{
    struct decider *first = decider_new(f, f->store), *second = decider_new(f, f->store);
    enum store_result result;

    assert_int_equal(read_number(first), STORE_OK);
    assert_int_equal(read_number(second), STORE_OK);
    assert_int_equal(add_one(first, NULL), STORE_OK);
    result = add_one(second, NULL);
    assert_int_equal(store_await(f->store, first->seen), STORE_OK);
    if (!result)
        result = store_await(f->store, second->seen);
    assert_int_equal(result, STORE_CONFLICT);
    assert_int_equal(number_of(f), 1);
}

struct snapshot *open_other(struct fixture *f)
{
    f->other = snapshot_open(f->store, (struct partition){ f->space, B("other") }, STORE_MAY_BLOCK);
    assert_int_equal(snapshot_hold(f->other), STORE_OK);
    return f->other;
}
