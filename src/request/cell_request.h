/* Requests of an operator (internal_request.h) in a cluster with several cells: each is executed by
 * the owner of the cell that has its container, queue, table or share, whichever owner received it
 * from the operator. The root knows the cell, chooses the cell of a new container, and merges
 * lists.
 *
 * Request, a POST of /-/operator (cluster/peer.h), with base/codec.h: u8 1 (version), bytes:
 * service; u64 method, bytes: raw path, raw query; u64 incarnation of the placement, or 0; u8 1 if
 * it is on behalf of the service; number of headers, their names and values; bytes: the body.
 *
 * Response: u8 1; the error (problem_encode_error()); bytes: detail; u64 cell and u64 incarnation
 * of the placement after E_MisdirectedRequest; the response (response_record.h). */
#ifndef LAGRA_REQUEST_CELL_REQUEST_H
#define LAGRA_REQUEST_CELL_REQUEST_H

#include "request/internal_request.h"

#define CELL_REQUEST_PATH "/-/operator"
#define CELL_REQUEST_MAX  ((size_t)5 << 20)

/* Runs a request like internal_request_run(), in the cell that has its container. Its body has
 * at most 4 MiB. May wait for other machines. */
void cell_request_run(const struct endpoint *endpoint, struct arena *arena,
                      const struct internal_request *internal,
                      struct internal_response *ret_answer);

/* Handles CELL_REQUEST_PATH (peer_requests.h). context: struct endpoint_set */
int cell_request_serve(void *context, struct bytes body, struct arena *arena,
                       struct text *ret_body);

#endif
