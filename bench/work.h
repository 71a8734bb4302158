/* What the load consists of: a table of kinds of work, each a request for the n-th time. */
#ifndef LAGRA_BENCH_WORK_H
#define LAGRA_BENCH_WORK_H

#include "answer.h"
#include "sign.h"

struct work_options {
    const char *container;
    size_t size;         /* of a blob */
    unsigned names;      /* how many blobs, or entities, take turns */
    unsigned partitions; /* of a table */
    const char *page;    /* how many names a page of a list has */
    unsigned run; /* in the names of a connection's own blobs: no run meets an earlier one's */
    struct bytes body;
};

#define BATCH_PARTS    256u
#define BATCH_BOUNDARY "batch_of-the-bench"

/* One connection's place in its work. */
struct worker {
    unsigned number;     /* of the connection */
    uint64_t done;       /* answers so far */
    char etag[ETAG_MAX]; /* of the last answer that had one */
    char lease_id[LEASE_ID_MAX];
    char message_id[ETAG_MAX]; /* of the last answer's first message; "": it had none */
    char receipt[ETAG_MAX];
    char *room; /* for a body of this turn alone: ROOM_BYTES */
};

#define ROOM_BYTES (1u << 20)

struct work {
    const char *name;
    /* Writes the request for turn `n` of all connections together. */
    void (*draft)(const struct work_options *options, const struct worker *worker, uint64_t n,
                  struct draft *draft);
    /* The same request again for the same n modulo options.names: made and signed once. */
    bool repeats;
    int ok[3]; /* statuses that count as done */
    /* The request of part `i`, below BATCH_PARTS, of the batch that turn `n` is; NULL: it is no
     * batch. All batches are made before the first one is sent. */
    void (*part)(const struct work_options *options, uint64_t n, unsigned i, struct draft *draft);
    /* Stands in the first START_MAX bytes of the body of each good answer; NULL: anything may. */
    const char *proof;
    /* What the worker keeps of an answer beside its headers; NULL: nothing. */
    void (*note)(struct worker *worker, const struct answer *answer);
};

/* Work on entities: table_work.c. The entities of a hundred by number lie in one partition, and
 * those of the next hundred in the next one; as JSON an entity has options.size bytes. */
void draft_entity_get(const struct work_options *options, const struct worker *worker, uint64_t n,
                      struct draft *draft);
void draft_entity_insert(const struct work_options *options, const struct worker *worker,
                         uint64_t n, struct draft *draft);
void draft_entity_put(const struct work_options *options, const struct worker *worker, uint64_t n,
                      struct draft *draft);
void draft_entity_replace(const struct work_options *options, const struct worker *worker,
                          uint64_t n, struct draft *draft);
void draft_entity_page(const struct work_options *options, const struct worker *worker, uint64_t n,
                       struct draft *draft);
void draft_transaction(const struct work_options *options, const struct worker *worker, uint64_t n,
                       struct draft *draft);

/* Work on files: file_work.c. */
void draft_file_get(const struct work_options *options, const struct worker *worker, uint64_t n,
                    struct draft *draft);
void draft_file_put(const struct work_options *options, const struct worker *worker, uint64_t n,
                    struct draft *draft);
void draft_file_cycle(const struct work_options *options, const struct worker *worker, uint64_t n,
                      struct draft *draft);
void draft_file_range(const struct work_options *options, const struct worker *worker, uint64_t n,
                      struct draft *draft);
void draft_file_list(const struct work_options *options, const struct worker *worker, uint64_t n,
                     struct draft *draft);

/* Work on paths of the Data Lake endpoint: path_work.c. */
void draft_path_create(const struct work_options *options, const struct worker *worker, uint64_t n,
                       struct draft *draft);
void draft_path_append(const struct work_options *options, const struct worker *worker, uint64_t n,
                       struct draft *draft);
void draft_path_list(const struct work_options *options, const struct worker *worker, uint64_t n,
                     struct draft *draft);
void draft_block_pair(const struct work_options *options, const struct worker *worker, uint64_t n,
                      struct draft *draft);

/* NULL: no such work. */
const struct work *work_find(const char *name);

#endif
