/* State of the copy that created a blob or a file. */
#ifndef LAGRA_SERVICE_COPY_STATE_H
#define LAGRA_SERVICE_COPY_STATE_H

#include "base/clock.h"
#include "base/codec.h"
#include "base/ids.h"

/* The last copy to a blob or file, complete or not. rest: Copy-Blob, Copy-File,
 * Get-Blob-Properties */
enum copy_status { COPY_NONE, COPY_PENDING, COPY_SUCCESS, COPY_ABORTED, COPY_FAILED };
struct copy_state {
    enum copy_status status;
    struct guid id;
    struct bytes source; /* URL without the signature */
    uint64_t copied, total;
    instant completed;        /* 0 while pending */
    struct bytes description; /* of the failure; empty if none */
};
/* Returns a static string such as "pending"; NULL for COPY_NONE. */
const char *copy_status_text(enum copy_status status);

void copy_state_encode(struct text *out, const struct copy_state *copy);
/* Decodes the state. Sets in->bad if it is malformed. */
void copy_state_decode(struct decoder *in, struct copy_state *copy);

#endif
