/* Inside commit.c and commit_rows.c: a commit while it is under way. */
#ifndef LAGRA_STORE_RADOS_COMMIT_PRIVATE_H
#define LAGRA_STORE_RADOS_COMMIT_PRIVATE_H

#include "store/rados/piece_rows.h"
#include "store/rados/rados_private.h"
#include "store/rados/resting.h"
#include "store/rados/todo.h"
#include "store/rados/transaction.h"

/* What is known of one part while its commit is under way. */
struct commit_member {
    struct partition partition;
    struct partition_header seen;
    struct rados_stripe *stripe;
    struct part_work *work;
    const struct piece_change *pieces; /* in the arena */
    size_t piece_count;
    bool has_pieces;
};

struct commit {
    struct transaction_owner owner; /* first */
    struct waiter waiter;
    struct rados *rados;
    struct transaction *transaction;
    struct arena *arena;
    instant now;
    uint64_t sequence;
    enum store_result result;
    struct commit_member members[COMMIT_PARTS_MAX];
    struct commit_limb *limbs; /* that take part */
    size_t count, at;
    struct resting resting;
    const struct guid *dropped;
    size_t dropped_count, sealed;
    struct arrival *arrival;
    struct todo_change *todo;
    bool is_plain;             /* others may rest on it */
    int64_t released;          /* bytes of pieces */
    bool is_decided, is_ended; /* both: it is freed; under the store's lock */
};

/* ---- commit_rows.c: what it does to its parts, in rows ---- */

/* But for pieces. view: of the part. returns STORE_OK, or as view_begin() */
enum store_result commit_add_changes(struct commit *c, struct commit_member *member,
                                     struct view *view, const struct changes *changes);
/* Those that nothing in the part refers to any longer are deleted after a while. Of those that have moved to another
 * part a row stays as long as they may be looked for.
 * returns STORE_OK; STORE_IO: a piece is moved and stays, logged */
enum store_result commit_free_pieces(struct commit *c, struct commit_member *member,
                                     const struct piece_freed *freed);

/* ---- commit_limbs.c: changes of records that lie in limbs ---- */

/* Reads the headers of those that the changes touch. After rados_begin(), and as that. */
enum store_result commit_limbs_begin(struct rados_snapshot *snapshot,
                                     const struct changes *changes);
/* Of records alone, those at home too. returns STORE_OK, or as view_begin() */
enum store_result commit_limbs_add(struct commit *c, struct commit_member *member,
                                   struct view *view, const struct changes *changes);

#endif
