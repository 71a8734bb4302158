/* The list of deferred tasks: in order of time, added and removed by commits, never lost and
 * never shown before its time. store.h, "deferred tasks" */
#include "conformance.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static const struct bytes nothing = { NULL, 0 };

static uint64_t add(struct fixture *f, struct partition partition, instant due, uint32_t kind)
{
    struct changes *changes = changes_new(f->arena);
    uint64_t sequence = 0;

    changes_defer(changes, due, kind, arena_printf(f->arena, "payload %u", kind));
    assert_int_equal(commit_new(f->store, partition, changes, &sequence), STORE_OK);
    return sequence;
}

static void remove_item(struct fixture *f, const struct deferred_task *item)
{
    struct changes *changes = changes_new(f->arena);

    changes_task_done(changes, item);
    assert_int_equal(commit_new(f->store, item->partition, changes, NULL), STORE_OK);
}

/* The kinds of all items due at `now`, in order: "1 2 3". */
static const char *due_text(struct fixture *f, instant now)
{
    struct deferred_task item, after;
    struct text out;
    instant due;

    text_init(&out, f->arena, 64);
    for (const struct deferred_task *from = NULL;
         store_task_next(f->store, now, from, f->arena, &item, &due) == STORE_OK; from = &after) {
        text_printf(&out, "%s%u", out.len > 0 ? " " : "", item.kind);
        after = item;
    }
    text_add_char(&out, 0);
    return text_bytes(&out).ptr;
}

/* Rule: items come in order of time, with what they were added with, not before they are due, from
 * the list or from behind one of them, until a commit removes them. */
static void items_come_when_due(void **state)
{
    struct fixture *f = *state;
    struct partition odd = { guid_new(), BYTES("a\0b\0") };
    instant now = clock_now();
    struct deferred_task item;
    instant due;

    add(f, f->partition, now + 300, 3);
    add(f, odd, now + 100, 1);
    add(f, f->partition, now + 200, 2);
    add(f, f->partition, now + 200, 2);
    assert_int_equal(store_task_next(f->store, now + 99, NULL, f->arena, &item, &due),
                     STORE_NOT_FOUND);
    assert_true(due == now + 100);
    assert_string_equal(due_text(f, now + 100), "1");
    assert_string_equal(due_text(f, now + 299), "1 2 2");
    if (f->engine->on_disk)
        fixture_reopen(f);
    assert_int_equal(store_task_next(f->store, now + 400, NULL, f->arena, &item, &due), STORE_OK);
    assert_true(item.due == now + 100);
    assert_int_equal(item.kind, 1);
    assert_true(bytes_is(item.payload, "payload 1"));
    assert_true(guid_equal(&item.partition.space, &odd.space));
    assert_true(bytes_equal(item.partition.key, odd.key));
    remove_item(f, &item);
    assert_string_equal(due_text(f, now + 400), "2 2 3");
    while (store_task_next(f->store, now + 400, NULL, f->arena, &item, &due) == STORE_OK)
        remove_item(f, &item);
    assert_true(due == INSTANT_MAX);
    add(f, f->partition, now + 500, 5);
    if (f->engine->on_disk)
        fixture_reopen(f);
    assert_string_equal(due_text(f, now + 499), "");
    assert_string_equal(due_text(f, now + 500), "5");
}

/* Rule: looking shows all items, whenever they are due, and changes nothing: one that is added later and due before them
 * is due then, and whoever waits is woken. */
