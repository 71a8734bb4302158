/* Executes a list request of the root cell (other_cells.h) in another cell. */
#ifndef LAGRA_REQUEST_CELL_LIST_H
#define LAGRA_REQUEST_CELL_LIST_H

#include "request/peer_requests.h"

/* Handler for peer_requests.h. context: struct endpoint_set */
int cell_list_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body);

#endif
