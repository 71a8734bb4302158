/* Markers of List Blobs and Find Blobs by Tags. Inside the blob room only. */
#ifndef LAGRA_BLOB_REST_LISTING_H
#define LAGRA_BLOB_REST_LISTING_H

#include "blob/listing.h"

/* Bytes as text of characters that URLs and XML leave alone (rfc: 4648 5), and back: ptr NULL for
 * what is no such text. */
struct bytes marker_text(struct arena *arena, struct bytes value);
struct bytes marker_value(struct arena *arena, struct bytes text);
/* Opaque text. */
struct bytes blob_marker_encode(struct arena *arena, struct listing_place place);
/* Returns false when the text is not a marker that blob_marker_encode() made. */
bool blob_marker_decode(struct arena *arena, struct bytes marker, struct listing_place *ret_place);

#endif
