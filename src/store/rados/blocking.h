/* For the threads that may wait: an op, or a change of a shard, and its answer. */
#ifndef LAGRA_STORE_RADOS_BLOCKING_H
#define LAGRA_STORE_RADOS_BLOCKING_H

#include "store/rados/apply.h"

/* Sends it and waits; to be dropped. */
struct arrival *send_block(struct port *port, const char *object, struct port_op *op);
/* The same of an op of which only the result matters. */
enum port_result run_block(struct port *port, const char *object, struct port_op *op);
/* returns the commit's result */
enum store_result apply_block(struct apply *apply, struct shards *shards, const struct guid *space);

#endif
