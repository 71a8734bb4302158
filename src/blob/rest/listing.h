/* Markers of List Blobs and Find Blobs by Tags. Inside blob/ only. */
#ifndef LAGRA_BLOB_REST_LISTING_H
#define LAGRA_BLOB_REST_LISTING_H

#include "blob/listing.h"

/* Encode bytes in characters that need no escaping in URLs and XML (rfc: 4648 5), and decode them:
 * ptr NULL if the text is invalid. */
struct bytes marker_text(struct arena *arena, struct bytes value);
struct bytes marker_value(struct arena *arena, struct bytes text);
/* Encodes a marker, which is opaque to clients. */
struct bytes blob_marker_encode(struct arena *arena, struct listing_place place);
/* Returns false if the text is not a marker made by blob_marker_encode(). */
bool blob_marker_decode(struct arena *arena, struct bytes marker, struct listing_place *ret_place);

#endif
