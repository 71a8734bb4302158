/* How much a shard holds, and between which partitions it may be cut. It waits for the cluster. */
#ifndef LAGRA_STORE_RADOS_SPLIT_SURVEY_H
#define LAGRA_STORE_RADOS_SPLIT_SURVEY_H

#include "store/rados/shards.h"

/* For so many bytes a row counts at least. */
#define SPLIT_ROW_BYTES 671u

struct split_size {
    uint64_t rows, bytes;
};

/* Partitions from `key` on have other rows of this kind than those before it. */
struct split_mark {
    struct bytes key;         /* on the heap */
    struct split_size before; /* rows of the kind */
};

/* Of LISTED rows, or of those beside headers: each in the order of partitions. */
struct split_marks {
    struct split_mark *all; /* on the heap */
    size_t count, capacity;
    struct split_size total;
};

/* So many are noted. */
#define SPLIT_LIMBS_MAX 64u

struct split_survey {
    struct split_marks marks[2];
    struct split_size total; /* with rows of indexes, and tasks */
    struct bytes hi;         /* of the shard, on the heap */

    /* Of the partition that has most rows of a kind: */
    char kind;            /* 'L' or 'P' */
    struct bytes largest; /* its key, on the heap */
    struct split_size largest_size;

    struct port_row
        limbs[SPLIT_LIMBS_MAX]; /* rows where limbs end, on the heap: the first of them */
    unsigned limb_count;
};

/* Reads all rows of a shard that is live. Marks are so many rows (or bytes) apart at least, and before each is a
 * partition; there is one before each partition that has so many itself, but for the first. False: it cannot be read, or has changed its bounds meanwhile, or partitions are being moved from it. */
bool split_survey(struct shards *shards, const char *object, struct split_size step,
                  struct split_survey *ret_survey);
void split_survey_release(struct split_survey *survey);
/* The greatest mark below `hi` (empty: any). NULL: none. */
const struct split_mark *split_mark_below(const struct split_survey *survey, struct bytes hi);
/* At most so much is in partitions from `lo` up to `hi` (empty: the last), but for indexes and tasks. */
struct split_size split_size_between(const struct split_survey *survey, struct bytes lo,
                                     struct bytes hi);

#endif
