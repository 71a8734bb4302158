/* In which cell of a cluster a container, queue, table or share is. The root cell keeps a row of each that is in another cell,
 * in the partition where the root would have its own record, so that creating, deleting and finding it are ordinary decisions
 * about one partition. A name without a row is in the root, so a server without a cluster has no rows, and pays nothing but a
 * read of a partition when a container is missing.
 *
 *   root    INNER "m"  u8 1; cell, incarnation: the name is in that cell
 *   others  INNER "o"  u8 1; service, account: the root has a row of what is here, and is told when that is deleted
 *           INNER "n"  u8 1; incarnation, instant: released up to that incarnation; until that instant, requests under it
 *                      are refused
 *
 * While a name is moved to another cell it has records of placement_move.h too.
 *
 * The space of an account in the root has a counter "m", cell (big-endian) for each other cell: the number of rows that name it.
 * By these, lists and searches over the account know which cells to ask (other_cells.h). decision: 1006
 *
 * An incarnation is the instant of the decision that wrote the row: the root's clock is above all that the partition
 * ever had, so no two rows of a name have the same. decision: 993 */
#ifndef LAGRA_SERVICE_PLACEMENT_H
#define LAGRA_SERVICE_PLACEMENT_H

#include "service/decision.h"

/* How long a cell remembers that it has released a name: far longer than a front end uses what it knows of a placement
 * (placements.h), and than a request may take to arrive. */
#define PLACEMENT_RELEASED_S 3600u

/* Of a container that does not exist in the partition `of`: returns E_MisdirectedRequest (d->problem says where) if it is in
 * another cell, or may be (input.may_be_elsewhere), or if this cell has released it under the incarnation of the request, or
 * E_ServerBusy while it is moved; else `missing`. Or as decision_fail_store(). */
enum error placement_missing(struct decision *d, struct snapshot *of, enum error missing);
/* Of a container that is about to be created in d->before, where it does not exist. Returns OK if it is to be created here.
 * Returns E_MisdirectedRequest as placement_missing() does. If it is to be in another cell, sets *ret_is_elsewhere: the row is
 * in d->changes, and d->result says where, and the operation has decided. */
enum error placement_of_new(struct decision *d, bool *ret_is_elsewhere);

/* Of a container whose last record d->changes delete: has the root told that it is gone, if the root has a row of it. */
enum store_result placement_deleted(struct decision *d);

/* ---- the end of placements: placement_release.h ---- */

/* Kinds of deferred tasks, see deferred_tasks.h. Their payload is placement_payload(). */
enum { TASK_CHECK_PLACEMENT = 4, TASK_TELL_ROOT = 5 };
/* u8 1; service, account */
struct bytes placement_payload(struct arena *arena, const char *service, struct bytes account);
bool placement_payload_read(struct bytes payload, struct bytes *ret_service,
                            struct bytes *ret_account);

/* Reads the row of a name. returns STORE_NOT_FOUND if it has none */
enum store_result placement_read(struct snapshot *of, struct arena *arena,
                                 struct placement *ret_placement);
/* In the root: removes the row, which is this. */
void placement_remove(struct changes *changes, const struct placement *row);
/* In the root: counts the names in a space of an account that are placed in another cell. */
enum store_result placement_count(struct store *store, struct guid space, uint32_t cell,
                                  struct store_access access, int64_t *ret_count);

enum placement_release {
    PLACEMENT_RELEASED,
    PLACEMENT_IN_USE, /* the container exists, or one that was deleted is retained */
};
/* In another cell than the root: releases the name up to this incarnation, unless it is in use. */
enum store_result placement_release(struct decision *d, uint64_t incarnation,
                                    enum placement_release *ret_release);

#endif
