/* Lists of an account whose containers, queues, tables and shares are in several cells: the root cell asks the owners of the
 * others for their pages (cell_page.h) and merges them with its own.
 *
 * A request to another cell, a POST of /-/list (cluster/peer.h), has as its body (base/codec.h): u8 1 (version), then as bytes
 * the service's name, the raw path and query of the client's request, below the account's name, and its x-ms-version. The other
 * cell decides it as the operation that it is, with the same checks of the parameters, and responds with its page. Who may list
 * was decided at the root. */
#ifndef LAGRA_SERVICE_OTHER_CELLS_H
#define LAGRA_SERVICE_OTHER_CELLS_H

#include "cluster/peer.h"
#include "service/server.h"

#define OTHER_CELLS_PATH        "/-/list"
#define OTHER_CELLS_VERSION     1
#define OTHER_CELLS_REQUEST_MAX ((size_t)64 << 10)

/* The other cells, as the owner of the root sees them. */
struct other_cells {
    struct peers *peers;
    uint32_t own;  /* number of the cell that this process owns: the root */
    bool asks_all; /* test builds: all cells, also those that no placement names */
};

/* What of an account, in the service of a call, is placed in other cells. */
struct placed_count {
    uint32_t cells[CLUSTER_CELLS_MAX]; /* that have anything of it */
    unsigned cell_count;
    uint64_t
        names; /* containers, queues, tables or shares, with those that are deleted and retained */
};
/* Counts them by the placements of the root; elsewhere there is nothing. Thread that may block. returns as store_count() */
enum store_result other_cells_count(const struct call *call, struct placed_count *ret_count);

/* Is the call a list that has to be merged with those of other cells? */
bool other_cells_matter(const struct call *call);
/* Counts the moves of containers before a list is decided that is merged, or is a page for the root. Thread that may block. */
enum error other_cells_count_moves(struct call *call);
/* Fetches the pages of the other cells, all at the same time, for call->input.merged. Thread that may wait for other machines.
 *
 * returns  OK; E_ServerBusy if one of them cannot be reached, E_InternalError if it has sent something else than a page */
enum error other_cells_fetch(struct call *call);

#endif
