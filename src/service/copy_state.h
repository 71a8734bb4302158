/* What a blob or a file says of the copy that made it. */
#ifndef LAGRA_SERVICE_COPY_STATE_H
#define LAGRA_SERVICE_COPY_STATE_H

#include "base/clock.h"
#include "base/codec.h"
#include "base/ids.h"

/* The copy that made a blob or a file what it is, or is to. rest: Copy-Blob, Copy-File, Get-Blob-Properties */
enum copy_status { COPY_NONE, COPY_PENDING, COPY_SUCCESS, COPY_ABORTED, COPY_FAILED };
struct copy_state {
    enum copy_status status;
    struct guid id;
    struct bytes source; /* its URL, without a signature */
    uint64_t copied, total;
    instant completed;        /* 0: pending */
    struct bytes description; /* of what went wrong; empty: nothing */
};
/* "pending"..; NULL for COPY_NONE. Static. */
const char *copy_status_text(enum copy_status status);

void copy_state_encode(struct text *out, const struct copy_state *copy);
/* What makes no sense makes the decoder bad. */
void copy_state_decode(struct decoder *in, struct copy_state *copy);

#endif