static void looking_changes_nothing(void **state)
{
    struct fixture *f = *state;
    instant now = clock_now(), due;
    struct deferred_task item, first;

    assert_int_equal(store_task_peek(f->store, NULL, f->arena, &item), STORE_NOT_FOUND);
    add(f, f->partition, now + 3600 * TICKS_PER_SECOND, 2);
    assert_int_equal(store_task_peek(f->store, NULL, f->arena, &first), STORE_OK);
    assert_int_equal(first.kind, 2);
    assert_true(bytes_is(first.payload, "payload 2"));
    assert_int_equal(store_task_peek(f->store, &first, f->arena, &item), STORE_NOT_FOUND);
    add(f, f->partition, now + 100, 1);
    assert_int_equal(store_task_next(f->store, now + 99, NULL, f->arena, &item, &due),
                     STORE_NOT_FOUND);
    assert_true(due == now + 100);
    assert_string_equal(due_text(f, now + 100), "1");
    assert_int_equal(store_task_peek(f->store, NULL, f->arena, &first), STORE_OK);
    assert_int_equal(first.kind, 1);
    assert_int_equal(store_task_peek(f->store, &first, f->arena, &item), STORE_OK);
    assert_int_equal(item.kind, 2);
}

/* Rule: what is due in the past is due now, however far the front has moved on. */
static void past_items_are_not_lost(void **state)
{
    struct fixture *f = *state;
    instant now = clock_now();
    struct deferred_task item;
    instant due;

    for (uint32_t i = 0; i < 200; i++) {
        now += 61 * TICKS_PER_SECOND;
        add(f, f->partition, now - 1000 * TICKS_PER_SECOND, i);
        assert_int_equal(store_task_next(f->store, now, NULL, f->arena, &item, &due), STORE_OK);
        assert_int_equal(item.kind, i);
        assert_true(item.due <= now);
        remove_item(f, &item);
        assert_int_equal(store_task_next(f->store, now, NULL, f->arena, &item, &due),
                         STORE_NOT_FOUND);
        if (f->engine->on_disk && i % 50 == 49) {
            add(f, f->partition, 1, 1000 + i);
            fixture_reopen(f);
            assert_int_equal(store_task_next(f->store, now, NULL, f->arena, &item, &due), STORE_OK);
            assert_int_equal(item.kind, 1000 + i);
            remove_item(f, &item);
        }
    }
}

/* Rule: an item is added and removed with its commit or not at all. store invariant 1 */
static void items_go_with_their_commit(void **state)
{
    struct fixture *f = *state;
    struct read_view *stale = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(f->arena);
    struct deferred_task item;
    uint64_t sequence;
    instant due;

    put_text(f->store, f->partition, "k", "changed");
    add(f, f->partition, 1, 1);
    assert_int_equal(store_task_next(f->store, clock_now(), NULL, f->arena, &item, &due), STORE_OK);
    changes_task_done(changes, &item);
    changes_defer(changes, 1, 2, nothing);
    assert_int_equal(store_commit(f->store, &(struct commit_part){ stale, changes }, 1, clock_now(),
                                  STORE_MAY_BLOCK, &sequence),
                     STORE_CONFLICT);
    read_view_close(stale);
    assert_string_equal(due_text(f, clock_now()), "1");
    assert_int_equal(commit_new(f->store, f->partition, changes, NULL), STORE_OK);
    assert_string_equal(due_text(f, clock_now()), "2");
}

/* Rule: items of a dropped space come too, and are discarded. */
static void items_of_a_dropped_space_are_discarded(void **state)
{
    struct fixture *f = *state;
    struct partition gone = partition_of(guid_new(), "gone");
    struct changes *drop = changes_new(f->arena), *done = changes_new(f->arena);
    struct deferred_task item;
    instant due;

    add(f, gone, 1, 1);
    changes_drop_space(drop, gone.space);
    assert_int_equal(commit_new(f->store, f->partition, drop, NULL), STORE_OK);
    assert_int_equal(store_task_next(f->store, clock_now(), NULL, f->arena, &item, &due), STORE_OK);
    changes_task_done(done, &item);
    assert_int_equal(commit_new(f->store, item.partition, done, NULL), STORE_NOT_FOUND);
    assert_int_equal(store_task_discard(f->store, &item), STORE_OK);
    assert_string_equal(due_text(f, clock_now()), "");
}

