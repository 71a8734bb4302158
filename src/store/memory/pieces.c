/* The table of pieces in memory, by id, and the queue of released ones, in order of commits. */
#include "store/memory/pieces.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"

#define BUCKETS_MIN 64

void memory_pieces_init(struct memory_pieces *pieces)
{
    *pieces = (struct memory_pieces){
        .buckets = xcalloc(BUCKETS_MIN, sizeof(struct memory_piece *)),
        .bucket_count = BUCKETS_MIN,
    };
}

void memory_pieces_release(struct memory_pieces *pieces)
{
    for (size_t i = 0; i < pieces->bucket_count; i++)
        memory_pieces_free(pieces->buckets[i]);
    free(pieces->buckets);
}

struct memory_piece *memory_piece_new(void)
{
    return xcalloc(1, sizeof(struct memory_piece));
}

void memory_pieces_free(struct memory_piece *list)
{
    while (list) {
        struct memory_piece *piece = list;

        list = piece->next;
        free(piece->data);
        free(piece->seal);
        free(piece);
    }
}

static void assert_released(const struct memory_pieces *pieces)
{
    assert(!pieces->oldest_released == !pieces->newest_released);
    assert(!pieces->oldest_released || !pieces->oldest_released->older_released);
    assert(!pieces->newest_released || !pieces->newest_released->newer_released);
}

/* Ids are consecutive, so they are distributed evenly without hashing. */
static struct memory_piece **bucket_of(const struct memory_pieces *pieces, uint64_t id)
{
    return &pieces->buckets[id & (pieces->bucket_count - 1)];
}

static void grow(struct memory_pieces *pieces)
{
    struct memory_piece **old = pieces->buckets;
    size_t old_count = pieces->bucket_count;

    pieces->bucket_count = 2 * old_count;
    pieces->buckets = xcalloc(pieces->bucket_count, sizeof old[0]);
    for (size_t i = 0; i < old_count; i++)
        for (struct memory_piece *piece = old[i], *next; piece; piece = next) {
            struct memory_piece **bucket = bucket_of(pieces, piece->id);

            next = piece->next;
            piece->next = *bucket;
            *bucket = piece;
        }
    free(old);
}

void memory_piece_add(struct memory_pieces *pieces, struct memory_piece *piece)
{
    struct memory_piece **bucket;

    assert(piece->length > 0 && piece->length <= PIECE_MAX_BYTES);

    if (pieces->count == pieces->bucket_count)
        grow(pieces);
    pieces->count++;
    piece->id = ++pieces->last_id;
    piece->staged = true;
    bucket = bucket_of(pieces, piece->id);
    piece->next = *bucket;
    *bucket = piece;
    assert(pieces->count <= pieces->bucket_count);
    pieces->usage.allocated_bytes += piece->length;
}

struct memory_piece *memory_piece_find(const struct memory_pieces *pieces, uint64_t id)
{
    struct memory_piece *piece = *bucket_of(pieces, id);

    while (piece && piece->id != id)
        piece = piece->next;
    return piece;
}

static void queue_released(struct memory_pieces *pieces, struct memory_piece *piece,
                           uint64_t sequence)
{
    assert(!piece->released);

    piece->released = true;
    piece->released_at = sequence;
    piece->newer_released = NULL;
    piece->older_released = pieces->newest_released;
    if (pieces->newest_released)
        pieces->newest_released->newer_released = piece;
    else
        pieces->oldest_released = piece;
    pieces->newest_released = piece;
    pieces->usage.pending_bytes += piece->length;
    assert(!piece->older_released || piece->older_released->released_at <= sequence);
    assert_released(pieces);
}

static void unqueue_released(struct memory_pieces *pieces, struct memory_piece *piece)
{
    assert(piece->released);

    piece->released = false;
    if (piece->older_released)
        piece->older_released->newer_released = piece->newer_released;
    else
        pieces->oldest_released = piece->newer_released;
    if (piece->newer_released)
        piece->newer_released->older_released = piece->older_released;
    else
        pieces->newest_released = piece->older_released;
    assert(pieces->usage.pending_bytes >= piece->length);
    pieces->usage.pending_bytes -= piece->length;
    assert_released(pieces);
}

