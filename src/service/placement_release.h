/* The end of placements (placement.h). A row of the root whose container is gone, or was never created, is removed once its cell
 * has promised to refuse requests under its incarnation:
 *
 *   the root    has written a row, or was told that the container is gone: TASK_CHECK_PLACEMENT asks the cell to release the
 *               name, 30 s after the row was written, or at once; if it does, the row is removed
 *   the cell    POST /-/release: unless the container exists or is retained, notes that the name is released, durably
 *   the cell    has deleted the container: TASK_TELL_ROOT tells the root
 *   the root    POST /-/check: adds a TASK_CHECK_PLACEMENT, durably
 *
 * Each step is repeated until it is done, and may be done twice. Bodies of the requests (base/codec.h): u8 1 (version); service,
 * account, name, as bytes; incarnation. decision: 995 */
#ifndef LAGRA_SERVICE_PLACEMENT_RELEASE_H
#define LAGRA_SERVICE_PLACEMENT_RELEASE_H

#include "cluster/peer.h"
#include "service/server.h"

#define PLACEMENT_RELEASE_PATH "/-/release"
#define PLACEMENT_CHECK_PATH   "/-/check"
#define PLACEMENT_BODY_MAX     1024u

/* Handlers of the tasks. */
task_fn placement_check_task;
task_fn placement_tell_root_task;
/* Handlers of the requests (peer_requests.h). context: struct endpoint_set */
int placement_release_serve(void *context, struct bytes body, struct arena *arena,
                            struct text *ret_body);
int placement_check_serve(void *context, struct bytes body, struct arena *arena,
                          struct text *ret_body);

#endif
