/* The list of changes that a decision collects for one partition: puts, deletes, references to
 * pieces, dropped spaces. It is in an arena and independent of the engine. */
#include "store/store_private.h"

#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "store/record_value.h"

struct changes {
    struct arena *arena;
    uint64_t bytes; /* changes_bytes() */
    struct change *first;
    struct change **link; /* link to the next change to add */
    struct change *first_index;
    struct change **index_link;
    struct count_change *first_count;
    struct task_change *first_task;
    struct piece_change *pieces;
    size_t piece_count;
    size_t piece_capacity;
    struct guid *dropped; /* dropped spaces */
    size_t dropped_count;
};

static void assert_changes(const struct changes *changes)
{
    assert(changes->arena && !*changes->link && !*changes->index_link);
    assert(!changes->first == (changes->link == &changes->first));
    assert(!changes->first_index == (changes->index_link == &changes->first_index));
    assert(changes->piece_count <= changes->piece_capacity);
    assert(changes->dropped_count == 0 || changes->dropped);
}

struct changes *changes_new(struct arena *arena)
{
    struct changes *changes = arena_alloc(arena, sizeof *changes);

    changes->arena = arena;
    changes->link = &changes->first;
    changes->index_link = &changes->first_index;
    assert_changes(changes);
    return changes;
}

struct arena *changes_arena(const struct changes *changes)
{
    return changes->arena;
}

bool changes_empty(const struct changes *changes)
{
    return !changes->first && !changes->first_index && !changes->first_count &&
           !changes->first_task && changes->piece_count == 0 && changes->dropped_count == 0;
}

uint64_t changes_bytes(const struct changes *changes)
{
    return changes->bytes;
}

/* Adds a change at the end of a list. */
static struct change *add_change(struct changes *changes, struct change ***link, struct bytes key)
{
    struct change *change = arena_alloc(changes->arena, sizeof *change);

    change->key = arena_copy(changes->arena, key);
    changes->bytes += key.len;
    **link = change;
    *link = &change->next;
    assert_changes(changes);
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
    for (size_t i = 0; i < count; i++) {
        assert(pieces[i].length > 0 && pieces[i].length <= PIECE_MAX_BYTES);
        changes->pieces[changes->piece_count++] = (struct piece_change){
            .extent = pieces[i].extent,
            .length = pieces[i].length,
            .offset = pieces[i].offset,
            .references = references,
        };
    }
    assert_changes(changes);
}

void changes_put(struct changes *changes, enum record_family family, struct bytes key,
                 struct bytes value, const struct piece *pieces, size_t piece_count)
{
    struct change *change = add_change(changes, &changes->link, key);

    change->family = family;
    change->value = record_value_encode(changes->arena, value, pieces, piece_count);
    assert(change->value.len > value.len); /* it includes the version */
    changes->bytes += change->value.len;
    add_references(changes, pieces, piece_count, 1);
}

void changes_delete(struct changes *changes, enum record_family family, struct bytes key)
{
    struct change *change = add_change(changes, &changes->link, key);

    change->family = family;
    change->is_delete = true;
}

void changes_index_put(struct changes *changes, struct bytes key, struct bytes value)
{
    add_change(changes, &changes->index_link, key)->value = arena_copy(changes->arena, value);
    changes->bytes += value.len;
}

void changes_index_delete(struct changes *changes, struct bytes key)
{
    add_change(changes, &changes->index_link, key)->is_delete = true;
}

void changes_count(struct changes *changes, struct bytes name, int64_t delta)
{
    struct count_change *count;

    for (count = changes->first_count; count; count = count->next)
        if (bytes_equal(count->name, name))
            break;
    if (!count) {
        count = arena_alloc(changes->arena, sizeof *count);
        count->name = arena_copy(changes->arena, name);
        count->next = changes->first_count;
        changes->first_count = count;
    }
    count->delta += delta;
}

void changes_release(struct changes *changes, const struct piece *pieces, size_t piece_count)
{
    add_references(changes, pieces, piece_count, -1);
}

static struct task_change *add_task(struct changes *changes)
{
    struct task_change *task = arena_alloc(changes->arena, sizeof *task);

    task->next = changes->first_task;
    changes->first_task = task;
    return task;
}

struct guid changes_defer(struct changes *changes, instant due, uint32_t kind, struct bytes payload)
{
    struct task_change *task = add_task(changes);

    task->due = due;
    task->id = guid_new();
    task->kind = kind;
    task->payload = payload.ptr ? arena_copy(changes->arena, payload) : payload;
    return task->id;
}

void changes_task_done(struct changes *changes, const struct deferred_task *item)
{
    struct task_change *task = add_task(changes);

    task->is_done = true;
    task->due = item->due;
    task->id = item->id;
}

