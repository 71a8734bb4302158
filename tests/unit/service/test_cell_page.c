/* Pages of other cells, and lists that are merged from them: service/cell_page.h, listing.h. Small cases are tried exhaustively:
 * every distribution of a few names over our own cell and two others, equal ones too, with every page size. */
#include "../request/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/cell_page.h"
#include "service/listing.h"

static const struct page_key start = { .parts = { { NULL, 0 } } };

static struct page_key key_of(const char *a, const char *b, const char *c)
{
    return (
        struct page_key){ { bytes_from_string(a), bytes_from_string(b), bytes_from_string(c) } };
}

/* ---- the text of a page ---- */

static struct bytes write_sample(struct arena *arena, bool has_next)
{
    struct page_key keys[] = { key_of("a", "", ""), key_of("a", "x", "y"), key_of("b", "", "") };
    struct page_key next = key_of("b", "", "1");
    struct text out;

    text_init(&out, arena, 0);
    cell_page_begin(&out);
    for (size_t i = 0; i < 3; i++)
        cell_page_add(&out, &keys[i], bytes_from_string(i == 1 ? "" : "value"));
    cell_page_end(&out, has_next ? &next : NULL);
    return text_bytes(&out);
}

static void read_as_written(void **state)
{
    struct arena *arena = arena_new(1 << 20);
    struct cell_page page;
    struct text more;

    (void)state;
    for (int has_next = 0; has_next < 2; has_next++) {
        struct bytes text = write_sample(arena, has_next);

        assert_true(cell_page_read(arena, text, &start, 3, &page));
        assert_int_equal(page.count, 3);
        assert_int_equal(page.has_next, has_next);
        assert_true(bytes_is(page.entries[1].key.parts[2], "y"));
        assert_true(bytes_is(page.entries[1].value, ""));
        assert_true(bytes_is(page.entries[2].value, "value"));
        /* Neither a part of it, nor with something behind it. */
        for (size_t length = 0; length < text.len; length++)
            assert_false(cell_page_read(arena, bytes_of(text.ptr, length), &start, 3, &page));
        text_init(&more, arena, 0);
        text_add(&more, text);
        text_add_char(&more, '\0');
        assert_false(cell_page_read(arena, text_bytes(&more), &start, 3, &page));
    }
    arena_free(arena);
}

/* One byte of it changed: never more than the text has, never out of order. */
static void damaged(void **state)
{
    struct arena *arena = arena_new(64 << 20);
    struct bytes text = write_sample(arena, true);
    char *copy = arena_bytes(arena, text.len);

    (void)state;
    for (size_t at = 0; at < text.len; at++)
        for (int byte = 0; byte < 256; byte++) {
            struct arena_mark mark = arena_mark(arena);
            struct cell_page page;

            memcpy(copy, text.ptr, text.len);
            copy[at] = (char)byte;
            if (cell_page_read(arena, bytes_of(copy, text.len), &start, 3, &page)) {
                assert_true(page.count <= 3);
                for (size_t i = 1; i < page.count; i++)
                    assert_true(page_key_compare(&page.entries[i - 1].key, &page.entries[i].key) <
                                0);
            }
            arena_rewind(arena, mark);
        }
    arena_free(arena);
}

/* record: second part of all keys */
static struct bytes write_keys(struct arena *arena, size_t count, const char *const *names,
                               const char *record, const char *next)
{
    struct page_key key;
    struct text out;

    text_init(&out, arena, 0);
    cell_page_begin(&out);
    for (size_t i = 0; i < count; i++) {
        key = key_of(names[i], record, "");
        cell_page_add(&out, &key, bytes_of("", 0));
    }
    key = key_of(next ? next : "", record, "");
    cell_page_end(&out, next ? &key : NULL);
    return text_bytes(&out);
}

/* What no cell would send. */
static void hostile(void **state)
{
    struct arena *arena = arena_new(1 << 20);
    const struct page_key from = key_of("b", "", "");
    struct cell_page page;

    (void)state;
#define READ(count, next, ...)                                                                     \
    cell_page_read(arena,                                                                          \
                   write_keys(arena, count, (const char *const[]){ __VA_ARGS__ }, "", next),       \
                   &from, 2, &page)
    assert_true(READ(2, NULL, "b", "c"));
    assert_true(READ(2, "c1", "b", "c"));
    assert_true(READ(0, "b1", "")); /* nothing was found so far */
    assert_true(READ(0, NULL, ""));
    assert_false(READ(3, NULL, "b", "c", "d")); /* more than were asked for */
    assert_false(READ(2, NULL, "a", "c"));      /* before the place that was asked for */
    assert_false(READ(2, NULL, "c", "b"));
    assert_false(READ(2, NULL, "b", "b"));
    assert_false(READ(2, "c", "b", "c")); /* the next page would have one of them again */
    assert_false(READ(1, "a", "b"));
    assert_false(READ(0, "b", "")); /* and this list would never end */
    assert_false(READ(0, "a", ""));
#undef READ
    arena_free(arena);
}

/* ---- lists over three cells ---- */

#define NAMES 4u
#define CELLS 3u /* the first one is our own */

static const char *const names[NAMES] = { "a", "a-b", "b", "ba" };

/* The page of another cell that has some of the names. */
static struct cell_page page_of(struct arena *arena, unsigned has, const struct page_key *from,
                                size_t max)
{
    const char *found[NAMES], *next = NULL;
    struct cell_page page;
    size_t count = 0;

    for (unsigned i = 0; i < NAMES && !next; i++) {
        struct page_key key = key_of(names[i], "k", "");

        if (!(has & 1u << i) || page_key_compare(&key, from) < 0)
            continue;
        if (count == max)
            next = names[i];
        else
            found[count++] = names[i];
    }
    assert_true(
        cell_page_read(arena, write_keys(arena, count, found, "k", next), from, max, &page));
    return page;
}

