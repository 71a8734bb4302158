/* A get that reads ahead finds what any other get does, in new states and in old ones, whatever was
 * put, replaced or deleted since others read ahead. store.h, store/embedded/piece_read.h */
#include <stdlib.h>

#include "conformance.h"

#define ROUNDS       800
#define OLD_STATES   3
#define KEYS         600u
#define REOPEN_EVERY 100
/* So that most records lie in files. */
#define SMALL_BYTES  "32768"

static const struct bytes prefix = BYTES("m");

struct ahead_test {
    struct fixture *f;
    struct random random;
    struct read_view *old[OLD_STATES];
};

static struct bytes some_key(struct ahead_test *t)
{
    return arena_printf(t->f->arena, "m%05u", (unsigned)random_below(&t->random, KEYS));
}

/* Some longer than what is kept in memory. */
static struct bytes some_value(struct ahead_test *t)
{
    static const char letters[3000] = { 'x' };
    uint64_t length = random_below(&t->random, 40) == 0 ? 2100 : 200;

    return arena_copy(t->f->arena, bytes_of(letters, length + random_below(&t->random, 700)));
}

/* As the store's callers do: first what is in memory, then what has to be waited for. */
static enum store_result get_ahead(struct ahead_test *t, struct read_view *snapshot,
                                   struct bytes key, struct record *ret_record)
{
    enum store_result result;

    read_view_set_access(snapshot, STORE_NO_WAIT);
    result = read_view_get_ahead(snapshot, RECORD_INNER, prefix, key, t->f->arena, ret_record);
    read_view_set_access(snapshot, STORE_MAY_BLOCK);
    if (result != STORE_WAIT)
        return result;
    return read_view_get_ahead(snapshot, RECORD_INNER, prefix, key, t->f->arena, ret_record);
}

static void look(struct ahead_test *t, struct read_view *snapshot)
{
    for (unsigned i = 0; i < 6; i++) {
        struct bytes key = some_key(t);
        struct scan *scan = scan_open(snapshot, RECORD_INNER, key, key);
        struct record found, expected;
        enum store_result result = scan_next(scan, NULL, &expected);

        assert_int_equal(get_ahead(t, snapshot, key, &found), result);
        if (!result) {
            assert_true(bytes_equal(found.key, key));
            assert_true(bytes_equal(found.value, expected.value));
        }
        scan_close(scan);
    }
}

/* Long runs are deleted now and then: a reader does not step over all of them. */
static void change(struct ahead_test *t)
{
    struct changes *changes = changes_new(t->f->arena);
    unsigned gone = random_below(&t->random, 20) == 0 ? 300 : 2;
    unsigned first = (unsigned)random_below(&t->random, KEYS);

    for (unsigned i = 0; i < gone; i++)
        changes_delete(changes, RECORD_INNER, arena_printf(t->f->arena, "m%05u", first + i));
    for (unsigned i = 0; i < 12; i++)
        changes_put(changes, RECORD_INNER, some_key(t), some_value(t), NULL, 0);
    changes_put(changes, RECORD_INNER, bytes_from_string("o"), some_value(t), NULL, 0);
    assert_int_equal(commit_new(t->f->store, t->f->partition, changes, NULL), STORE_OK);
}

static void close_old(struct ahead_test *t)
{
    for (unsigned i = 0; i < OLD_STATES; i++) {
        if (t->old[i])
            read_view_close(t->old[i]);
        t->old[i] = NULL;
    }
}

static void reading_ahead_finds_what_is_there(void **state)
{
    struct ahead_test t = { .f = *state, .random = { 7 } };

    assert_int_equal(setenv("LAGRA_WRITE_BUFFER_BYTES", SMALL_BYTES, 1), 0);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct read_view *now, **kept = &t.old[random_below(&t.random, OLD_STATES)];
        struct arena_mark mark = arena_mark(t.f->arena);

        if (round % REOPEN_EVERY == 0 && t.f->engine->on_disk) {
            close_old(&t);
            fixture_reopen(t.f);
        }
        now = read_view_open(t.f->store, t.f->partition, STORE_MAY_BLOCK);
        look(&t, now);
        if (*kept)
            look(&t, *kept);
        change(&t);
        look(&t, now); /* the same state as before */
        if (*kept)
            read_view_close(*kept);
        *kept = now;
        arena_rewind(t.f->arena, mark);
    }
    close_old(&t);
    assert_int_equal(unsetenv("LAGRA_WRITE_BUFFER_BYTES"), 0);
}

static const struct conformance_test tests[] = {
    TEST(reading_ahead_finds_what_is_there, EVERY_STORE),
};

int main(void)
{
    return conformance_run("ahead", tests, sizeof tests / sizeof tests[0]);
}
