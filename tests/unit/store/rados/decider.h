/* Decisions about one number of one partition, as exchanges make them: without blocking, on what is pending. On a RADOS in
 * memory. */
#ifndef LAGRA_TESTS_STORE_RADOS_DECIDER_H
#define LAGRA_TESTS_STORE_RADOS_DECIDER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../../../rados/live.h"
#include "store/store.h"

#define B(s) bytes_from_string(s)

struct decider {
    struct decider *next; /* of the fixture */
    struct store *store;
    struct fetch_set *set;
    struct partition partition;
    struct arena *arena;
    struct snapshot *snapshot;
    uint64_t value; /* that was read */
    bool grows;     /* it adds a record */
    uint64_t ahead; /* ticks: its clock is so much */
    uint64_t seen;
};

struct fixture {
    struct live *live;
    struct store *store;
    struct arena *arena;
    struct guid space;
    struct decider *deciders;
    struct snapshot *other; /* of another partition, or NULL */
    struct store *faster;   /* another front end, or NULL */
};

int set_up(void **state);
/* Also of a test that has failed anywhere. */
int tear_down(void **state);

void decider_init(struct decider *d, struct guid space, struct store *store);
void decider_release(struct decider *d);
/* It ends with the test. Of the first thread. */
struct decider *decider_new(struct fixture *f, struct store *store);

void wait_for(struct fetch_set *set);
/* Reads the number, of the newest state that there is to be shown; the snapshot stays open. STORE_WAIT: it is being
 * fetched. */
enum store_result begin_read(struct decider *d);
/* Waits for that. */
enum store_result read_number(struct decider *d);
/* Adds one to what was read; other: NULL, or a snapshot of a partition that is changed by the same commit. */
enum store_result add_one(struct decider *d, struct snapshot *other);
/* Reads and adds; returns what is known by then. */
enum store_result decide(struct decider *d);

/* As it is. */
uint64_t number_of(struct fixture *f);
/* Two decisions on one state, so that the partition is one that many want. The number is 1 then. */
void make_busy(struct fixture *f);
/* Of a partition beside it, read already. */
struct snapshot *open_other(struct fixture *f);

#endif
