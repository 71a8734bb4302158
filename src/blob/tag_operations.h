/* The operations on index tags: what each is asked and what comes of it. The functions:
 * blob_tags.c, find_blobs.c, and the files of these names in rest/. */
#ifndef LAGRA_BLOB_TAG_OPERATIONS_H
#define LAGRA_BLOB_TAG_OPERATIONS_H

#include "blob/blob.h"
#include "concurrency/tag_expression.h"

OPERATION_NO_PARAMETERS(get_blob_tags);
struct get_blob_tags_result {
    struct result base;
    struct bytes tags; /* encoded */
};
OPERATION_DECLARE(get_blob_tags);

struct set_blob_tags_parameters {
    struct parameters base;
    struct bytes tags; /* encoded, by parse */
};
OPERATION_NO_RESULT(set_blob_tags);
OPERATION_DECLARE(set_blob_tags);
OPERATION_DECLARE_PARSE(set_blob_tags);

/* ---- searching ---- */

/* A page ends early once it has looked at so many records of the index, or containers. */
#define FIND_RECORDS_MAX    20000
#define FIND_CONTAINERS_MAX 1000

/* Takes a page entry by entry, as the sinks of listing.h do. */
struct tagged_sink {
    bool full;
    void (*begin)(struct tagged_sink *sink);
    /* key: of the index of the container; tags: all of the blob, encoded */
    void (*add)(struct tagged_sink *sink, struct bytes container, struct bytes name,
                struct bytes key, struct bytes tags);
};

/* Where a page begins. */
struct found_place {
    struct bytes container; /* ptr NULL: from the beginning */
    struct bytes key;       /* of the index of this container; empty: from its beginning */
    struct bytes name;      /* of the blob */
};

/* What both operations are asked. */
struct find_blobs {
    const struct tag_expression *where; /* a search that names a tag */
    uint32_t max;
    struct found_place from;
    struct tagged_sink *sink;
};

struct find_blobs_parameters {
    struct parameters base;
    struct find_blobs asked;
};
struct find_blobs_result {
    struct result base;
    struct found_place next; /* container.ptr NULL: there is no next page */
};
OPERATION_DECLARE(find_blobs);

struct find_blobs_in_container_parameters {
    struct parameters base;
    struct find_blobs asked;
};
struct find_blobs_in_container_result {
    struct result base;
    struct found_place next;
};
OPERATION_DECLARE(find_blobs_in_container);

/* The comparison that a search goes through the index by: an equal one before a range. Never NULL
 * of a search that names a tag; else NULL. */
const struct tag_comparison *find_blobs_driver(const struct tag_expression *where);
/* What all keys of the index that a search looks at begin with. */
struct bytes find_blobs_prefix(struct arena *arena, const struct tag_comparison *driver);

#endif