/* Names, with a space behind each. */
#define WALKED_MAX 64u

static void append(char text[WALKED_MAX], struct bytes name)
{
    size_t length = strlen(text);

    snprintf(text + length, WALKED_MAX - length, "%.*s ", BYTES_ARG(name));
}

struct recorded {
    struct listing_sink sink; /* first */
    char text[WALKED_MAX];
    unsigned count;
};

static void begin(struct listing_sink *sink, instant now)
{
    struct recorded *r = (struct recorded *)(void *)sink;

    (void)now;
    r->text[0] = '\0';
    r->count = 0;
}

static bool add(struct listing_sink *sink, const struct space_record *at)
{
    struct recorded *r = (struct recorded *)(void *)sink;

    append(r->text, at->partition_key);
    r->count++;
    return true;
}

static struct guid space_of(unsigned has)
{
    return (struct guid){ { 7, (uint8_t)has } };
}

static void put(struct store *store, struct guid space, const char *name)
{
    const struct partition at = { .space = space, .key = bytes_from_string(name) };
    struct arena *arena = arena_new(1u << 16);
    struct changes *changes = changes_new(arena);
    struct read_view *snapshot = read_view_open(store, at, STORE_MAY_BLOCK);
    uint64_t sequence;

    changes_put(changes, RECORD_LISTED, bytes_of("k", 1), bytes_of("v", 1), NULL, 0);
    assert_int_equal(store_commit(store, &(struct commit_part){ snapshot, changes }, 1, clock_now(),
                                  STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(snapshot);
    arena_free(arena);
}

/* Makes a space for each set of names. */
static struct store *make_spaces(void)
{
    struct store *store = store_open_memory();

    for (unsigned has = 0; has < 1u << NAMES; has++)
        for (unsigned i = 0; i < NAMES; i++)
            if (has & 1u << i)
                put(store, space_of(has), names[i]);
    return store;
}

/* Walks through a list by its markers. */
static void walk(struct store *store, const unsigned has[CELLS], uint32_t max,
                 char walked[WALKED_MAX])
{
    struct listing_place from = { .name = { NULL, 0 } };
    struct arena *arena = arena_new(1 << 20);
    unsigned pages = 0;

    walked[0] = '\0';
    do {
        struct recorded recorded = { .sink = { .begin = begin, .add = add } };
        struct listing listing = { .max = max };
        struct page_key key = { { from.name, from.record } };
        struct cell_page others[CELLS - 1];
        struct listing_place next = { .name = { NULL, 0 } };
        struct input input = { .merged = { .pages = others, .count = CELLS - 1 } };
        struct decision d = {
            .store = store, .arena = arena, .access = STORE_MAY_BLOCK, .input = &input
        };

        for (unsigned i = 1; i < CELLS; i++)
            others[i - 1] = page_of(arena, has[i], &key, max);
        assert_int_equal(
            listing_of_space(&d, space_of(has[0]), &listing, from, &recorded.sink, &next), OK);
        assert_true(recorded.count <= max);
        assert_true(recorded.count > 0 || !next.name.ptr);
        snprintf(walked + strlen(walked), WALKED_MAX - strlen(walked), "%s", recorded.text);
        from = next;
        assert_true(++pages <= 2 * NAMES);
    } while (from.name.ptr);
    arena_free(arena);
}

static void every_distribution(void **state)
{
    struct store *store = make_spaces();
    char expected[WALKED_MAX], walked[WALKED_MAX];
    unsigned has[CELLS];

    (void)state;
    for (has[0] = 0; has[0] < 1u << NAMES; has[0]++)
        for (has[1] = 0; has[1] < 1u << NAMES; has[1]++)
            for (has[2] = 0; has[2] < 1u << NAMES; has[2]++) {
                expected[0] = '\0';
                for (unsigned i = 0; i < NAMES; i++)
                    if ((has[0] | has[1] | has[2]) & 1u << i)
                        append(expected, bytes_from_string(names[i]));
                for (uint32_t max = 1; max <= NAMES; max++) {
                    walk(store, has, max, walked);
                    assert_string_equal(walked, expected);
                }
            }
    store_close(store);
}

/* Entries that no list of the account can have: it fails, and never shows them. */
static void entries_of_nobody(void **state)
{
    static const char *const names_sent[] = { "", "A", "a/b", "<", "b\n", "b" };
    struct arena *arena = arena_new(1 << 20);
    struct store *store = make_spaces();

    (void)state;
    for (size_t i = 0; i < sizeof names_sent / sizeof *names_sent; i++) {
        struct recorded recorded = { .sink = { .begin = begin, .add = add } };
        const struct listing listing = { .max = 10, .prefix = bytes_from_string("a") };
        struct listing_place next = { .name = { NULL, 0 } };
        struct problem problem = { .detail = NULL };
        struct cell_page page;
        struct input input = { .merged = { .pages = &page, .count = 1 } };
        struct decision d = { .store = store,
                              .arena = arena,
                              .access = STORE_MAY_BLOCK,
                              .input = &input,
                              .problem = &problem };

        assert_true(cell_page_read(arena, write_keys(arena, 1, &names_sent[i], "k", NULL), &start,
                                   10, &page));
        assert_int_equal(listing_of_space(&d, space_of(15), &listing,
                                          (struct listing_place){ .name = { NULL, 0 } },
                                          &recorded.sink, &next),
                         E_InternalError);
    }
    store_close(store);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_as_written),   cmocka_unit_test(damaged),
        cmocka_unit_test(hostile),           cmocka_unit_test(every_distribution),
        cmocka_unit_test(entries_of_nobody),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
