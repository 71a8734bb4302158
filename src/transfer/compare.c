/* See compare.h. */
#include "transfer/compare.h"

#include <stdlib.h>

#define FIRST        1024u
#define DIGEST_SIZE  16u
/* Problems reported individually; further ones are only counted. */
#define REPORTED_MAX 20u
#define TEXTS_MAX    ((size_t)64 << 30)

struct listed {
    uint8_t name[DIGEST_SIZE];  /* kind, parent and name */
    uint8_t alike[DIGEST_SIZE]; /* item_hash_alike() */
    uint8_t md5[ITEM_MD5_SIZE];
    uint64_t moment;  /* of a snapshot or version */
    const char *text; /* "container/blob" for a snapshot or version at the source */
    bool has_md5;
    bool is_state;   /* a snapshot or version */
    bool is_met;     /* at the target: the source lists an item of this name */
    bool is_counted; /* and it counted as equal */
};

struct listing {
    struct listed *of;
    size_t count, capacity;
};

struct comparison {
    struct arena *texts;
    struct listing there;   /* everything at the target */
    struct listing states;  /* snapshots and versions at the source */
    struct listing missing; /* items of the source missing at the target */
    struct comparison_count counts;
    comparison_report *report;
    void *context;     /* for `report` */
    uint64_t reported; /* problems so far */
    uint64_t arrivals; /* snapshots and versions without known time so far */
};

struct comparison *comparison_new(comparison_report *report, void *context)
{
    struct comparison *comparison = xcalloc(1, sizeof(struct comparison));

    comparison->report = report;
    comparison->context = context;
    comparison->texts = arena_new(TEXTS_MAX);
    return comparison;
}

void comparison_free(struct comparison *comparison)
{
    free(comparison->there.of);
    free(comparison->states.of);
    free(comparison->missing.of);
    arena_free(comparison->texts);
    free(comparison);
}

struct comparison_count comparison_count(const struct comparison *comparison)
{
    return comparison->counts;
}

/* ---- listings ---- */

/* Messages and services are not compared, because messages have no names. */
static bool is_compared(const struct item *item)
{
    return item->kind != ITEM_SERVICE && item->kind != ITEM_MESSAGE && item->kind != ITEM_QUEUE_END;
}

static void push(struct listing *listing, const struct listed *one)
{
    if (listing->count == listing->capacity) {
        listing->capacity = listing->capacity > 0 ? 2 * listing->capacity : FIRST;
        listing->of = xrealloc(listing->of, listing->capacity * sizeof listing->of[0]);
    }
    listing->of[listing->count++] = *one;
}

static struct listed describe(struct comparison *comparison, struct arena *arena,
                              const struct item *item)
{
    struct listed one = { .has_md5 = item->has_md5, .is_state = item_is_state(item) };
    struct item_hash hash;

    one.moment = item->moment > 0 || !one.is_state ? item->moment : ++comparison->arrivals;
    memcpy(one.md5, item->md5, sizeof one.md5);
    item_hash_name(arena, item, &hash);
    memcpy(one.name, hash.of, sizeof one.name);
    item_hash_alike(arena, item, &hash);
    memcpy(one.alike, hash.of, sizeof one.alike);
    return one;
}

/* Sorts by name; an item precedes its snapshots and versions, which are in the order of
 * creation. */
static int by_name(const void *x, const void *y)
{
    const struct listed *a = x, *b = y;
    int order = memcmp(a->name, b->name, sizeof a->name);

    if (order == 0)
        order = (int)a->is_state - (int)b->is_state;
    return order != 0 ? order : (a->moment > b->moment) - (a->moment < b->moment);
}

static void sort(struct listing *listing)
{
    if (listing->count > 0)
        qsort(listing->of, listing->count, sizeof listing->of[0], by_name);
}

/* Returns the first item, or snapshot or version, of a name, or NULL. */
static struct listed *find(const struct listing *listing, const uint8_t name[DIGEST_SIZE],
                           bool is_state)
{
    size_t begin = 0, end = listing->count;
    struct listed wanted = { .is_state = is_state };
    struct listed *found;

    memcpy(wanted.name, name, sizeof wanted.name);
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;

        if (by_name(&listing->of[middle], &wanted) < 0)
            begin = middle + 1;
        else
            end = middle;
    }
    found = begin < listing->count ? &listing->of[begin] : NULL;
    return found && found->is_state == is_state && memcmp(found->name, name, DIGEST_SIZE) == 0
               ? found
               : NULL;
}

void comparison_add(struct comparison *comparison, struct arena *arena, const struct item *item)
{
    for (; item && is_compared(item); item = item->next) {
        const struct listed one = describe(comparison, arena, item);

        push(&comparison->there, &one);
    }
}

