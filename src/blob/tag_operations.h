/* Parameters and results of the operations on index tags, implemented in tag_index.c, find_blobs.c,
 * and the files of these names in rest/. */
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
    struct bytes tags; /* encoded; set by parse */
};
OPERATION_NO_RESULT(set_blob_tags);
OPERATION_DECLARE(set_blob_tags);
OPERATION_DECLARE_PARSE(set_blob_tags);

/* ---- searching ---- */

/* A page ends early after this many index records or containers. */
#define FIND_RECORDS_MAX    20000
#define FIND_CONTAINERS_MAX 1000

/* Receives the entries of a page, like the sinks of container_operations.h. */
struct tagged_sink {
    bool full;
    void (*begin)(struct tagged_sink *sink);
    /* name: as in struct found_place; key: in the index of the container; tags: all tags of the
     * blob, encoded */
    void (*add)(struct tagged_sink *sink, struct bytes container, struct bytes name,
                struct bytes key, struct bytes tags);
};

/* Start of a page. */
struct found_place {
    struct bytes container; /* ptr NULL: the first one */
    struct bytes key;       /* in the index of this container; empty: its beginning */
    struct bytes name;      /* of the blob; see found_name() */
};
/* In a hierarchical account, the name of a result starts with the id of its node, in so many
 * hexadecimal digits, since that is its position in the index. Returns the name of the blob; ptr NULL
 * if the name of the result is malformed. */
#define FOUND_NODE_DIGITS 16u
struct bytes found_name(bool is_hierarchical, struct bytes name);

/* Parameters that both operations share. */
struct find_blobs {
    bool is_hierarchical;               /* kind of the account */
    const struct tag_expression *where; /* an expression that names a tag */
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

/* Returns the comparison whose index range the search scans: an equality if there is one, else a
 * range. Not NULL if the expression names a tag. */
const struct tag_comparison *find_blobs_driver(const struct tag_expression *where);
/* Returns the prefix of all index keys that a search scans. */
struct bytes find_blobs_prefix(struct arena *arena, const struct tag_comparison *driver);

#endif
