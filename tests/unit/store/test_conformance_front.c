/* Scans from the front of a partition that is consumed there see what other scans see, in new
 * states and in old ones, whatever is put before, into and behind what was read before. store.h,
 * store/embedded/front_cache.h */
#include "conformance.h"

#define ROUNDS     600
#define OLD_STATES 3
#define KEYS       400 /* ahead of the front, where records are put */

static const struct bytes prefix = BYTES("o");

struct front_test {
    struct fixture *f;
    struct random random;
    uint64_t low; /* every record below it was deleted */
    struct read_view *old[OLD_STATES];
};

static struct bytes numbered(struct front_test *t, uint64_t number)
{
    return arena_printf(t->f->arena, "o%08llu", (unsigned long long)number);
}

/* Some longer than what is kept in memory. */
static struct bytes some_value(struct front_test *t)
{
    static const char letters[600] = { 'x' };
    uint64_t length = random_below(&t->random, 150) == 0 ? 400 : 8;

    return arena_copy(t->f->arena, bytes_of(letters, length + random_below(&t->random, 90)));
}

static void expect_same(struct front_test *t, struct read_view *snapshot, uint64_t from,
                        uint64_t most)
{
    struct bytes first = numbered(t, from);
    struct scan *front = scan_open_front(snapshot, RECORD_INNER, prefix, first);
    struct scan *plain = scan_open(snapshot, RECORD_INNER, prefix, first);

    for (uint64_t i = 0; i < most; i++) {
        struct record found, expected;
        enum store_result result = scan_next(plain, NULL, &expected);

        assert_int_equal(scan_next(front, NULL, &found), result);
        if (result)
            break;
        assert_true(bytes_equal(found.key, expected.key));
        assert_true(bytes_equal(found.value, expected.value));
    }
    scan_close(front);
    scan_close(plain);
}

static void expect_record(struct front_test *t, struct read_view *snapshot, struct bytes key)
{
    struct scan *plain = scan_open(snapshot, RECORD_INNER, key, key);
    struct record found, expected;
    enum store_result result = scan_next(plain, NULL, &expected);

    assert_int_equal(read_view_get(snapshot, RECORD_INNER, key, t->f->arena, &found), result);
    if (!result)
        assert_true(bytes_equal(found.value, expected.value));
    scan_close(plain);
}

static void look(struct front_test *t, struct read_view *snapshot)
{
    expect_same(t, snapshot, t->low, 1 + random_below(&t->random, 90));
    expect_same(t, snapshot, t->low + random_below(&t->random, KEYS), 3);
    for (unsigned i = 0; i < 4; i++)
        expect_record(t, snapshot, numbered(t, t->low + random_below(&t->random, KEYS)));
}

/* Deletes the first few records, puts and replaces some. */
static void change(struct front_test *t)
{
    struct changes *changes = changes_new(t->f->arena);
    uint64_t gone = random_below(&t->random, 30);
    uint64_t put = random_below(&t->random, random_below(&t->random, 9) == 0 ? 250 : 25);

    for (uint64_t i = 0; i < gone; i++)
        changes_delete(changes, RECORD_INNER, numbered(t, t->low + i));
    t->low += gone;
    for (uint64_t i = 0; i < put; i++) {
        uint64_t reach = random_below(&t->random, 2) == 0 ? 90 : KEYS;

        changes_put(changes, RECORD_INNER, numbered(t, t->low + random_below(&t->random, reach)),
                    some_value(t), NULL, 0);
    }
    if (random_below(&t->random, 4) == 0)
        changes_delete(changes, RECORD_INNER, numbered(t, t->low + random_below(&t->random, KEYS)));
    changes_put(changes, RECORD_INNER, bytes_from_string("w"), some_value(t), NULL, 0);
    assert_int_equal(commit_new(t->f->store, t->f->partition, changes, NULL), STORE_OK);
}

static void test_front_scans_see_what_others_see(void **state)
{
    struct front_test t = { .f = *state, .random = { 42 } };

    for (unsigned round = 0; round < ROUNDS; round++) {
        struct read_view *now = read_view_open(t.f->store, t.f->partition, STORE_MAY_BLOCK);
        struct read_view **kept = &t.old[random_below(&t.random, OLD_STATES)];
        struct arena_mark mark = arena_mark(t.f->arena);

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
    for (unsigned i = 0; i < OLD_STATES; i++)
        if (t.old[i])
            read_view_close(t.old[i]);
}

static const struct conformance_test tests[] = {
    TEST(test_front_scans_see_what_others_see, EVERY_STORE),
};

int main(void)
{
    return conformance_run("front", tests, sizeof tests / sizeof tests[0]);
}