/* Moves a piece that nothing keeps from the table to the list. */
static void move_out_if_unused(struct memory_pieces *pieces, struct memory_piece *piece,
                               struct memory_piece **list)
{
    struct memory_piece **link = bucket_of(pieces, piece->id);

    if (piece->staged || piece->released || piece->references > 0 || piece->kept > 0)
        return;
    while (*link != piece)
        link = &(*link)->next;
    *link = piece->next;
    assert(pieces->count > 0 && pieces->usage.allocated_bytes >= piece->length);
    pieces->count--;
    pieces->usage.allocated_bytes -= piece->length;
    piece->next = *list;
    *list = piece;
}

void memory_piece_refer(struct memory_pieces *pieces, uint64_t id, int64_t references,
                        uint64_t sequence)
{
    struct memory_piece *piece = memory_piece_find(pieces, id);
    bool was_referenced;

    assert(piece); /* a commit may only use pieces that are staged or visible to it */
    was_referenced = piece->references > 0;
    assert(references > 0 || piece->references >= (uint64_t)-references);
    piece->references += (uint64_t)references;

    if (!was_referenced && piece->references > 0) {
        pieces->usage.piece_bytes += piece->length;
        if (piece->released)
            unqueue_released(pieces, piece);
    } else if (was_referenced && piece->references == 0) {
        assert(pieces->usage.piece_bytes >= piece->length);
        pieces->usage.piece_bytes -= piece->length;
        queue_released(pieces, piece, sequence);
    }
}

void memory_piece_unstage(struct memory_pieces *pieces, struct memory_piece *piece,
                          struct memory_piece **list)
{
    assert(piece->staged);

    piece->staged = false;
    move_out_if_unused(pieces, piece, list);
}

struct memory_piece *memory_pieces_collect(struct memory_pieces *pieces, uint64_t sequence)
{
    struct memory_piece *list = NULL;

    while (pieces->oldest_released && pieces->oldest_released->released_at <= sequence) {
        struct memory_piece *piece = pieces->oldest_released;

        unqueue_released(pieces, piece);
        move_out_if_unused(pieces, piece, &list);
    }
    return list;
}

/* ---- kept states ---- */

struct memory_piece_kept *memory_pieces_keep(struct memory_pieces *pieces, size_t *ret_count)
{
    struct memory_piece_kept *kept = xcalloc(pieces->count + 1, sizeof *kept);
    size_t count = 0;

    for (size_t i = 0; i < pieces->bucket_count; i++)
        for (struct memory_piece *piece = pieces->buckets[i]; piece; piece = piece->next) {
            if (piece->references == 0)
                continue;
            piece->kept++;
            kept[count++] = (struct memory_piece_kept){ piece->id, piece->references };
        }
    *ret_count = count;
    return kept;
}

struct memory_piece *memory_pieces_unkeep(struct memory_pieces *pieces,
                                          const struct memory_piece_kept *kept, size_t count)
{
    struct memory_piece *list = NULL;

    for (size_t i = 0; i < count; i++) {
        struct memory_piece *piece = memory_piece_find(pieces, kept[i].id);

        assert(piece && piece->kept > 0);
        piece->kept--;
        move_out_if_unused(pieces, piece, &list);
    }
    return list;
}

void memory_pieces_return(struct memory_pieces *pieces, const struct memory_piece_kept *kept,
                          size_t count, uint64_t sequence)
{
    for (size_t i = 0; i < count; i++) {
        struct memory_piece *piece = memory_piece_find(pieces, kept[i].id);

        assert(piece && piece->kept > 0 && piece->returned == 0);
        piece->returned = kept[i].references;
    }
    for (size_t i = 0; i < pieces->bucket_count; i++)
        for (struct memory_piece *piece = pieces->buckets[i]; piece; piece = piece->next) {
            int64_t more = (int64_t)(piece->returned - piece->references);

            piece->returned = 0;
            if (more != 0)
                memory_piece_refer(pieces, piece->id, more, sequence);
        }
}
