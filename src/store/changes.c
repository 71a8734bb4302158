/* The list of changes that a decision collects for one partition: puts, deletes, references of
 * pieces, dropped spaces. It lives in an arena and knows no engine. */
#include "store/store_private.h"

#include <assert.h>
#include <stdlib.h>

#include "store/record_value.h"

struct changes {
    struct arena *arena;
    struct change *first;
    struct change **link; /* where the next change goes */
    struct piece_change *pieces;
    size_t piece_count;
    size_t piece_capacity;
    struct guid *spaces;
    size_t space_count;
};

struct changes *changes_new(struct arena *arena)
{
    struct changes *changes = arena_alloc(arena, sizeof *changes);

    changes->arena = arena;
    changes->link = &changes->first;
    return changes;
}

struct arena *changes_arena(const struct changes *changes)
{
    return changes->arena;
}

bool changes_empty(const struct changes *changes)
{
    return !changes->first && changes->piece_count == 0 && changes->space_count == 0;
}

static struct change *add_change(struct changes *changes, enum record_family family,
                                 struct bytes key)
{
    struct change *change = arena_alloc(changes->arena, sizeof *change);

    change->family = family;
    change->key = arena_copy(changes->arena, key);
    *changes->link = change;
    changes->link = &change->next;
    return change;
}

static void add_references(struct changes *changes, const struct piece *pieces, size_t count,
                           int64_t references)
{
    if (changes->piece_count + count > changes->piece_capacity) {
        size_t capacity = 2 * (changes->piece_count + count);
        struct piece_change *grown =
            arena_array(changes->arena, capacity, sizeof changes->pieces[0]);

        if (changes->piece_count > 0)
            memcpy(grown, changes->pieces, changes->piece_count * sizeof grown[0]);
        changes->pieces = grown;
        changes->piece_capacity = capacity;
    }
    for (size_t i = 0; i < count; i++)
        changes->pieces[changes->piece_count++] = (struct piece_change){
            .extent = pieces[i].extent,
            .length = pieces[i].length,
            .offset = pieces[i].offset,
            .references = references,
        };
}

void changes_put(struct changes *changes, enum record_family family, struct bytes key,
                 struct bytes value, const struct piece *pieces, size_t piece_count)
{
    struct change *change = add_change(changes, family, key);

    change->value = record_value_encode(changes->arena, value, pieces, piece_count);
    add_references(changes, pieces, piece_count, 1);
}

void changes_delete(struct changes *changes, enum record_family family, struct bytes key)
{
    add_change(changes, family, key)->is_delete = true;
}

void changes_release(struct changes *changes, const struct piece *pieces, size_t piece_count)
{
    add_references(changes, pieces, piece_count, -1);
}

void changes_drop_space(struct changes *changes, struct guid space)
{
    struct guid *grown =
        arena_array(changes->arena, changes->space_count + 1, sizeof changes->spaces[0]);

    if (changes->space_count > 0)
        memcpy(grown, changes->spaces, changes->space_count * sizeof grown[0]);
    grown[changes->space_count++] = space;
    changes->spaces = grown;
}

const struct change *changes_first(const struct changes *changes)
{
    return changes->first;
}

const struct guid *changes_dropped_spaces(const struct changes *changes, size_t *ret_count)
{
    *ret_count = changes->space_count;
    return changes->spaces;
}

static int compare_pieces(const void *left, const void *right)
{
    const struct piece_change *a = left;
    const struct piece_change *b = right;

    if (a->extent != b->extent)
        return a->extent < b->extent ? -1 : 1;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return 0;
}

const struct piece_change *changes_pieces(const struct changes *changes, size_t *ret_count)
{
    struct piece_change *net;
    size_t count = 0;

    *ret_count = 0;
    if (changes->piece_count == 0)
        return NULL;
    net = arena_array(changes->arena, changes->piece_count, sizeof net[0]);
    memcpy(net, changes->pieces, changes->piece_count * sizeof net[0]);
    qsort(net, changes->piece_count, sizeof net[0], compare_pieces);

    for (size_t i = 0; i < changes->piece_count;) {
        struct piece_change sum = net[i];

        while (++i < changes->piece_count && compare_pieces(&net[i], &sum) == 0) {
            assert(net[i].length == sum.length);
            sum.references += net[i].references;
        }
        if (sum.references != 0)
            net[count++] = sum;
    }
    *ret_count = count;
    return net;
}
