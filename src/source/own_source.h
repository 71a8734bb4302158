/* Inside source/ only: a source of a copy that is a blob or a file of this server, read as by a request that
 * the server makes of itself. */
#ifndef LAGRA_SOURCE_OWN_SOURCE_H
#define LAGRA_SOURCE_OWN_SOURCE_H

#include "source/open_source.h"

/* As source_open(). */
enum error own_open(struct gathering *g, const struct endpoint *endpoint,
                    const struct copy_source *source, struct open_source *open);
/* Its committed blocks. Before own_begin(). */
enum error own_blocks(struct gathering *g, struct open_source *open,
                      struct copied_bytes *ret_blocks);
/* Opens its reader at the first requested byte; once. */
void own_begin(struct gathering *g, struct open_source *open);
/* Reads the next 1..max of the requested bytes; *ret_count is 0 at their end. */
enum error own_read(struct gathering *g, struct open_source *open, char *to, size_t max,
                    size_t *ret_count);
/* Closes it, if it is open. */
void own_close(struct open_source *open);

#endif
