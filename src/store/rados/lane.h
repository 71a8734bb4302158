/* One lane of a walk: the pages of it that were read, and the one that is being read.
 *
 * LISTED records lie in the order of the shards of the lane, so their pages follow each other through the chain. Rows of
 * other kinds lie in any of its shards: each has pages of its own, and they are merged. Partitions go from a shard to the
 * one behind it while they are read: what a page of the first has no more must be in those of the second, so these
 * are read again if they are older. */
#ifndef LAGRA_STORE_RADOS_LANE_H
#define LAGRA_STORE_RADOS_LANE_H

#include "store/rados/view.h"
#include "store/rados/view_rows.h"

/* A page that was read so often, and each time showed a transaction that had to be settled, is given up. */
#define LANE_TRIES_MAX  64u
/* Of a page; more each time. */
#define LANE_ROWS_FIRST 32u
#define LANE_ROWS_MAX   512u
/* The kind of rows that are of one partition each, in its order. */
#define LANE_LISTED     'L'

enum lane_step { LANE_IDLE, LANE_PAGE, LANE_LOCKS };

struct lane {
    struct shards *shards;
    struct guid space;
    unsigned number;
    char kind; /* that all keys begin with */
    char object[SHARD_NAME_SIZE];
    uint64_t shard; /* of that object */
    struct lane *before,
        *behind;        /* of another kind than LISTED: of the shards around it in the chain */
    struct bytes place; /* from where its rows are wanted: of who walks */
    bool is_read;       /* the next two are those of its newest page, and of its oldest one */
    struct bytes hi;
    struct shard_bounds oldest;
    struct view_rows rows;
    uint32_t page; /* rows to ask for */
    bool is_gone;

    enum lane_step step;
    unsigned tries;
    bool is_single;          /* one row is wanted */
    bool is_again;           /* the page is to be read again */
    struct bytes from;       /* of the page */
    struct bytes partition;  /* LISTED: the first that may be in it */
    struct arrival *arrival; /* of the page, once it has come too */
    const struct port_step *bounds_step, *slots_step, *header_step, *at_step, *list_step;
    struct view *locked[ROW_SLOTS]; /* partitions, with the transactions that the page saw */
    struct attempt transactions[ROW_SLOTS];
    unsigned locked_count;
    /* The partition in which pages begin and end, and its header. */
    struct bytes large, large_header;
    bool has_large;
};

/* The first shard of a lane; those behind it are added as they are found. */
void lane_init(struct lane *lane, struct shards *shards, const struct guid *space, unsigned number,
               char kind);
/* With those behind it. */
void lane_release(struct lane *lane);
/* Sees to it that the row `from`, or the place where it would be, is known; is_single: that only. What stays lies in
 * the arena.
 * returns STORE_OK, STORE_WAIT: lane_arrival(); and as walk_next() */
enum store_result lane_fetch(struct lane *lane, struct arena *arena, struct bytes from,
                             bool is_single);
struct arrival *lane_arrival(struct lane *lane);

#endif
