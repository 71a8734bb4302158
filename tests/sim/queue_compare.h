/* An answer of the Queue service: its messages, and beside what the model expects. */
#ifndef LAGRA_SIM_QUEUE_COMPARE_H
#define LAGRA_SIM_QUEUE_COMPARE_H

#include "queue_model.h"

/* A message of an answer. */
struct item {
    unsigned char id[MESSAGE_ID_SIZE];
    char receipt[RECEIPT_SIZE];               /* empty: none */
    int64_t inserted_s, expires_s, visible_s; /* Unix seconds; 0: not told */
    unsigned dequeued;
    const char *text; /* as it stands in the XML; NULL: none */
    size_t text_size;
};

/* How many there are; those beyond MESSAGES_SHOWN are counted only. */
unsigned queue_items(const struct reply *answer, struct item items[MESSAGES_SHOWN]);

/* NULL when they agree, else what does not. */
const char *queue_compare(const struct ask *ask, const struct queue_expected *expected,
                          const struct reply *answer);
/* A page of List Queues beside the state after a commit. */
const char *queue_compare_list(const struct ask *ask, const struct reply *answer, uint64_t commit,
                               struct page_ask *ret_next);

#endif
