/* The source of a copy that goes on after its request was answered, as the destination keeps it until the copy
 * has ended. The record of a pending copy of each service has it.
 *
 *   16 copy id, begun, flags u8 (1 the source is this server's own, 2 of its other service
 *   that has sources), URL of the source (bytes), account
 *   that reads it (bytes), ETag of the source (bytes) */
#ifndef LAGRA_SOURCE_PENDING_SOURCE_H
#define LAGRA_SOURCE_PENDING_SOURCE_H

#include "base/clock.h"
#include "base/codec.h"
#include "base/ids.h"

struct pending_source {
    struct guid id; /* of the copy */
    instant begun;
    bool is_own;
    bool is_other;        /* of an own source: of the other service of blobs and files */
    struct bytes url;     /* with what authorizes the read */
    struct bytes account; /* of an own source: whose it is */
    struct bytes etag;    /* of the source when the copy began; ptr NULL: it has none */
};

void pending_source_encode(struct text *out, const struct pending_source *source);
void pending_source_decode(struct decoder *in, struct pending_source *ret_source);

#endif