/* Rule: who waits is woken once, by what is due before the time that he knows, also when it was
 * added before he began to wait. */
static void earlier_items_wake(void **state)
{
    struct fixture *f = *state;
    instant now = clock_now();
    struct blocking_waiter blocking;
    struct deferred_task item;
    instant due;

    blocking_init(&blocking);
    add(f, f->partition, now + 1000 * TICKS_PER_SECOND, 1);
    assert_int_equal(store_task_next(f->store, now, NULL, f->arena, &item, &due), STORE_NOT_FOUND);
    store_task_wait(f->store, due, &blocking.waiter);
    add(f, f->partition, due + 1, 2);
    assert_int_equal(blocking_woken(&blocking), 0);
    add(f, f->partition, due - 1, 3);
    assert_int_equal(blocking_woken(&blocking), 1);
    assert_false(store_task_forget(f->store, &blocking.waiter));
    store_task_wait(f->store, due, &blocking.waiter); /* before he began */
    assert_int_equal(blocking_woken(&blocking), 2);
    assert_int_equal(store_task_next(f->store, now, NULL, f->arena, &item, &due), STORE_NOT_FOUND);
    store_task_wait(f->store, due, &blocking.waiter);
    assert_true(store_task_forget(f->store, &blocking.waiter));
    add(f, f->partition, 1, 4);
    assert_int_equal(blocking_woken(&blocking), 2);
    blocking_release(&blocking);
}

/* ---- racing ---- */

#define ADDERS 3
#define ITEMS  400

struct race {
    struct fixture *f;
    atomic_uint adding;
};

static void *add_many(void *argument)
{
    struct race *race = argument;
    struct fixture *f = race->f;

    for (unsigned i = 0; i < ITEMS; i++) {
        struct arena *arena = arena_new(1u << 20);
        struct changes *changes = changes_new(arena);

        /* In the past, now, and soon. */
        changes_defer(changes, clock_now() + i % 3 * 1000 - 1000, i, nothing);
        assert(commit_new(
                   f->store,
                   (struct partition){ f->partition.space, arena_printf(arena, "%p", (void *)&i) },
                   changes, NULL) == STORE_OK);
        arena_free(arena);
    }
    atomic_fetch_sub(&race->adding, 1);
    return NULL;
}

/* Rule: a runner that takes from the front while others add misses nothing and sees nothing
 * twice. */
static void none_is_lost_while_others_add(void **state)
{
    struct fixture *f = *state;
    struct race race = { .f = f, .adding = ADDERS };
    pthread_t threads[ADDERS];
    unsigned done = 0;
    bool is_last = false;

    for (int i = 0; i < ADDERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, &race), 0);
    while (!is_last) {
        struct arena *arena = arena_new(1u << 20);
        struct deferred_task item;
        instant due;
        bool over = atomic_load(&race.adding) == 0;
        enum store_result result;

        result = store_task_next(f->store, clock_now(), NULL, arena, &item, &due);
        if (result == STORE_OK) {
            remove_item(f, &item);
            done++;
        } else {
            assert_int_equal(result, STORE_NOT_FOUND);
            is_last = over && due == INSTANT_MAX;
        }
        arena_free(arena);
    }
    for (int i = 0; i < ADDERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(done, ADDERS * ITEMS);
}

int main(void)
{
    static const struct conformance_test tests[] = {
        TEST(items_come_when_due, EVERY_STORE),
        TEST(looking_changes_nothing, EVERY_STORE),
        TEST(past_items_are_not_lost, EVERY_STORE),
        TEST(items_go_with_their_commit, EVERY_STORE),
        TEST(items_of_a_dropped_space_are_discarded, EVERY_STORE),
        TEST(earlier_items_wake, EVERY_STORE),
        TEST(none_is_lost_while_others_add, EVERY_STORE),
    };

    return conformance_run("later", tests, sizeof tests / sizeof tests[0]);
}
