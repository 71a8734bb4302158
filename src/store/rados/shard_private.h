/* Inside shard.c, shard_op.c and shard_wait.c: a shard, as who has made it busy sees it. */
#ifndef LAGRA_STORE_RADOS_SHARD_PRIVATE_H
#define LAGRA_STORE_RADOS_SHARD_PRIVATE_H

#include "store/rados/crowd.h"
#include "store/rados/shard.h"
#include "store/rados/turn.h"

/* What is known of a counter of the shard, by its last look or by an op of its own since. */
struct shard_counter {
    struct shard_counter *next;
    struct bytes name; /* on the heap */
    int64_t value, next_value;
    bool is_known, is_there, is_touched;
    struct port_step *step; /* of the look */
};

/* For so many minutes it is remembered that there is a hint. */
#define SHARD_HINTS 32u

struct shard {
    struct port *port;
    char *name;
    struct shard_watch *watch; /* or NULL */
    bool may_create;           /* made by the first commit, if it is not there */
    struct lock lock;
    struct shard_commit *waiting, **end; /* under lock */
    bool is_busy;                        /* under lock: an op is in flight, or is being made */
    uint64_t hints[SHARD_HINTS];         /* under lock: minutes; 0: none */
    unsigned next_hint;                  /* under lock */
    struct crowd crowd;                  /* under lock */
    bool is_held;     /* under lock: busy, and the next op waits, until so many commits do: */
    unsigned awaited; /* under lock */
    bool is_pausing;  /* under lock: a pause is under way */
    bool is_freed;    /* under lock: by the end of that */
    struct waiter pause;

    /* Of whoever has made it busy. */
    struct turn turn;
    bool looks_first;           /* before the next op of a group */
    uint64_t sent_ms;           /* the last op of a group */
    struct shard_commit *group; /* the first of each chain */
    struct bytes row;           /* of the bounds, on the heap, as it was read last; none: never */
    struct shard_bounds bounds; /* that it says */
    enum port_result refusal;   /* of the op that the look is about */
    struct port_step *bounds_step, *fence_step, *looked_step;
    bool is_looked_known;
    instant looked; /* up to when tasks have been looked for */
    struct shard_counter *counters;
};

/* ---- shard_wait.c ---- */

/* Before the next group is filled: is the op to wait? Then it goes on by the end of the pause. */
bool shard_holds_back(struct shard *shard);
/* The pause is over. True: the op goes on now. Else *ret_is_freed: nobody uses the shard any more. */
bool shard_pause_over(struct shard *shard, bool *ret_is_freed);
/* Under the lock: a commit was added to those that wait. True: it is the last that was waited for, and the caller goes on. */
bool shard_has_come(struct shard *shard);
/* These are about to be woken, and may come back. */
void shard_answered(struct shard *shard, const struct shard_commit *ended);

/* ---- shard_op.c ---- */

/* The header that a chain leaves. */
struct partition_header shard_header_after(const struct shard_commit *first);
/* Of the bounds, as they are now: that others ask for a gap is seen by it (turn.h). returns STORE_OK, STORE_CORRUPT */
enum store_result shard_set_bounds(struct shard *shard, struct bytes row);
/* Is all known that the op of the group compares? */
bool shard_knows(struct shard *shard);
/* Sends the group, or reads what its guards compare. */
void shard_send_group(struct shard *shard, void (*done)(struct port_op *op));
void shard_send_look(struct shard *shard, void (*done)(struct port_op *op));
/* Changes the epoch of the bounds, and nothing else. */
void shard_send_ask(struct shard *shard, void (*done)(struct port_op *op));
/* Takes the dues of tasks as they will be. False: a hint is missing; the commit says for which minute. */
bool shard_is_hinted(struct shard *shard, struct shard_commit *commit);
/* After a look: the bounds, counters and the mark are as they were read. */
enum store_result shard_take_look(struct shard *shard);
/* What became of a chain of a group that was refused, or not sent yet; STORE_WAIT: to be sent. */
enum store_result shard_outcome(struct shard *shard, struct shard_commit *commit);
/* The op of the group was applied: what it made of the counters is known. */
void shard_counters_applied(struct shard *shard);
void shard_counters_free(struct shard *shard);

#endif
