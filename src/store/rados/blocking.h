/* For the threads that may wait: an op, or a change of a shard, and its answer. */
#ifndef LAGRA_STORE_RADOS_BLOCKING_H
#define LAGRA_STORE_RADOS_BLOCKING_H

#include "store/rados/apply.h"

/* Sends it and waits; to be dropped. */
struct arrival *send_block(struct port *port, const char *object, struct port_op *op);
/* The same of an op of which only the result matters. */
enum port_result run_block(struct port *port, const char *object, struct port_op *op);
/* A change of the shard of a partition beside its header, also of a sealed one. It may be applied twice.
 * commit: changes, checks, tasks; the rest is not looked at. returns as struct shard_commit */
enum store_result change_block(struct shards *shards, const struct partition *partition,
                               struct shard_commit commit);

#endif
