/* Internal to source/, except serving: a copy source in another cell of the cluster. The owner of that cell opens it like a source of
 * its own (own_source.h), so access, conditions and errors are the same. It sends what is known of it, and its bytes as a stream
 * while the copy reads them. The bytes of one response are of one state. The bytes of a later one are refused if the source has
 * another ETag by then: SourceConditionNotMet.
 *
 * The root knows in which cell a container is; other cells ask it, by the same request. decision: 1080 */
#ifndef LAGRA_SOURCE_CELL_SOURCE_H
#define LAGRA_SOURCE_CELL_SOURCE_H

#include "request/peer_requests.h"
#include "source/cell_wire.h"
#include "source/open_source.h"
#include "source/page_walk.h"

/* Like source_open(), after own_open() has returned E_MisdirectedRequest, whose source is closed. */
enum error cell_open(struct gathering *g, const struct endpoint *endpoint,
                     const struct copy_source *source, struct open_source *open);
/* Returns the committed blocks. */
enum error cell_blocks(const struct open_source *open, struct copied_bytes *ret_blocks);
/* Begins with the requested bytes; once. */
enum error cell_begin(struct gathering *g, struct open_source *open);
/* Finds the ranges of the next step from a position; cell_read() then reads their bytes. Returns OK, or the source's error. */
enum error cell_step(struct gathering *g, struct open_source *open,
                     const struct page_walk_from *from, struct content_ranges *ret_ranges);
/* Reads the next 1..max bytes; *ret_count is 0 at the end. Returns E_ServerBusy if the owner of the cell was lost. */
enum error cell_read(struct gathering *g, struct open_source *open, char *to, size_t max,
                     size_t *ret_count);
void cell_close(struct open_source *open);

/* A peer_handler for CELL_SOURCE_PATH. context: the endpoints of this process */
peer_stream_fn cell_source_serve;

#endif
