/* Where List Containers and List Blobs put what they find. */
#ifndef LAGRA_BLOB_LISTING_H
#define LAGRA_BLOB_LISTING_H

#include "blob/blob.h"
#include "service/listing.h"

/* A page is handed over entry by entry, so that thousands of them need not be kept in memory first.
 * Whoever renders the page brings the sink. It starts anew with each attempt to decide, and says by
 * `full` that it takes no more; what it is given points into memory of the iterator and is gone
 * after the call. */
struct container_sink {
    bool full;
    void (*begin)(struct container_sink *sink, instant now);
    void (*add)(struct container_sink *sink, struct bytes name, const struct container *container);
};
struct blob_sink {
    bool full;
    void (*begin)(struct blob_sink *sink, instant now);
    void (*add)(struct blob_sink *sink, struct bytes name, struct blob_ref ref,
                const struct blob *blob);
    /* A BlobPrefix: all blobs whose names begin with it. */
    void (*add_group)(struct blob_sink *sink, struct bytes prefix);
};

/* A record of a container's space: where a page begins. */
struct listing_place {
    struct bytes name;   /* partition key; ptr NULL: from the beginning */
    struct bytes record; /* record key */
};

#endif
