/* The store of a server, as its options say. */
#ifndef LAGRA_SERVER_OPEN_STORE_H
#define LAGRA_SERVER_OPEN_STORE_H

#include "server/options.h"
#include "store/store.h"

/* NULL after saying on stderr why not. Main thread. */
struct store *open_store(const struct options *options);
/* What the secondary endpoint shows of it, to be closed before it; NULL: the same. */
struct store *open_secondary(const struct options *options, struct store *store);

#endif
