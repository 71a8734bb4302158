/* The consumer of the entries of List Blobs. */
#ifndef LAGRA_BLOB_LISTING_H
#define LAGRA_BLOB_LISTING_H

#include "blob/blob.h"
#include "service/listing.h"

/* Like struct listing_sink; its arguments point into memory of the iterator. */
struct blob_sink {
    bool full;
    void (*begin)(struct blob_sink *sink, instant now);
    void (*add)(struct blob_sink *sink, struct bytes name, const struct blob *blob);
    /* Adds a BlobPrefix, for all blobs whose names begin with it. */
    void (*add_group)(struct blob_sink *sink, struct bytes prefix);
};

#endif
