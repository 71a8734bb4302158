/* Restores the placements of containers after the data directory of a cell was replaced by a
 * backup: `lagra cluster reclaim` makes the owner of each cell other than the root claim all names
 * in its cell (service/placement_release.h).
 *
 *   /-/reclaim   u8 1 (version); u64 cell. Response: u8 1; u64 number of names that are placed in
 *                the cell; then for each name that is placed in another cell, up to
 *                RECLAIM_CONFLICTS_MAX: service, account, name, as bytes, and u64 cell
 *
 * decision: 1178 */
#ifndef LAGRA_ADMIN_CELL_RECLAIM_H
#define LAGRA_ADMIN_CELL_RECLAIM_H

#include "base/arena.h"

#define CELL_RECLAIM_PATH     "/-/reclaim"
#define CELL_RECLAIM_BODY_MAX 64u
#define RECLAIM_CONFLICTS_MAX 1000u

/* Handles the request (peer_requests.h). May wait for the root for each name. context: struct
 * endpoint_set */
int cell_reclaim_serve(void *context, struct bytes body, struct arena *arena,
                       struct text *ret_body);

#endif
