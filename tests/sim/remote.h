/* A server of others that sources of copies lie on: in the place of src/fetch. Its URLs say what
 * the source has, and what becomes of it after the request that named it. */
#ifndef LAGRA_SIM_REMOTE_H
#define LAGRA_SIM_REMOTE_H

#include "fetch/fetch.h"
#include "request.h"

struct fetcher *remote_new(void);
/* Of the ask's source. */
struct bytes remote_url(const struct ask *ask, struct arena *arena);

#endif
