/* Computes the MD5 of bodies in memory for several requests at once. No request waits for others to
 * arrive. Requests that a worker finds ready together are hashed side by side (base/md5.h), by the
 * last of them or at the end of the worker's round.
 *
 * Hashing one stream costs 1.65 us per KiB, eight together 2.3 us (AVX2, Zen 4). Instructions per
 * request with 32 connections, separately and together: Put Blob of 1 KiB 71,500 and 63,900; Put
 * Range of 4 KiB 112,600 and 83,200. */
#include "request/request_private.h"

#include <assert.h>

#include "base/md5.h"

/* This worker's requests that are suspended until body_hash_round(). */
static _Thread_local struct flow *waiting[MD5_LANES];
static _Thread_local size_t queued_count;

static void hash(struct flow *const flows[], size_t count)
{
    struct bytes data[MD5_LANES] = { { .ptr = NULL } };
    uint8_t *digests[MD5_LANES] = { NULL };

    for (size_t i = 0; i < count; i++) {
        data[i] = text_bytes(&flows[i]->intake.memory);
        digests[i] = flows[i]->work.call.input.body.md5;
    }
    md5_of_many(data, count, digests);
    for (size_t i = 0; i < count; i++)
        flows[i]->intake.is_hashed = true;
}

static void wake(struct flow *const flows[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        pause_wake(&flows[i]->driver.pause);
}

enum store_result body_hash(struct flow *flow)
{
    size_t others = queued_count;

    if (flow->intake.is_hashed)
        return STORE_OK;
    assert(others < MD5_LANES);
    waiting[others] = flow;
    if (others + 1 < MD5_LANES && flow->exchange->others_follow) {
        queued_count++;
        flow_arm(flow);
        return STORE_WAIT;
    }
    queued_count = 0;
    hash(waiting, others + 1);
    wake(waiting, others);
    return STORE_OK;
}

void body_hash_round(void)
{
    size_t count = queued_count;

    queued_count = 0;
    if (count == 0)
        return;
    hash(waiting, count);
    wake(waiting, count);
}
