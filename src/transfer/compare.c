/* See compare.h. */
#include "transfer/compare.h"

#include <stdlib.h>

#define FIRST 1024u

struct expected {
    struct item_hash hash;
    uint8_t md5[ITEM_MD5_SIZE];
    bool has_md5, is_met, differs;
};

struct comparison {
    struct expected *of;
    size_t count, capacity;
};

struct comparison *comparison_new(void)
{
    return xcalloc(1, sizeof(struct comparison));
}

void comparison_free(struct comparison *comparison)
{
    free(comparison->of);
    free(comparison);
}

/* What the other side lists too; messages are counted. */
static bool is_listed(const struct item *item)
{
    return item->kind != ITEM_SERVICE && item->kind != ITEM_MESSAGE && item->kind != ITEM_QUEUE_END;
}

void comparison_expect(struct comparison *comparison, struct arena *arena, const struct item *item)
{
    for (unsigned state = 0; item && is_listed(item); item = item->next, state++) {
        struct expected *one;

        if (comparison->count == comparison->capacity) {
            comparison->capacity = comparison->capacity > 0 ? 2 * comparison->capacity : FIRST;
            comparison->of =
                xrealloc(comparison->of, comparison->capacity * sizeof comparison->of[0]);
        }
        one = &comparison->of[comparison->count++];
        *one = (struct expected){ .has_md5 = item->has_md5 };
        memcpy(one->md5, item->md5, sizeof one->md5);
        item_hash_alike(arena, item, state, &one->hash);
    }
}

static int by_hash(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct item_hash));
}

void comparison_begin(struct comparison *comparison)
{
    size_t kept = 0;

    if (comparison->count > 0)
        qsort(comparison->of, comparison->count, sizeof comparison->of[0], by_hash);
    for (size_t i = 0; i < comparison->count; i++) {
        if (kept == 0 || by_hash(&comparison->of[kept - 1], &comparison->of[i]) != 0)
            comparison->of[kept++] = comparison->of[i];
    }
    comparison->count = kept;
}

static enum comparison_result meet_one(struct comparison *comparison, struct arena *arena,
                                       const struct item *item, unsigned state)
{
    struct item_hash hash;
    struct expected *found;

    item_hash_alike(arena, item, state, &hash);
    found = comparison->count > 0 ? bsearch(&hash, comparison->of, comparison->count,
                                            sizeof comparison->of[0], by_hash)
                                  : NULL;
    if (!found)
        return COMPARED_UNKNOWN;
    found->is_met = true;
    found->differs =
        found->has_md5 && item->has_md5 && memcmp(found->md5, item->md5, sizeof item->md5) != 0;
    return found->differs ? COMPARED_BYTES_DIFFER : COMPARED_SAME;
}

enum comparison_result comparison_meet(struct comparison *comparison, struct arena *arena,
                                       const struct item *item)
{
    enum comparison_result worst = COMPARED_SAME;

    for (unsigned state = 0; item && is_listed(item); item = item->next, state++) {
        enum comparison_result one = meet_one(comparison, arena, item, state);

        worst = one > worst ? one : worst;
    }
    return worst;
}

uint64_t comparison_same(const struct comparison *comparison)
{
    uint64_t same = 0;

    for (size_t i = 0; i < comparison->count; i++)
        same += comparison->of[i].is_met && !comparison->of[i].differs;
    return same;
}

uint64_t comparison_missing(const struct comparison *comparison)
{
    uint64_t missing = 0;

    for (size_t i = 0; i < comparison->count; i++)
        missing += !comparison->of[i].is_met;
    return missing;
}
