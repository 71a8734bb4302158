/* First reads of partitions, shared by who asks for the same at once.
 *
 * Every request reads the records of its container and of its service's properties, which lie in one object each. So of each
 * partition one such op is in flight, and who comes meanwhile shares the next: it is sent after all of them have
 * asked, so it shows each what is as new as an op of its own would. decision: 812 */
#ifndef LAGRA_STORE_RADOS_FIRST_READS_H
#define LAGRA_STORE_RADOS_FIRST_READS_H

#include "store/rados/arrival.h"
#include "store/rados/first_read_table.h"
#include "store/rados/shards.h"

/* What was answered. */
struct first_read {
    const struct port_step *bounds, *header, *runs[2];
};

/* Of one partition there are at most a few such pairs of numbers. Any thread; never waits. The arrival is the caller's; its
 * answer is others', too, and stays as long as somebody has it. */
struct arrival *first_reads_ask(struct first_reads *reads, struct shards *shards,
                                const struct partition *partition, struct first_read_rows rows);
/* Of an answer that is PORT_OK. */
struct first_read first_read_answer(const struct port_op *op);

#endif
