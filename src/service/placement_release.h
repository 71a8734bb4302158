/* Removes placements (placement.h), and places restored containers. If the container of a row was
 * deleted or never created, the root removes the row once its cell has promised to refuse requests
 * under its incarnation:
 *
 *   the root    has written a row, or was notified that the container was deleted:
 *               TASK_CHECK_PLACEMENT asks the cell to release the name, 30 s after the row was
 *               written, or at once; if the cell does, the row is removed
 *   the cell    POST /-/release: durably records that the name is released, unless the container
 *               exists or is retained; TASK_FORGET_RELEASE deletes that record after an hour
 *   the cell    has deleted the container: TASK_TELL_ROOT notifies the root
 *   the root    POST /-/check: durably adds a TASK_CHECK_PLACEMENT
 *
 * Each step is repeated until it succeeds, and may be performed twice. Request bodies
 * (base/codec.h): u8 1 (version); service, account, name, as bytes; incarnation. decision: 995
 *
 * A container that is restored in a cell other than the root needs a row before it becomes visible:
 *
 *   the cell    has all of the contents
 *   the root    POST /-/claim, with the cell instead of the incarnation: writes a row for that
 *               cell, unless the name is in another one, and a TASK_CHECK_PLACEMENT. Response: u8
 *               1; cell and incarnation of the name
 *   the cell    makes the container visible, unless the name was released in between
 *
 * decision: 1173 */
#ifndef LAGRA_SERVICE_PLACEMENT_RELEASE_H
#define LAGRA_SERVICE_PLACEMENT_RELEASE_H

#include "cluster/peer.h"
#include "service/server.h"

#define PLACEMENT_RELEASE_PATH "/-/release"
#define PLACEMENT_CHECK_PATH   "/-/check"
#define PLACEMENT_CLAIM_PATH   "/-/claim"
#define PLACEMENT_BODY_MAX     1024u

/* Task handlers. */
task_fn placement_check_task;
task_fn placement_tell_root_task;
task_fn placement_forget_release_task;
/* Request handlers (peer_requests.h). context: struct endpoint_set */
int placement_release_serve(void *context, struct bytes body, struct arena *arena,
                            struct text *ret_body);
int placement_check_serve(void *context, struct bytes body, struct arena *arena,
                          struct text *ret_body);
int placement_claim_serve(void *context, struct bytes body, struct arena *arena,
                          struct text *ret_body);

/* Claims a name for this cell, which is not the root. May wait for another machine.
 *
 * ret_where  the cell that has the name, and the incarnation of its placement
 * returns    OK; E_MisdirectedRequest if another cell has it; E_ServerBusy if the root cannot be
 *            reached or the name is being moved; E_InternalError */
enum error placement_claim(const struct endpoint *endpoint, const struct partition *name,
                           struct bytes account, uint32_t cell, struct arena *arena,
                           struct placement *ret_where);

#endif
