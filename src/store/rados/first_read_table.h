/* The first reads of partitions that are under way: see first_reads.h. A table alone, which the shards have. */
#ifndef LAGRA_STORE_RADOS_FIRST_READ_TABLE_H
#define LAGRA_STORE_RADOS_FIRST_READ_TABLE_H

#include "base/lock.h"
#include "base/waiter.h"
#include "store/store.h"

#define FIRST_READ_BUCKETS 256u

/* Rows of each family. */
struct first_read_rows {
    uint32_t listed, inner;
};

/* Who shares an op. */
struct first_read_asker {
    struct first_read_asker *next;
    struct arrival *arrival;
};

/* The reads of one partition: one is in flight. */
struct first_reading {
    struct waiter waiter;       /* first: of that op */
    struct first_reading *next; /* in its bucket */
    struct first_reads *reads;
    struct shards *shards;
    struct partition partition;
    struct first_read_rows rows;
    struct arrival *in_flight;
    struct first_read_asker *sharing; /* the op in flight */
    struct first_read_asker *waiting; /* under lock: for the next */
    char key[];
};

struct first_reads {
    struct lock lock;
    struct first_reading *buckets[FIRST_READ_BUCKETS]; /* under lock */
};

struct first_reads *first_reads_new(void);
/* Nothing may be in flight. */
void first_reads_free(struct first_reads *reads);
/* The place of the partition's: NULL is there if it has none. Under the lock. */
struct first_reading **first_reads_find(struct first_reads *reads,
                                        const struct partition *partition,
                                        struct first_read_rows rows);

#endif
