/* Parts of a Blob Batch whose containers are in other cells. The root sends them to the owners of
 * those cells, all parts for a cell in one request. The owner parses each part as the root did, and
 * authenticates, decides and commits it like any other request. The root merges the responses in
 * the order of the parts. decision: 1100
 *
 * Request, a POST of /-/parts (cluster/peer.h), with base/codec.h: u8 1 (version); bytes: service,
 * raw path, authority, x-ms-version, client's address and version of the batch; u8 flags (1 over
 * TLS, 2 has proxy headers); number of parts; for each part, u64 incarnation of the placement, its
 * request id (16 bytes), bytes: the request as received.
 *
 * Response: u8 1; for each part in order, u8 0 if the cell does not have its container; else u8 1,
 * the error (problem_encode_error()) and the response (response_record.h). */
#ifndef LAGRA_REQUEST_CELL_PARTS_H
#define LAGRA_REQUEST_CELL_PARTS_H

#include "request/peer_requests.h"
#include "request/request_private.h"
#include "service/batch.h"

#define CELL_PARTS_PATH        "/-/parts"
/* A batch of 4 MiB, and the fields for each part. */
#define CELL_PARTS_REQUEST_MAX ((size_t)5 << 20)

/* Sends the parts that have `is_elsewhere` to the owners of the cells named by their problems. Sets
 * the error of each, which is E_MisdirectedRequest if the cell no longer has its container, and its
 * response unless the owner was not reached. May wait for other machines.
 *
 * works    as many as parameters->parts
 * returns  false if a part may have been executed whose response is not known */
bool cell_parts_run(const struct call *whole, const struct batch_parameters *parameters,
                    struct work *works);

/* Handles CELL_PARTS_PATH (peer_requests.h). context: struct endpoint_set */
int cell_parts_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body);

#endif
