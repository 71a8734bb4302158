/* A copy source on another server. */
#ifndef LAGRA_SOURCE_REMOTE_SOURCE_H
#define LAGRA_SOURCE_REMOTE_SOURCE_H

#include "source/open_source.h"

/* Like source_open(). */
enum error remote_open(struct gathering *g, const struct copy_source *source,
                       struct open_source *open);
/* Reads the next 1..max of the requested bytes; *ret_count is 0 at the end. */
enum error remote_read(struct gathering *g, struct open_source *open, char *to, size_t max,
                       size_t *ret_count);

#endif
