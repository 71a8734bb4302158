/* A server of others that sources of copies lie on: in the place of src/fetch. Its URLs say what
 * the source has, and what becomes of it after the request that named it. */
#ifndef LAGRA_SIM_REMOTE_H
#define LAGRA_SIM_REMOTE_H

#include "fetch/fetch.h"
#include "request.h"

struct remote {
    unsigned kind; /* enum blob_kind */
    enum fate fate;
    uint64_t seed;
    uint32_t length, filled; /* bytes; from `filled` on zeros */
};

struct fetcher *remote_new(void);
struct bytes remote_url(const struct remote *remote, struct arena *arena);

#endif
