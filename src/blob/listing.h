/* Where List Blobs puts what it finds. */
#ifndef LAGRA_BLOB_LISTING_H
#define LAGRA_BLOB_LISTING_H

#include "blob/blob.h"
#include "service/listing.h"

/* As struct listing_sink; what it is given points into memory of the iterator. */
struct blob_sink {
    bool full;
    void (*begin)(struct blob_sink *sink, instant now);
    void (*add)(struct blob_sink *sink, struct bytes name, const struct blob *blob);
    /* A BlobPrefix: all blobs whose names begin with it. */
    void (*add_group)(struct blob_sink *sink, struct bytes prefix);
};

#endif