void changes_drop_space(struct changes *changes, struct guid space)
{
    struct guid *grown = arena_array(changes->arena, changes->dropped_count + 1, sizeof grown[0]);

    if (changes->dropped_count > 0)
        memcpy(grown, changes->dropped, changes->dropped_count * sizeof grown[0]);
    grown[changes->dropped_count++] = space;
    changes->dropped = grown;
    assert_changes(changes);
}

/* The order of deferred tasks does not matter. */
static void append_task(struct changes *changes, struct task_change *more)
{
    while (more) {
        struct task_change *next = more->next;

        more->next = changes->first_task;
        changes->first_task = more;
        more = next;
    }
}

/* Appends changes of piece references. */
static void append_pieces(struct changes *changes, const struct piece_change *more, size_t count)
{
    struct piece_change *grown =
        arena_array(changes->arena, changes->piece_count + count, sizeof *grown);

    if (changes->piece_count > 0)
        memcpy(grown, changes->pieces, changes->piece_count * sizeof *grown);
    memcpy(grown + changes->piece_count, more, count * sizeof *grown);
    changes->pieces = grown;
    changes->piece_count += count;
    changes->piece_capacity = changes->piece_count;
}

void changes_append(struct changes *changes, struct changes *more)
{
    assert(changes != more && changes->arena == more->arena);
    assert_changes(changes);
    assert_changes(more);
    changes->bytes += more->bytes;
    if (more->first) {
        *changes->link = more->first;
        changes->link = more->link;
    }
    if (more->first_index) {
        *changes->index_link = more->first_index;
        changes->index_link = more->index_link;
    }
    for (const struct count_change *count = more->first_count; count; count = count->next)
        changes_count(changes, count->name, count->delta);
    append_task(changes, more->first_task);
    if (more->piece_count > 0)
        append_pieces(changes, more->pieces, more->piece_count);
    for (size_t i = 0; i < more->dropped_count; i++)
        changes_drop_space(changes, more->dropped[i]);
    *more = (struct changes){ .arena = more->arena };
    more->link = &more->first;
    more->index_link = &more->first_index;
    assert(changes_empty(more));
    assert_changes(changes);
}

const struct change *changes_first(const struct changes *changes)
{
    return changes->first;
}

const struct change *changes_first_index(const struct changes *changes)
{
    return changes->first_index;
}

const struct count_change *changes_first_count(const struct changes *changes)
{
    return changes->first_count;
}

const struct task_change *changes_first_task(const struct changes *changes)
{
    return changes->first_task;
}

const struct guid *changes_dropped_spaces(const struct changes *changes, size_t *ret_count)
{
    *ret_count = changes->dropped_count;
    return changes->dropped;
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

bool changes_have_pieces(const struct changes *changes)
{
    return changes->piece_count > 0;
}

/* Adds up the reference changes of each piece and counts the pieces whose sum is not 0. Returns
 * false if two records disagree on the length of a piece. */
static bool add_up(struct piece_change *changes, size_t count, size_t *ret_kept)
{
    size_t kept = 0;

    qsort(changes, count, sizeof changes[0], compare_pieces);
    for (size_t i = 0; i < count;) {
        struct piece_change sum = changes[i];

        while (++i < count && compare_pieces(&changes[i], &sum) == 0) {
            if (changes[i].length != sum.length)
                return false;
            sum.references += changes[i].references;
        }
        if (sum.references != 0)
            changes[kept++] = sum;
        assert(kept <= i);
    }
    *ret_kept = kept;
    return true;
}

enum store_result commit_pieces(const struct commit_part *parts, size_t count,
                                const struct piece_change **ret_pieces, size_t *ret_count)
{
    struct arena *arena = NULL;
    struct piece_change *all;
    size_t total = 0;

    *ret_pieces = NULL;
    *ret_count = 0;
    for (size_t i = 0; i < count; i++)
        if (parts[i].changes && parts[i].changes->piece_count > 0) {
            total += parts[i].changes->piece_count;
            arena = parts[i].changes->arena;
        }
    if (total == 0)
        return STORE_OK;
    all = arena_array(arena, total, sizeof all[0]);
    total = 0;
    for (size_t i = 0; i < count; i++)
        if (parts[i].changes && parts[i].changes->piece_count > 0) {
            memcpy(all + total, parts[i].changes->pieces,
                   parts[i].changes->piece_count * sizeof all[0]);
            total += parts[i].changes->piece_count;
        }
    if (!add_up(all, total, ret_count)) {
        log_line(LOG_ERROR, "store: records disagree on the length of a piece");
        return STORE_CORRUPT;
    }
    assert(*ret_count <= total);
    *ret_pieces = all;
    return STORE_OK;
}
