/* What List Containers and List Blobs share: their parameters, and how a page of XML begins.
 * Inside the blob room only. */
#ifndef LAGRA_BLOB_LISTING_H
#define LAGRA_BLOB_LISTING_H

#include "base/xml.h"
#include "blob/blob.h"

#define LISTING_MAX         5000 /* results a page, asked for or not */
/* A page ends early, with a NextMarker, once its XML has grown to this. */
#define LISTING_PAGE_BYTES  (6u << 20)
/* ... or once so many records were looked at, shown or not: the work of one call is bounded. */
#define LISTING_RECORDS_MAX 20000

/* What both operations are asked; texts have ptr NULL when absent or empty. */
struct listing {
    struct bytes prefix;
    struct bytes marker; /* as sent */
    uint32_t max;        /* 1..LISTING_MAX */
    bool max_given;
    unsigned include; /* bits: positions in the operation's table of names */
};

/* Reads prefix, marker, maxresults and include; names: what include may hold, NULL ends.
 * returns  OK, E_OutOfRangeQueryParameterValue (maxresults 0 or negative),
 *          E_InvalidQueryParameterValue */
enum error listing_read(struct decision *d, const char *const *include_names,
                        struct listing *ret_listing);
/* A query parameter; ptr NULL also for an empty one. */
struct bytes listing_query(const struct call *call, const char *name);

/* <EnumerationResults ..> and the echo of prefix, marker and maxresults. container: ptr NULL in a
 * list of containers. */
void listing_begin(struct text *out, const struct call *call, struct bytes container,
                   const struct listing *listing);
/* <NextMarker> (empty when marker.ptr is NULL) and the end of the document. */
void listing_end(struct text *out, struct bytes next_marker);

/* <element>name</element>. A name with characters that XML 1.0 cannot hold goes percent-encoded,
 * with the attribute Encoded="true". rest: List-Blobs, "Blob names ... Encoded" */
void listing_name(struct text *out, const char *element, struct bytes name);

/* The first key after all keys that begin with `prefix`; written to `out` (emptied before).
 * Returns false when there is none (prefix is all 0xFF). */
bool listing_successor(struct text *out, struct bytes prefix);

/* ---- List Blobs: markers, list_blobs_marker.c ---- */

/* A record of a container's space: where a page begins. */
struct listing_place {
    struct bytes name;   /* partition key; ptr NULL: from the beginning */
    struct bytes record; /* record key */
};
/* Opaque text of characters that URLs and XML leave alone. */
struct bytes blob_marker_encode(struct arena *arena, struct listing_place place);
/* Returns false when the text is not a marker that blob_marker_encode() made. */
bool blob_marker_decode(struct arena *arena, struct bytes marker, struct listing_place *ret_place);

/* ---- List Blobs: entries, list_blobs_xml.c ---- */

/* What of an entry is shown in this page. */
struct blob_view {
    instant now; /* for lease states */
    bool metadata;
    bool creation_time; /* since 2017-11-09 */
    bool tier;          /* since 2017-04-17 */
    bool snapshot_tier; /* since 2019-12-12 */
};
/* snapshot: 0 for the base. */
void blob_entry_xml(struct text *out, const struct blob_view *view, struct bytes name,
                    instant snapshot, const struct blob *blob);

#endif
