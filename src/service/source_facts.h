/* Properties of a blob or file as copy source, independent of its service. */
#ifndef LAGRA_SERVICE_SOURCE_FACTS_H
#define LAGRA_SERVICE_SOURCE_FACTS_H

#include "base/arena.h"
#include "concurrency/etag.h"
#include "content/content.h"
#include "service/http_properties.h"

struct source_facts {
    struct content content; /* only for a source on this server */
    struct etag etag;       /* only for a source on this server */
    struct http_properties http;
    struct bytes metadata;
    /* OK unless archived; else the error for reading it. Copy Blob may copy it within an account */
    enum error archived;
};

struct decision;
struct operation;
struct result;
struct read_view;

/* Reads a service's resources as sources of copies, from the result of the operation of a HEAD
 * request. */
struct source_functions {
    /* *ret_facts is zeroed. Returns OK; E_InvalidUri if the resource cannot be copied. */
    enum error (*facts)(const struct operation *operation, const struct result *result,
                        struct source_facts *ret_facts);
    /* Encodes the parts of the result that a copy in another cell needs. d: for reads; its arena */
    enum error (*write)(struct decision *d, const struct result *result, struct text *out);
    /* Decodes this encoding into a result of the operation, in the arena. Returns NULL if it is
     * malformed. */
    const struct result *(*read)(struct arena *arena, struct bytes text);
    /* Finds the snapshot `previous` of the content, to copy the differences from it. NULL if there
     * are no such copies.
     * Returns E_PreviousSnapshotNotFound, E_BlobOverwritten, or as decision_fail_store(). */
    enum error (*find_older)(struct decision *d, struct read_view *of, instant previous,
                             const struct content *content, struct content *ret_older);
};

#endif
