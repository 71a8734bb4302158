/* Internal to source/, except cell_source_serve(): a copy source in another cell of the cluster.
 * The owner of that cell opens it like a local source (open_source.h), so access, conditions and
 * errors are the same. It sends the properties, and streams the bytes while the copy reads them.
 * One response shows one state of the source. Later requests fail with SourceConditionNotMet if the
 * ETag has changed.
 *
 * The root knows the cell of each container; other cells send it the same request to find the cell.
 * decision: 1080 */
#ifndef LAGRA_SOURCE_CELL_SOURCE_H
#define LAGRA_SOURCE_CELL_SOURCE_H

#include "request/peer_requests.h"
#include "source/cell_wire.h"
#include "source/open_source.h"
#include "source/page_walk.h"

/* Opens a source like source_open(), after own_open() has returned E_MisdirectedRequest. Closes the
 * source of own_open(). */
enum error cell_open(struct gathering *g, const struct endpoint *endpoint,
                     const struct copy_source *source, struct open_source *open);
/* Returns the committed blocks. */
enum error cell_blocks(const struct open_source *open, struct copied_bytes *ret_blocks);
/* Requests the bytes of the source, unless the first response contains them. */
enum error cell_begin(struct gathering *g, struct open_source *open);
/* Finds the ranges of the next step from a position; cell_read() then reads their bytes. Returns OK
 * or the source's error. */
enum error cell_step(struct gathering *g, struct open_source *open,
                     const struct page_walk_from *from, struct content_ranges *ret_ranges);
/* Reads the next 1..max bytes; *ret_count is 0 at the end. Returns E_ServerBusy if the owner of the
 * cell was lost. */
enum error cell_read(struct gathering *g, struct open_source *open, char *to, size_t max,
                     size_t *ret_count);
void cell_close(struct open_source *open);

/* Handles CELL_SOURCE_PATH (peer_requests.h). context: struct endpoint_set */
peer_stream_fn cell_source_serve;

#endif
