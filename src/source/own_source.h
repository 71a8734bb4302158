/* Internal to source/: a copy source that is a blob or a file in the cell that this process serves, read by an internal
 * request. */
#ifndef LAGRA_SOURCE_OWN_SOURCE_H
#define LAGRA_SOURCE_OWN_SOURCE_H

#include "source/open_source.h"

/* Like source_open(). Returns E_MisdirectedRequest if the source's container is in another cell, or may be;
 * g->call->problem->elsewhere says in which one.
 *
 * placement  incarnation under which the container was placed in this cell; 0: none is known */
enum error own_open(struct gathering *g, const struct endpoint *endpoint,
                    const struct copy_source *source, uint64_t placement, struct open_source *open);
/* Formats the ETag of a local source as it appears in headers. */
struct bytes own_etag(struct gathering *g, struct etag etag);
/* Returns the committed blocks. Call before own_begin(). */
enum error own_blocks(struct gathering *g, struct open_source *open,
                      struct copied_bytes *ret_blocks);
/* Opens the reader at the first requested byte; once. */
void own_begin(struct gathering *g, struct open_source *open);
/* Reads the next 1..max of the requested bytes; *ret_count is 0 at the end. */
enum error own_read(struct gathering *g, struct open_source *open, char *to, size_t max,
                    size_t *ret_count);
/* Closes the source, if it is open. */
void own_close(struct open_source *open);

#endif
