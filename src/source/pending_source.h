/* The source of a copy that goes on after its request was answered, and how the record of a pending copy begins,
 * whichever service it is of. It is in the partition of the destination until the copy has ended.
 *
 *   INNER "Y"   version u8 (1)
 *               source: 16 copy id, begun, flags u8 (1 the source is this server's own, 2 of its other service
 *               that has sources), URL of the source (bytes), account that reads it (bytes), ETag of the source (bytes)
 *               record of the destination as it will be (bytes)
 *               what the service adds */
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
    bool is_other;        /* of an own source: of the other service of blobs and files */
    struct bytes url;     /* with what authorizes the read */
    struct bytes account; /* of an own source: whose it is */
    struct bytes etag;    /* of the source when the copy began; ptr NULL: it has none */
};

extern const struct bytes pending_record_key;
/* What all of them begin with. target: of the destination */
void pending_record_begin(struct text *out, const struct pending_source *source,
                          struct bytes target);
/* ret_rest: what the service has added; whoever reads it sees whether the record is whole (decoder_ok()).
 * returns STORE_OK, STORE_NOT_FOUND, STORE_CORRUPT, or as the store; what is read points into the arena */
enum store_result pending_record_read(struct snapshot *before, struct arena *arena,
                                      struct pending_source *ret_source, struct bytes *ret_target,
                                      struct decoder *ret_rest);

#endif
