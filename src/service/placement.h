/* Placement of containers, queues, tables and shares in the cells of a cluster. The root cell has a
 * row for each name that is in another cell, in the partition in which the root would have its own
 * record. Creating, deleting and finding a row are therefore ordinary decisions on one partition. A
 * name without a row is in the root. A server without a cluster has no rows; its only cost is
 * reading a partition when a container is missing.
 *
 *   root    INNER "m"  u8 1; cell, incarnation: the name is in that cell
 *   others  INNER "o"  u8 1; service, account: the root has a row for this name, and is notified
 *                      when it is deleted
 *           INNER "n"  u8 1; incarnation, instant: released up to that incarnation; until that
 *                      instant, requests under it are refused, and then it is deleted
 *
 * While a name is being moved to another cell, it also has records of placement_move.h.
 *
 * In the root, the space of an account has a counter "m", cell (big-endian) for each other cell:
 * the number of rows for it. Lists and searches of the account use these counters to select cells
 * (other_cells.h). decision: 1006
 *
 * An incarnation is the instant of the decision that wrote the row. The root's clock is later than
 * all instants the partition has ever had, so no two rows of a name have the same incarnation.
 * decision: 993 */
#ifndef LAGRA_SERVICE_PLACEMENT_H
#define LAGRA_SERVICE_PLACEMENT_H

#include "service/decision.h"

/* How long a cell remembers that it has released a name: far longer than a front end uses a cached
 * placement (placements.h), and than a request may take to arrive. */
#define PLACEMENT_RELEASED_S 3600u

/* Returns the error for a container that does not exist in the partition `of`. This is
 * E_MisdirectedRequest (with the cell in d->problem) if it is or may be in another cell
 * (input.may_be_elsewhere), or if this cell has released it under the request's incarnation;
 * E_ServerBusy while it is being moved; otherwise `missing`. Can also return like
 * decision_fail_store(). */
enum error placement_missing(struct decision *d, struct read_view *of, enum error missing);
/* Finds the cell of a new container, which does not exist in d->before. Returns OK if it must be
 * created here, and E_MisdirectedRequest like placement_missing(). If it must be created in another
 * cell, sets *ret_is_elsewhere; then the row is in d->changes and the cell in d->result, and the
 * operation is complete. */
enum error placement_of_new(struct decision *d, bool *ret_is_elsewhere);

/* Called when d->changes delete the last record of a container. If the root has a row for it, adds
 * a task that notifies the root. */
enum store_result placement_deleted(struct decision *d);

/* ---- end of placements: placement_release.h ---- */

/* Kinds of deferred tasks, see deferred_tasks.h. The payload of the first two is
 * placement_payload(); the last one has none. */
enum { TASK_CHECK_PLACEMENT = 4, TASK_TELL_ROOT = 5, TASK_FORGET_RELEASE = 8 };
/* Encodes u8 1; service, account. */
struct bytes placement_payload(struct arena *arena, const char *service, struct bytes account);
bool placement_payload_read(struct bytes payload, struct bytes *ret_service,
                            struct bytes *ret_account);

/* Reads the row of a name. Returns STORE_NOT_FOUND if it has none. */
enum store_result placement_read(struct read_view *of, struct arena *arena,
                                 struct placement *ret_placement);
/* Removes this row. Called in the root. */
void placement_remove(struct changes *changes, const struct placement *row);
/* Counts the names in an account's space that are placed in another cell. Called in the root. */
enum store_result placement_count(struct store *store, struct guid space, uint32_t cell,
                                  struct store_access access, int64_t *ret_count);

enum placement_release {
    PLACEMENT_RELEASED,
    PLACEMENT_IN_USE, /* the container exists, is deleted and retained, or was deleted recently */
};
/* Releases the name up to this incarnation, unless it is in use. Called in cells other than the
 * root. */
enum store_result placement_release(struct decision *d, uint64_t incarnation,
                                    enum placement_release *ret_release);

/* Deletes the record of a release, if it refuses requests only until `now`. */
enum store_result placement_forget_release(struct decision *d, instant now);

#endif
