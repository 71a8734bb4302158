/* Removal of placements (placement.h). If the container of a row was deleted or never created, the
 * root removes the row once its cell has promised to refuse requests under its incarnation:
 *
 *   the root    has written a row, or was notified that the container was deleted:
 *               TASK_CHECK_PLACEMENT asks the cell to release the name, 30 s after the row was
 *               written, or at once; if the cell does, the row is removed
 *   the cell    POST /-/release: durably records that the name is released, unless the container
 *               exists or is retained
 *   the cell    has deleted the container: TASK_TELL_ROOT notifies the root
 *   the root    POST /-/check: durably adds a TASK_CHECK_PLACEMENT
 *
 * Each step is repeated until it is done, and may be done twice. Request bodies (base/codec.h): u8
 * 1 (version); service, account, name, as bytes; incarnation. decision: 995 */
#ifndef LAGRA_SERVICE_PLACEMENT_RELEASE_H
#define LAGRA_SERVICE_PLACEMENT_RELEASE_H

#include "cluster/peer.h"
#include "service/server.h"

#define PLACEMENT_RELEASE_PATH "/-/release"
#define PLACEMENT_CHECK_PATH   "/-/check"
#define PLACEMENT_BODY_MAX     1024u

/* Task handlers. */
task_fn placement_check_task;
task_fn placement_tell_root_task;
/* Request handlers (peer_requests.h). context: struct endpoint_set */
int placement_release_serve(void *context, struct bytes body, struct arena *arena,
                            struct text *ret_body);
int placement_check_serve(void *context, struct bytes body, struct arena *arena,
                          struct text *ret_body);

#endif
