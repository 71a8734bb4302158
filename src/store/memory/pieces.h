/* The pieces of the memory store: their references, and when they are freed. Internal to
 * store/memory/.
 *
 *   staged      its stage is open: kept
 *   referenced  by records: kept
 *   kept        a kept state refers to it: kept
 *   released    no reference since the commit `released_at`: kept until no open snapshot is older
 *               than that commit (store invariant 4)
 *
 * A piece in none of these states is removed from the table and freed. All functions except
 * memory_piece_new() and memory_pieces_free() need the lock of the store. */
#ifndef LAGRA_STORE_MEMORY_PIECES_H
#define LAGRA_STORE_MEMORY_PIECES_H

#include "store/store_private.h"

struct memory_piece {
    struct memory_piece *next; /* in its bucket, or in a list to be freed */
    struct memory_piece *older_released;
    struct memory_piece *newer_released;
    uint64_t id; /* `offset` in struct piece; the extent is 0 */
    uint32_t length;
    bool staged;
    bool released;
    uint64_t references;
    uint64_t kept;        /* number of kept states that refer to it */
    uint64_t returned;    /* number of references after memory_pieces_return() */
    uint64_t released_at; /* sequence of the commit */
    char *data;
    uint32_t sector_crc[PIECE_SECTORS_MAX];
    struct piece_seal *seal; /* NULL: not encrypted */
};

struct memory_pieces {
    struct memory_piece **buckets;
    size_t bucket_count; /* a power of two */
    size_t count;
    uint64_t last_id;
    struct memory_piece *oldest_released;
    struct memory_piece *newest_released;
    struct store_usage usage;
};

void memory_pieces_init(struct memory_pieces *pieces);
/* Frees all remaining pieces. */
void memory_pieces_release(struct memory_pieces *pieces);

struct memory_piece *memory_piece_new(void);
/* Adds a staged piece to the table, with a new id. */
void memory_piece_add(struct memory_pieces *pieces, struct memory_piece *piece);
/* Returns NULL if it is not found. */
struct memory_piece *memory_piece_find(const struct memory_pieces *pieces, uint64_t id);
/* Adds references to a piece or removes them. sequence: of the commit that does it */
void memory_piece_refer(struct memory_pieces *pieces, uint64_t id, int64_t references,
                        uint64_t sequence);
/* Called when its stage has closed. Adds the piece to the list if it may be freed. */
void memory_piece_unstage(struct memory_pieces *pieces, struct memory_piece *piece,
                          struct memory_piece **list);
/* Removes all pieces released by commits up to `sequence`, and returns them as a list to be
 * freed. */
struct memory_piece *memory_pieces_collect(struct memory_pieces *pieces, uint64_t sequence);
/* A piece of a kept state. */
struct memory_piece_kept {
    uint64_t id;
    uint64_t references;
};
/* Keeps all pieces that have references; returns memory from malloc. */
struct memory_piece_kept *memory_pieces_keep(struct memory_pieces *pieces, size_t *ret_count);
/* Stops keeping them. Returns those that nothing else keeps, as a list to be freed. */
struct memory_piece *memory_pieces_unkeep(struct memory_pieces *pieces,
                                          const struct memory_piece_kept *kept, size_t count);
/* Sets the number of references of each piece as listed; others get none. sequence: of the commit
 * that does this */
void memory_pieces_return(struct memory_pieces *pieces, const struct memory_piece_kept *kept,
                          size_t count, uint64_t sequence);
/* Frees a list, without the lock. */
void memory_pieces_free(struct memory_piece *list);

#endif
