/* Backlog records, which identify data that content_collect() will delete, and sets of runs.
 * Internal to content/.
 *
 *   key      'q', 1 kind, 1 source, 8 id be, 4 part be
 *   payload  1   version (1)
 *            then for
 *            BACKLOG_RECORDS  1 with_runs (0 or 1), bytes prefix, bytes from: the records with this
 *                             key prefix, from the key `from` on. with_runs: their values are
 *                             blocks, whose runs must also be deleted
 *            BACKLOG_RUNS     v count, then each run id as 8 bytes le: runs to be deleted
 *            BACKLOG_CHAIN    nothing: the content has no holder and must leave its chain
 *            BACKLOG_GENERATION, BACKLOG_HOLE
 *                             like BACKLOG_RECORDS, except: part: the deleted generation of
 *                             sparse content, or the lower half of a hole's stamp;
 *                             prefix: empty, or the hole's stamp, be; from: where to continue
 *
 * When the format changes, increment the version and keep the old reader.
 *
 * Backlog invariants, cited as "backlog invariant N":
 * (1) Nothing else refers to the data identified by a backlog record, so it may be deleted at any
 *     time, in any order, and twice.
 * (2) A record has at most BACKLOG_RUNS_MAX runs. */
#ifndef LAGRA_CONTENT_BACKLOG_H
#define LAGRA_CONTENT_BACKLOG_H

#include "content/segment.h"

#define BACKLOG_PREFIX   'q'
#define BACKLOG_RUNS_MAX 1000u

enum backlog_kind {
    BACKLOG_RECORDS,
    BACKLOG_RUNS,
    BACKLOG_CHAIN,
    BACKLOG_GENERATION,
    BACKLOG_HOLE,
    BACKLOG_KINDS,
};

/* What the id in a backlog record identifies */
enum backlog_source {
    BACKLOG_OF_CONTENT, /* content */
    BACKLOG_OF_BLOCKS,  /* a call of content_leave_blocks() or content_delete_unnamed() */
};

void backlog_add_chain(struct changes *changes, uint64_t id);
/* Adds the content's segments, from this key on. */
void backlog_add_segments(struct changes *changes, uint64_t id, struct bytes from);
/* Adds all records of content whose keys start with the kind and its id. */
void backlog_add_kind(struct changes *changes, uint64_t id, char kind);
void backlog_add_generation(struct changes *changes, uint64_t id, uint32_t generation);
void backlog_add_hole(struct changes *changes, uint64_t id, uint64_t stamp);

struct run_set {
    uint64_t *ids; /* ascending, without duplicates */
    size_t count, capacity;
};
void backlog_add_runs(struct changes *changes, enum backlog_source source, uint64_t id,
                      const struct run_set *runs);

/* The decoded value of a backlog record. */
struct backlog {
    enum backlog_kind kind;
    enum backlog_source source;
    uint64_t id;
    uint32_t part;       /* number of this record if a set of runs needs several */
    const uint8_t *runs; /* run_count x 8 bytes le */
    size_t run_count;
    bool with_runs;
    struct bytes prefix, from;
};
bool backlog_decode(const struct record *record, struct backlog *ret_backlog);
/* Replace the backlog record that a step has partly processed by one for the remaining work: with a
 * later `from` (BACKLOG_RECORDS, BACKLOG_GENERATION, BACKLOG_HOLE) or fewer runs (BACKLOG_RUNS). */
void backlog_put_records(struct changes *changes, const struct backlog *backlog);
void backlog_put_runs(struct changes *changes, const struct backlog *backlog, const uint64_t *runs,
                      size_t count);

/* ---- deleting ---- */

/* Remaining budget of a step of content_collect(). A step processes one unit, run or record at a
 * time until the budget is spent, so its list of changes remains far below any arena's limit,
 * whatever clients wrote. */
struct budget {
    size_t records;                /* records that may still be deleted */
    const struct changes *changes; /* changes of the step */
    size_t held;                   /* bytes in the arena when the step started */
};

/* Size of the changes at which a step stops. One more unit or record adds less than 2 MiB, and the
 * commit needs about as much memory again. decision: 245 */
#define STEP_HELD_BYTES ((size_t)4 << 20)

static inline void budget_spend(struct budget *budget, size_t records)
{
    budget->records -= records < budget->records ? records : budget->records;
}

static inline bool budget_is_spent(const struct budget *budget)
{
    return budget->records == 0 ||
           arena_held(changes_arena(budget->changes)) - budget->held > STEP_HELD_BYTES;
}

/* ---- sets of runs ---- */

enum damage_rule {
    DAMAGE_STOPS, /* fail with STORE_CORRUPT at a corrupt segment */
    /* treat a corrupt segment as empty; runs that only it refers to are never freed */
    DAMAGE_IS_SKIPPED,
};
/* Reads the runs of the segments of content that end after `offset`. */
enum store_result run_set_of_content(struct read_view *before, struct arena *arena, uint64_t id,
                                     uint64_t offset, enum damage_rule rule,
                                     struct run_set *ret_set);
struct run_set run_set_of_segment(struct arena *arena, const struct segment *segment);
struct run_set run_set_of_blocks(struct arena *arena, const struct content_block *blocks,
                                 size_t count);
/* Removes the runs of `other` from the set. */
void run_set_subtract(struct run_set *set, const struct run_set *other);

/* ---- chains: content_run.c ---- */

/* Adds the content to its blob's chain, because its runs may be shared. */
void chain_join(struct changes *changes, uint64_t id);
/* Deletes the segments of content that has no holder and removes it from its chain. Adds the runs
 * that no neighbour refers to to the backlog. Must be called at most once per list of changes,
 * because it reads the neighbours from the state before the changes. */
enum store_result chain_leave(struct read_view *before, struct changes *changes,
                              struct arena *arena, uint64_t id);

#endif
