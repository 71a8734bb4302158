/* Inside blob/rest/ only: a copy source as a blob. */
#ifndef LAGRA_BLOB_REST_SOURCE_BLOB_H
#define LAGRA_BLOB_REST_SOURCE_BLOB_H

#include "blob/rest/request.h"
#include "source/open_source.h"

/* Implements a member of struct service. */
enum error blob_source(const struct operation *operation, const struct result *result,
                       struct source_facts *ret_facts);

/* Returns what is known of an open source: everything for a blob of this server, the headers for a
 * blob of another server, and for a file the properties that a block blob has too. */
struct blob source_blob(const struct open_source *open);

#endif
