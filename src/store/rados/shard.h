/* Commits to one shard: group commit, with one op in flight.
 *
 * RADOS applies one guarded op on an object at a time, whatever the number of clients; so what arrives
 * while an op is in flight goes together in the next. An op compares the bounds row and the header of each
 * partition in it, sets and removes their rows, and sets their headers. If it is refused, one read of all
 * these headers decides for each commit what became of it, and those that may still succeed are sent
 * again.
 *
 * Invariants:
 *  (1) At most one op of this shard is in flight.
 *  (2) A partition, and a row that is checked, is compared in an op once: two commits on the same state
 *      would both pass their guards, since compares see the state before the op. Commits of one partition
 *      of which each was decided on what the one before it will leave are a chain: in one op they are one
 *      change of the partition, compared with what the first has seen, and have one outcome.
 *  (3) A commit is answered STORE_OK only after an op that had it was applied on all replicas.
 *  (4) A commit whose outcome is not known is STORE_UNKNOWN, and is not sent again.
 *  (5) A commit whose partition is known to have a newer version than it has seen is not sent: a version
 *      never returns. So of many commits on one state all but the first cost no op.
 *  (6) Nobody has looked for tasks that are due when one that a commit adds is, and there is a hint of it
 *      before it is there: else it would be forgotten (tests/rados/model/todo.pml).
 *  (7) A partition that lies in another shard, or is being moved to one, is not written to here. A commit that may have
 *      been applied before the partition went there is looked for in the header that went along.
 *  (8) Nobody waits here for what is in another shard: so a commit whose link leads elsewhere is returned.
 *  (9) What was decided on a state that a commit will leave is sent with that commit or after it was
 *      applied, and never if it was not: decision 561. */
#ifndef LAGRA_STORE_RADOS_SHARD_H
#define LAGRA_STORE_RADOS_SHARD_H

#include "base/lock.h"
#include "base/waiter.h"
#include "store/rados/port.h"
#include "store/rados/shard_link.h"
#include "store/rados/shard_rows.h"

/* Of one op, so that it stays short on the wire and on the OSD. One commit may exceed the bytes. */
#define SHARD_GROUP_COMMITS 64u
#define SHARD_GROUP_BYTES   (4u << 20)
/* A commit that was refused so often without a change of its partition is given up as a conflict. */
#define SHARD_TRIES_MAX     8u

struct shard_change {
    struct shard_change *next;
    struct bytes key; /* of the row (row_key.h) */
    struct bytes value;
    bool is_removal;
};

/* A row that is compared beside the header and the bounds. */
struct shard_check {
    struct shard_check *next;
    struct bytes key, value; /* empty value: no such row, or an empty one */
    struct port_step *step;  /* the shard's */
};

/* What is added to a counter of the shard. */
struct shard_count {
    struct shard_count *next;
    struct bytes name;
    int64_t delta;
};

/* A deferred task; due later than was asked for where tasks have been looked for already. */
#define SHARD_MINUTE (60 * TICKS_PER_SECOND)
struct shard_task {
    struct shard_task *next;
    instant due;
    struct guid id;
    struct bytes value;
};

/* When a task will be due, in a shard in which tasks have been looked for up to `looked`. */
static inline instant shard_due(instant due, instant looked)
{
    instant later = due > looked ? due : looked + 1;

    return later < SHARD_MINUTE ? SHARD_MINUTE : later; /* minute 0 stands for none */
}

/* One commit of one partition, or another change of its header. The caller's, from shard_commit() until the waiter is
 * woken, with its links. One with a link, or that rests on another, has neither checks nor tasks nor `after`, and
 * has a header; and one that rests on another names no pieces. */
struct shard_commit {
    struct bytes partition_key;
    struct partition_header seen; /* version 0: absent */
    instant now;
    struct attempt attempt; /* all commits of one incarnation */
    bool has_pieces;        /* the fence of the attempt's incarnation is compared */
    const struct shard_change *changes;
    const struct shard_count *counts;
    struct shard_task *tasks;             /* their dues are changed */
    struct shard_check *checks;           /* may be sent again, so compared each time */
    const struct partition_header *after; /* NULL: as a commit leaves it */
    bool is_any_state;                    /* also in a sealed shard */
    bool has_no_header;          /* may be done again: neither compares nor changes the header */
    struct shard_link *link;     /* of those that rest on this one; NULL: nobody does */
    struct shard_link *rests_on; /* `seen` is what that commit leaves; NULL: it was read */
    struct waiter *waiter;

    /* Before the waiter is woken:
     *   STORE_OK         done and durable
     *   STORE_CONFLICT   the partition has changed, or what it rests on did not come to be: decide again
     *   STORE_NOT_FOUND  the space is dropped
     *   STORE_BUSY       a check does not hold, or (`minute` is not 0) there is no hint for a task that is
     *                    due in that minute; nothing was changed. Or what becomes of it is to be seen:
     *                    where the partition lies by now, or is being moved to (is_elsewhere); once what
     *                    it rests on is known, which is not here (is_early)
     *   STORE_FULL       the pool is; nothing was changed
     *   STORE_UNKNOWN
     *   STORE_IO         too large; or the incarnation is fenced: this front end was taken for dead, and
     *                    must not commit any more */
    enum store_result result;
    uint64_t minute;
    bool is_elsewhere, is_early;
    /* It was sent to a shard that the partition is no longer in, perhaps in a chain with this last attempt, and may have
     * been applied. Stays from one shard to the next. */
    bool was_sent_before;
    struct attempt sent_as;

    /* The shard's. */
    struct shard_commit *next;
    struct shard_commit *behind; /* in its chain, in the same op */
    struct shard_commit *last;   /* of the chain that it is the first of */
    unsigned tries;
    struct port_step *header; /* of the look */
    uint64_t newest; /* once it has ended: the partition has at least this version; 0: not known */
};

struct shard;

/* Whoever looks at how much is written to shards. */
struct shard_watch {
    /* So many rows were set in a shard, by an op that was applied. By threads of the port. */
    void (*wrote)(struct shard_watch *watch, const char *name, uint64_t rows, uint64_t bytes);
};

/* name: of the object (shard_name()). row: of its bounds, as it was read, however long ago.
 * returns STORE_OK, STORE_CORRUPT */
enum store_result shard_new(struct port *port, const char *name, struct bytes row,
                            struct shard **ret_shard);
/* One of which nothing is known yet. may_create: the first commit makes it, if it is not there. */
struct shard *shard_new_unread(struct port *port, const char *name, bool may_create);
/* There is a hint for tasks that are due in this minute. */
void shard_hinted(struct shard *shard, uint64_t minute);
/* From now on; NULL: nobody's. Before anything is in flight. */
void shard_set_watch(struct shard *shard, struct shard_watch *watch);
/* Nothing may be in flight or waiting. */
void shard_free(struct shard *shard);
/* Any thread; never waits, and never wakes the waiter in this call. */
void shard_commit(struct shard *shard, struct shard_commit *commit);

/* Makes the object of a shard: `done` is called once, PORT_EXISTS if it is there. */
void shard_create(struct port *port, const char *name, const struct shard_bounds *bounds,
                  void (*done)(struct port_op *op), void *context);

#endif
