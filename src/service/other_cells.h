/* Lists of an account that has containers, queues, tables or shares in several cells. The root cell
 * requests pages from the owners of the other cells (cell_page.h) and merges them with its own.
 *
 * A request to another cell is a POST of /-/list (cluster/peer.h). Its body (base/codec.h) is u8 1
 * (version), then as bytes: the service's name, the raw path below the account's name and the raw
 * query of the client's request, and its x-ms-version. The other cell decides the operation with
 * the same parameter checks, and responds with its page. The root has already checked the
 * permission. */
#ifndef LAGRA_SERVICE_OTHER_CELLS_H
#define LAGRA_SERVICE_OTHER_CELLS_H

#include "cluster/peer.h"
#include "service/server.h"

#define OTHER_CELLS_PATH        "/-/list"
#define OTHER_CELLS_VERSION     1
#define OTHER_CELLS_REQUEST_MAX ((size_t)64 << 10)

/* Other cells, as seen by the owner of the root. */
struct other_cells {
    struct peers *peers;
    uint32_t own;  /* number of this process's cell, the root */
    bool asks_all; /* test builds: query all cells, even without placements */
};

/* Names of an account in a service that are placed in other cells. */
struct placed_count {
    uint32_t cells[CLUSTER_CELLS_MAX]; /* cells with at least one of the names */
    unsigned cell_count;
    uint64_t
        names; /* number of containers, queues, tables or shares, including retained deleted ones */
};
/* Counts the names from the root's placements; zero outside the root. May block. Returns the
 * results of store_count(). */
enum store_result other_cells_count(const struct endpoint *endpoint, struct bytes account,
                                    struct placed_count *ret_count);

/* Returns true if the call is a list that must be merged with those of other cells. */
bool other_cells_matter(const struct call *call);
/* Counts the moves of containers before deciding a list that is merged, or is a page for the root.
 * May block. */
enum error other_cells_count_moves(struct call *call);
/* Fetches the pages of the other cells concurrently into call->input.merged. May wait for other
 * machines.
 *
 * returns  OK; E_ServerBusy if a cell cannot be reached, E_InternalError if its response is not a
 * page */
enum error other_cells_fetch(struct call *call);

#endif
