/* Clients that wait for their answers and then come back: how many, and for how long the next op of a shard waits for them.
 *
 * What is committed to a shard costs by the op, hardly by what is in it. While one is in flight the half of a crowd of clients
 * waits for the next; if that is sent as soon as the first is answered, those who were just answered come a moment too late for
 * it, and groups are half as large as they could be for ever. So the op waits for as many as came back the last times, no longer
 * than an op takes. Nothing waits where few came back: for one client, or for many that come by chance.
 * decision: 837 */
#ifndef LAGRA_STORE_RADOS_CROWD_H
#define LAGRA_STORE_RADOS_CROWD_H

#include <stdbool.h>
#include <stdint.h>

/* The wait is no longer than the last op took, and than this. */
#define CROWD_WAIT_MS_MAX 20u
/* Fewer commits, in one op and waiting for the next, are no crowd. */
#define CROWD_COMMITS_MIN 8u

/* Of one shard. Zero at first. */
struct crowd {
    uint64_t answered_ms;    /* when the last op was */
    unsigned wait_ms;        /* from then on */
    unsigned answered, back; /* commits that it answered; that came since, within wait_ms */
    unsigned stayed;         /* that waited already */
    unsigned answered_before, back_before; /* of those before it, the newer count more */
};

/* So many commits have just been answered, after so long, and others wait. */
void crowd_answered(struct crowd *crowd, unsigned commits, unsigned waiting, uint64_t took_ms,
                    uint64_t now_ms);
/* One has come. */
void crowd_came(struct crowd *crowd, uint64_t now_ms);
/* For how many the next op is to wait, with those that wait already; for *ret_ms at most. 0: it is not to wait. */
unsigned crowd_awaited(const struct crowd *crowd, uint64_t now_ms, unsigned *ret_ms);

#endif
