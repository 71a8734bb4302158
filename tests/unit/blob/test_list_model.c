/* List Blobs against a model: random containers and random questions; all pages joined must be
 * what a plain loop over the sorted names gives. The random numbers are the same in every run. */
#include "listed.h"

#include <stdlib.h>

#define CONTAINERS    6
#define QUESTIONS     120
#define NAMES_MAX     60
#define NAME_LEN_MAX  6
#define SNAPSHOTS_MAX 3

static unsigned next_random(unsigned *seed, unsigned below)
{
    *seed = *seed * 1103515245u + 12345u;
    return (*seed >> 16) % below;
}

struct model_blob {
    char name[NAME_LEN_MAX + 1];
    unsigned snapshots;
    bool uncommitted; /* uncommitted blocks only */
};

struct model {
    struct model_blob blobs[NAMES_MAX];
    size_t count;
};

static void random_text(unsigned *seed, char *to, unsigned length)
{
    for (unsigned i = 0; i < length; i++)
        to[i] = "ab/b/z"[next_random(seed, 6)];
    to[length] = '\0';
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct model_blob *)a)->name, ((const struct model_blob *)b)->name);
}

static bool has(const struct model *model, const char *name)
{
    for (size_t i = 0; i < model->count; i++) {
        if (strcmp(model->blobs[i].name, name) == 0)
            return true;
    }
    return false;
}

static void put_blob_of(struct fixture *f, const char *box, const struct model_blob *blob)
{
    if (blob->uncommitted) {
        assert_ok(askf(f, NULL, "x", "PUT /%s/%s?comp=block&blockid=MQ%%3D%%3D", box, blob->name),
                  201);
        return;
    }
    assert_ok(askf(f, "x-ms-blob-type: BlockBlob", "x", "PUT /%s/%s", box, blob->name), 201);
    for (unsigned i = 0; i < blob->snapshots; i++)
        assert_ok(askf(f, NULL, NULL, "PUT /%s/%s?comp=snapshot", box, blob->name), 201);
}

/* Names begin with a letter: a path that begins with "//" means something else. */
static void make_container(struct fixture *f, struct model *model, const char *box, unsigned *seed)
{
    model->count = 0;
    assert_ok(askf(f, NULL, NULL, "PUT /%s?restype=container", box), 201);
    while (model->count < NAMES_MAX) {
        struct model_blob blob = { .snapshots = 0 };

        random_text(seed, blob.name, 1 + next_random(seed, NAME_LEN_MAX));
        if (blob.name[0] == '/')
            blob.name[0] = 'c';
        if (has(model, blob.name))
            continue;
        blob.uncommitted = next_random(seed, 5) == 0;
        blob.snapshots = blob.uncommitted ? 0 : next_random(seed, SNAPSHOTS_MAX + 1);
        put_blob_of(f, box, &blob);
        model->blobs[model->count++] = blob;
    }
    qsort(model->blobs, model->count, sizeof model->blobs[0], by_name);
}

struct question {
    char prefix[NAME_LEN_MAX + 1], delimiter[NAME_LEN_MAX + 1], from[NAME_LEN_MAX + 1],
        before[NAME_LEN_MAX + 1];
    bool snapshots, uncommitted;
    unsigned max;
};

static struct question ask_something(unsigned *seed)
{
    struct question q = { .max = 1 + next_random(seed, 9) };

    if (next_random(seed, 2))
        random_text(seed, q.prefix, next_random(seed, 3));
    if (next_random(seed, 2))
        random_text(seed, q.delimiter, 1 + next_random(seed, 2));
    if (next_random(seed, 4) == 0)
        random_text(seed, q.from, 1 + next_random(seed, 3));
    if (next_random(seed, 4) == 0)
        random_text(seed, q.before, 1 + next_random(seed, 3));
    q.snapshots = !q.delimiter[0] && next_random(seed, 2);
    q.uncommitted = next_random(seed, 2);
    return q;
}

static void add(struct text *out, const char *before, struct bytes name, const char *after)
{
    text_printf(out, "%s%s%.*s%s", out->len > 0 ? " " : "", before, BYTES_ARG(name), after);
}

static const char *expected(struct arena *arena, const struct model *model,
                            const struct question *q)
{
    struct bytes group = { NULL, 0 };
    struct text out;

    text_init(&out, arena, 1024);
    for (size_t i = 0; i < model->count; i++) {
        const struct model_blob *blob = &model->blobs[i];
        const char *at;

        if (strncmp(blob->name, q->prefix, strlen(q->prefix)) != 0 ||
            strcmp(blob->name, q->from) < 0)
            continue;
        if ((q->before[0] && strcmp(blob->name, q->before) >= 0) ||
            (blob->uncommitted && !q->uncommitted))
            continue;
        at = q->delimiter[0] ? strstr(blob->name + strlen(q->prefix), q->delimiter) : NULL;
        if (at) {
            struct bytes name =
                bytes_of(blob->name, (size_t)(at - blob->name) + strlen(q->delimiter));

            if (!bytes_equal(name, group))
                add(&out, "[", name, "]");
            group = name;
            continue;
        }
        for (unsigned s = 0; q->snapshots && s < blob->snapshots; s++)
            add(&out, "", bytes_from_string(blob->name), "@");
        add(&out, "", bytes_from_string(blob->name), "");
    }
    return arena_string(arena, text_bytes(&out));
}

/* All pages, joined; none is longer than asked for. */
static const char *listed_pages(struct fixture *f, struct arena *arena, const char *box,
                                const struct question *q)
{
    const char *marker = "";
    struct text out;

    text_init(&out, arena, 1024);
    do {
        struct reply page = askf(
            f, NULL, NULL,
            "GET /%s?restype=container&comp=list&maxresults=%u&prefix=%s&delimiter=%s&startFrom=%s"
            "&endBefore=%s&include=%s,%s&marker=%s",
            box, q->max, q->prefix, q->delimiter, q->from, q->before,
            q->snapshots ? "snapshots" : "", q->uncommitted ? "uncommittedblobs" : "", marker);
        struct bytes items = bytes_from_string(listed(f, page));
        unsigned count = 0;

        while (items.ptr) {
            struct bytes item;

            bytes_cut(items, ' ', &item, &items);
            if (item.len == 0 || bytes_is(item, "..."))
                continue;
            add(&out, "", item, "");
            count++;
        }
        assert_true(count <= q->max);
        marker = next_marker(f, page);
        assert_true(count == q->max || !marker[0] ||
                    getenv("LAGRA_SHORT_PAGES")); /* tests/bounds */
    } while (marker[0]);
    return arena_string(arena, text_bytes(&out));
}

/* Rule: prefix, delimiter, startFrom, endBefore, include and pages go together as each says alone.
 * rest: List-Blobs */
static void listings_are_as_the_model_says(void **state)
{
    struct fixture *f = *state;
    static struct model model;
    unsigned seed = 1;

    for (unsigned c = 0; c < CONTAINERS; c++) {
        const char *box = textf(f, "model-%u", c);

        make_container(f, &model, box, &seed);
        for (unsigned i = 0; i < QUESTIONS; i++) {
            struct arena *arena = arena_new(1 << 20);
            struct question q = ask_something(&seed);

            assert_string_equal(listed_pages(f, arena, box, &q), expected(arena, &model, &q));
            arena_free(arena);
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(listings_are_as_the_model_says, fixture_setup,
                                        fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
