/* A list that the root cell asks another cell for (other_cells.h): executes the request at that cell. */
#ifndef LAGRA_REQUEST_CELL_LIST_H
#define LAGRA_REQUEST_CELL_LIST_H

#include "request/peer_requests.h"

/* A handler of peer_requests.h. context: the struct endpoint_set */
int cell_list_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body);

#endif
