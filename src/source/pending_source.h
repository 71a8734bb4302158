/* The source of a copy that continues after the response, and the common start of the records of
 * pending copies of all services. A record is in the destination's partition until the copy has
 * ended.
 *
 *   INNER "Y"   version u8 (1)
 *               source: 16 copy id, begun, flags u8 (1: on this server, 2: in its other service
 *               that has sources), URL of the source (bytes), account that reads it (bytes),
 *               ETag of the source (bytes)
 *               record of the destination after the copy (bytes)
 *               data of the service */
#ifndef LAGRA_SOURCE_PENDING_SOURCE_H
#define LAGRA_SOURCE_PENDING_SOURCE_H

#include "base/clock.h"
#include "base/codec.h"
#include "base/ids.h"
#include "store/store.h"

struct pending_source {
    struct guid id; /* of the copy */
    instant begun;
    bool is_own;
    /* source on this server: in the other one of the blob and file services */
    bool is_other;
    struct bytes url;     /* including authorization of the read */
    struct bytes account; /* source on this server: its account */
    struct bytes etag;    /* of the source when the copy started; ptr NULL if none */
};

extern const struct bytes pending_record_key;
/* Writes the common start of a record. target: record of the destination */
void pending_record_begin(struct text *out, const struct pending_source *source,
                          struct bytes target);
/* Reads a record; results point into the arena. ret_rest: the data of the service, whose reader
 * checks that the record is complete (decoder_ok()). Returns STORE_OK, STORE_NOT_FOUND,
 * STORE_CORRUPT, or an error of the store. */
enum store_result pending_record_read(struct read_view *before, struct arena *arena,
                                      struct pending_source *ret_source, struct bytes *ret_target,
                                      struct decoder *ret_rest);

#endif