void comparison_begin(struct comparison *comparison)
{
    sort(&comparison->there);
}

/* ---- the source's listing ---- */

static bool md5s_agree(const struct listed *a, const struct listed *b)
{
    return !a->has_md5 || !b->has_md5 || memcmp(a->md5, b->md5, sizeof a->md5) == 0;
}

static bool is_same(const struct listed *a, const struct listed *b)
{
    return memcmp(a->alike, b->alike, sizeof a->alike) == 0 && md5s_agree(a, b);
}

static void report(struct comparison *comparison, struct arena *arena, struct bytes text,
                   const char *problem)
{
    if (comparison->reported++ < REPORTED_MAX)
        comparison->report(
            comparison->context,
            arena_string(arena, arena_printf(arena, "%.*s %s", BYTES_ARG(text), problem)));
}

static void meet_item(struct comparison *comparison, struct arena *arena, const struct item *item,
                      const struct listed *one)
{
    struct listed *there = find(&comparison->there, one->name, false);
    struct bytes text = arena_printf(arena, "%s %.*s", item_kind_names[item->kind],
                                     BYTES_ARG(item_text(arena, item)));

    if (!there) {
        comparison->counts.missing++;
        push(&comparison->missing, one);
        report(comparison, arena, text, "is missing at the target");
        return;
    }
    there->is_met = true;
    if (is_same(one, there)) {
        comparison->counts.same += !there->is_counted;
        there->is_counted = true;
        return;
    }
    comparison->counts.differing++;
    report(comparison, arena, text,
           md5s_agree(one, there) ? "differs from the source in its size, headers or values"
                                  : "has another MD5 than at the source");
}

void comparison_meet(struct comparison *comparison, struct arena *arena, const struct item *item)
{
    for (; item && is_compared(item); item = item->next) {
        struct arena_mark mark = arena_mark(arena);
        struct listed one = describe(comparison, arena, item);

        if (one.is_state) {
            one.text = arena_string(comparison->texts, item_text(comparison->texts, item));
            push(&comparison->states, &one);
        } else {
            meet_item(comparison, arena, item, &one);
        }
        arena_rewind(arena, mark);
    }
}

/* ---- snapshots ---- */

/* Returns true if the source lists a blob of this name; otherwise the blob is deleted, and its
 * snapshots and versions were omitted. */
static bool exists_at_source(const struct comparison *comparison, const struct listed *state)
{
    const struct listed *there = find(&comparison->there, state->name, false);

    return (there && there->is_met) || find(&comparison->missing, state->name, false);
}

/* Returns the number of snapshots and versions of a name, from `at` on, removing duplicates. */
static size_t take_group(struct listing *states, size_t at, size_t *ret_next)
{
    struct listed *of = states->of;
    size_t next = at, kept = at;

    for (; next < states->count && memcmp(of[next].name, of[at].name, DIGEST_SIZE) == 0; next++) {
        if (kept == at || of[kept - 1].moment != of[next].moment ||
            !is_same(&of[kept - 1], &of[next]))
            of[kept++] = of[next];
    }
    *ret_next = next;
    return kept - at;
}

/* Searches for each snapshot or version at the target, each after the previous one. */
static void compare_states(struct comparison *comparison, struct arena *arena,
                           const struct listed *states, size_t count)
{
    const struct listed *end = comparison->there.of + comparison->there.count;
    const struct listed *there = find(&comparison->there, states->name, true);

    for (size_t i = 0; i < count; i++) {
        const struct listed *found = there;

        while (found && found < end && memcmp(found->name, states->name, DIGEST_SIZE) == 0 &&
               !is_same(&states[i], found))
            found++;
        if (found && found < end && memcmp(found->name, states->name, DIGEST_SIZE) == 0) {
            there = found + 1;
            comparison->counts.same++;
            continue;
        }
        comparison->counts.missing++;
        report(comparison, arena,
               arena_printf(arena, "blob %s: snapshot %zu of %zu", states[i].text, i + 1, count),
               "is missing at the target, or not in this order");
    }
}

void comparison_end(struct comparison *comparison, struct arena *arena)
{
    size_t next;

    sort(&comparison->states);
    sort(&comparison->missing);
    for (size_t at = 0; at < comparison->states.count; at = next) {
        struct arena_mark mark = arena_mark(arena);
        size_t count = take_group(&comparison->states, at, &next);

        if (exists_at_source(comparison, &comparison->states.of[at]))
            compare_states(comparison, arena, &comparison->states.of[at], count);
        arena_rewind(arena, mark);
    }
}
