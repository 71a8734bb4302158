/* Inside blob/rest/ only: the source of a copy as a blob. */
#ifndef LAGRA_BLOB_REST_SOURCE_BLOB_H
#define LAGRA_BLOB_REST_SOURCE_BLOB_H

#include "blob/rest/request.h"
#include "source/open_source.h"

/* Of struct service. */
enum error blob_source(const struct operation *operation, const struct result *result,
                       struct source_facts *ret_facts);

/* What is known of a source that is open: of a blob of this server all, of another server's what its
 * headers say, of a file what a block blob has of it. */
struct blob source_blob(const struct open_source *open);

#endif
