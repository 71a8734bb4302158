/* What List Containers and List Blobs share as requests and as XML. Inside the blob room only. */
#ifndef LAGRA_BLOB_REST_LISTING_H
#define LAGRA_BLOB_REST_LISTING_H

#include "base/xml.h"
#include "blob/listing.h"
#include "service/answer.h"

/* A page ends early, with a NextMarker, once its XML has grown to this. */
#define LISTING_PAGE_BYTES (6u << 20)

/* Reads prefix, marker, maxresults and include; names: what include may hold, NULL ends.
 * returns  OK, E_OutOfRangeQueryParameterValue (maxresults 0 or negative),
 *          E_InvalidQueryParameterValue */
enum error listing_read(struct call *call, const char *const *include_names,
                        struct listing *ret_listing);
/* maxresults: 1 and more; more than a page holds, or none, gives a full page. rest: List-Blobs,
 * List-Containers2, Get-Page-Ranges
 * returns  OK, E_OutOfRangeQueryParameterValue (0 or negative), E_InvalidQueryParameterValue */
enum error listing_read_max(struct call *call, uint32_t page_max, bool *ret_given,
                            uint32_t *ret_max);
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

/* ---- List Blobs: markers, list_blobs_marker.c ---- */

/* Bytes as text of characters that URLs and XML leave alone (rfc: 4648 5), and back: ptr NULL for what
 * is no such text. */
struct bytes marker_text(struct arena *arena, struct bytes value);
struct bytes marker_value(struct arena *arena, struct bytes text);
/* Opaque text. */
struct bytes blob_marker_encode(struct arena *arena, struct listing_place place);
/* Returns false when the text is not a marker that blob_marker_encode() made. */
bool blob_marker_decode(struct arena *arena, struct bytes marker, struct listing_place *ret_place);

#endif
