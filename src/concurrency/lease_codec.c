/* The stored form of a lease, part of a record, whose version covers it.
 *
 *   field     form     present
 *   kind      u8       always: 0 none, 1 leased, 2 breaking or broken
 *   id        16 raw   kind 1, 2
 *   duration  varint   kind 1, 2: seconds + 1, so that 0 is infinite
 *   ends      varint   kind 1, 2: instant; 0 for an infinite lease
 *
 * `ends` is adjusted to the current clock: if the wall clock was set forward and ours followed, the
 * lease keeps its remaining time (clock invariant 4). Only steps of this run are known; after a
 * restart the wall clock decides.
 *
 * A change of this form needs a new version of every record that contains a lease. */
#include "concurrency/lease.h"

#include <assert.h>

#define KIND_MAX 2

void lease_encode(struct text *out, const struct lease *lease)
{
    assert(lease->kind <= KIND_MAX);
    encode_u8(out, lease->kind);
    if (lease->kind == 0)
        return;

    assert(lease->duration_s >= LEASE_INFINITE && lease->duration_s <= LEASE_DURATION_MAX_S);
    encode_fixed(out, lease->id.b, sizeof lease->id.b);
    encode_u64(out, (uint64_t)(lease->duration_s + 1));
    encode_u64(out, lease->ends);
}

void lease_decode(struct decoder *in, struct lease *ret_lease)
{
    struct lease lease = { .kind = decode_u8(in) };
    uint64_t duration;

    *ret_lease = (struct lease){ 0 };
    if (lease.kind == 0)
        return;

    decode_fixed(in, lease.id.b, sizeof lease.id.b);
    duration = decode_u64(in);
    lease.ends = decode_u64(in);
    if (in->bad || lease.kind > KIND_MAX || duration > LEASE_DURATION_MAX_S + 1) {
        in->bad = true;
        return;
    }
    lease.duration_s = (int32_t)duration - 1;
    /* No lease or break has more time left than the longest duration. */
    lease.ends = clock_after_steps(lease.ends, LEASE_DURATION_MAX_S * TICKS_PER_SECOND);
    *ret_lease = lease;
}
