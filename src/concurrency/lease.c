/* The lease state machine as matrices, each read by one function. The numbered rules are in
 * README.md. rest: Lease-Blob, Lease-Container; semantics 3 */
#include "concurrency/lease.h"

#include <assert.h>

enum { KIND_NONE, KIND_LEASED, KIND_BROKEN };

/* ---- current state ---- */

static void assert_lease(const struct lease *lease)
{
    assert(lease->kind <= KIND_BROKEN);
    assert(lease->duration_s >= LEASE_INFINITE && lease->duration_s <= LEASE_DURATION_MAX_S);
}

enum lease_state lease_state(const struct lease *lease, instant now)
{
    assert_lease(lease);
    if (lease->kind == KIND_NONE)
        return LEASE_AVAILABLE;
    if (lease->kind == KIND_BROKEN)
        return now < lease->ends ? LEASE_BREAKING : LEASE_BROKEN;
    return lease->ends == 0 || now < lease->ends ? LEASE_LEASED : LEASE_EXPIRED;
}

static const char *const status_text[LEASE_STATES] = {
    [LEASE_AVAILABLE] = "unlocked", [LEASE_LEASED] = "locked",    [LEASE_BREAKING] = "locked",
    [LEASE_BROKEN] = "unlocked",    [LEASE_EXPIRED] = "unlocked",
};

static const char *const state_text[LEASE_STATES] = {
    [LEASE_AVAILABLE] = "available", [LEASE_LEASED] = "leased",   [LEASE_BREAKING] = "breaking",
    [LEASE_BROKEN] = "broken",       [LEASE_EXPIRED] = "expired",
};

const char *lease_status_text(const struct lease *lease, instant now)
{
    return status_text[lease_state(lease, now)];
}

const char *lease_state_text(const struct lease *lease, instant now)
{
    return state_text[lease_state(lease, now)];
}

const char *lease_duration_text(const struct lease *lease, instant now)
{
    if (lease_state(lease, now) != LEASE_LEASED)
        return NULL;
    return lease->ends == 0 ? "infinite" : "fixed";
}

/* ---- checking an action ---- */

/* How the ids of a request relate to the current (or last) id of the lease. */
enum ids {
    NO_ID,      /* none given, or none needed */
    SAME_ID,    /* the id relevant to the action is the lease's */
    OTHER_ID,   /* the id relevant to the action is not the lease's */
    PROPOSED_ID /* change only: x-ms-lease-id is not the lease's id, the proposed id is */
};
#define IDS        (PROPOSED_ID + 1)

/* Abbreviations for this file. */
#define PRESENT    E_LeaseAlreadyPresent
#define NO_LEASE   E_LeaseNotPresentWithLeaseOperation
#define MISMATCH   E_LeaseIdMismatchWithLeaseOperation
#define BREAKING_A E_LeaseIsBreakingAndCannotBeAcquired
#define BREAKING_C E_LeaseIsBreakingAndCannotBeChanged
#define BROKEN_R   E_LeaseIsBrokenAndCannotBeRenewed

/* semantics 3.2. Missing rows cannot occur (action_ids()). In AVAILABLE there is no id, so the
 * SAME_ID cells are never read; they hold the result for any id. */
/* clang-format off */
static const enum error action_outcome[LEASE_ACTIONS][IDS][LEASE_STATES] = {
    /*                                AVAILABLE  LEASED    BREAKING    BROKEN    EXPIRED */
    [LEASE_ACQUIRE] = { [NO_ID]    = { OK,       PRESENT,  PRESENT,    OK,       OK       },
                        [SAME_ID]  = { OK,       OK,       BREAKING_A, OK,       OK       },
                        [OTHER_ID] = { OK,       PRESENT,  PRESENT,    OK,       OK       } },
    [LEASE_RENEW]   = { [SAME_ID]  = { MISMATCH, OK,       BROKEN_R,   BROKEN_R, OK       },
                        [OTHER_ID] = { MISMATCH, MISMATCH, MISMATCH,   MISMATCH, MISMATCH } },
    [LEASE_CHANGE]  = { [SAME_ID]  = { NO_LEASE, OK,       BREAKING_C, NO_LEASE, NO_LEASE },
                     [PROPOSED_ID] = { NO_LEASE, OK,       MISMATCH,   NO_LEASE, NO_LEASE },
                        [OTHER_ID] = { NO_LEASE, MISMATCH, MISMATCH,   NO_LEASE, NO_LEASE } },
    [LEASE_RELEASE] = { [SAME_ID]  = { MISMATCH, OK,       OK,         OK,       OK       },
                        [OTHER_ID] = { MISMATCH, MISMATCH, MISMATCH,   MISMATCH, MISMATCH } },
    [LEASE_BREAK]   = { [NO_ID]    = { NO_LEASE, OK,       OK,         OK,       OK       } },
};
/* clang-format on */

static const struct {
    enum error mismatch, no_lease;
} action_errors[LEASE_RESOURCES] = {
    [LEASE_OF_BLOB] = { MISMATCH, NO_LEASE },
    [LEASE_OF_CONTAINER] = { E_LeaseIdMismatchWithLeaseOperationOnContainer,
                             E_LeaseNotPresentWithLeaseOperationOnContainer },
    [LEASE_OF_FILE] = { E_LeaseIdMismatchWithLeaseOperationOnFile,
                        E_LeaseNotPresentWithLeaseOperationOnFile },
    [LEASE_OF_SHARE] = { E_LeaseIdMismatchWithLeaseOperationOnShare,
                         E_LeaseNotPresentWithLeaseOperationOnShare },
};

/* Returns the error for this kind of resource, which its message names. */
static enum error naming(enum lease_resource of, enum error e)
{
    assert(of < LEASE_RESOURCES);
    if (e == MISMATCH)
        return action_errors[of].mismatch;
    return e == NO_LEASE ? action_errors[of].no_lease : e;
}

static bool is_lease_id(const struct lease *lease, const struct guid *id)
{
    return lease->kind != KIND_NONE && guid_equal(&lease->id, id);
}

static enum ids ids_of(const struct lease *lease, const struct guid *id)
{
    if (!id)
        return NO_ID;
    return is_lease_id(lease, id) ? SAME_ID : OTHER_ID;
}

static enum ids action_ids(const struct lease *lease, const struct lease_request *request)
{
    switch (request->action) {
    case LEASE_ACQUIRE:
        return ids_of(lease, request->proposed);
    case LEASE_RENEW:
    case LEASE_RELEASE:
        assert(request->id);
        return ids_of(lease, request->id);
    case LEASE_CHANGE:
        assert(request->id && request->proposed);
        if (!is_lease_id(lease, request->id) && is_lease_id(lease, request->proposed))
            return PROPOSED_ID;
        return ids_of(lease, request->id);
    case LEASE_BREAK:
    case LEASE_ACTIONS:
        break;
    }
    return NO_ID;
}

/* ---- performing an action ---- */

static instant after_seconds(instant now, int32_t seconds)
{
    assert(seconds >= 0);
    return now + (uint32_t)seconds * TICKS_PER_SECOND;
}

/* Restarts the lease with the duration it was acquired with. */
static void start(struct lease *lease, instant now)
{
    lease->kind = KIND_LEASED;
    lease->ends = lease->duration_s == LEASE_INFINITE ? 0 : after_seconds(now, lease->duration_s);
}

static void acquire(struct lease *lease, const struct lease_request *request, instant now)
{
    lease->id = request->proposed ? *request->proposed : request->generated;
    lease->duration_s = request->duration_s;
    start(lease, now);
    assert_lease(lease);
}

/* Returns when a break takes effect. Without a period, that is the end of a finite lease, or now
 * for an infinite one. A period can only shorten it. rest: Lease-Blob "x-ms-lease-break-period" */
static instant break_end(const struct lease *lease, int32_t period_s, instant now)
{
    bool is_endless = lease->kind == KIND_LEASED && lease->ends == 0;
    instant end = is_endless ? now : lease->ends;
    instant asked;

    assert(period_s >= -1 && period_s <= LEASE_BREAK_MAX_S);
    if (period_s < 0)
        return end;
    asked = after_seconds(now, period_s);
    return is_endless || asked < end ? asked : end;
}

static void end_early(struct lease *lease, const struct lease_request *request, instant now)
{
    lease->ends = break_end(lease, request->break_period_s, now);
    lease->kind = KIND_BROKEN;
}

/* Rounded down, as in the real service: breaking a fresh lease of 20 seconds returns 19. decision:
 * 41 */
static uint32_t remaining_s(const struct lease *lease, instant now)
{
    if (lease->ends <= now)
        return 0;
    return (uint32_t)((lease->ends - now) / TICKS_PER_SECOND);
}

static void apply(struct lease *lease, const struct lease_request *request, instant now)
{
    switch (request->action) {
    case LEASE_ACQUIRE:
        acquire(lease, request, now);
        return;
    case LEASE_RENEW:
        start(lease, now);
        return;
    case LEASE_CHANGE:
        lease->id = *request->proposed;
        return;
    case LEASE_RELEASE:
        *lease = (struct lease){ 0 };
        return;
    case LEASE_BREAK:
        end_early(lease, request, now);
        return;
    case LEASE_ACTIONS:
        return;
    }
}

static void assert_performed(const struct lease *lease, enum lease_action action)
{
    assert_lease(lease);
    assert((action == LEASE_RELEASE) == (lease->kind == KIND_NONE));
    assert((action == LEASE_BREAK) == (lease->kind == KIND_BROKEN));
}

static const struct lease_result success[LEASE_ACTIONS] = {
    [LEASE_ACQUIRE] = { .status = 201, .has_id = true },
    [LEASE_RENEW] = { .status = 200, .has_id = true },
    [LEASE_CHANGE] = { .status = 200, .has_id = true },
    [LEASE_RELEASE] = { .status = 200 },
    [LEASE_BREAK] = { .status = 202, .has_time = true },
};

enum error lease_perform(enum lease_resource of, struct lease *lease,
                         const struct lease_request *request, instant now,
                         struct lease_result *ret_result)
{
    enum error e;

    assert(request->action < LEASE_ACTIONS);
    e = action_outcome[request->action][action_ids(lease, request)][lease_state(lease, now)];
    if (e)
        return naming(of, e);

    apply(lease, request, now);
    assert_performed(lease, request->action);
    *ret_result = success[request->action];
    if (ret_result->has_time)
        ret_result->time_s = remaining_s(lease, now);
    return OK;
}

/* ---- access to a leased resource ---- */

enum use { USE_OK, USE_NO_ID, USE_NO_LEASE, USE_MISMATCH, USE_LOST };
#define USES (USE_LOST + 1)

/* semantics 3.3 to 3.5. Another lease's id on a broken or expired lease: decision: 3 */
/* clang-format off */
static const enum use write_outcome[IDS][LEASE_STATES] = {
    /*             AVAILABLE     LEASED        BREAKING      BROKEN        EXPIRED */
    [NO_ID]    = { USE_OK,       USE_NO_ID,    USE_NO_ID,    USE_OK,       USE_OK       },
    [SAME_ID]  = { USE_NO_LEASE, USE_OK,       USE_OK,       USE_LOST,     USE_LOST     },
    [OTHER_ID] = { USE_NO_LEASE, USE_MISMATCH, USE_MISMATCH, USE_MISMATCH, USE_MISMATCH },
};

static const enum use read_outcome[IDS][LEASE_STATES] = {
    /*             AVAILABLE     LEASED        BREAKING      BROKEN        EXPIRED */
    [NO_ID]    = { USE_OK,       USE_OK,       USE_OK,       USE_OK,       USE_OK       },
    [SAME_ID]  = { USE_NO_LEASE, USE_OK,       USE_OK,       USE_LOST,     USE_LOST     },
    [OTHER_ID] = { USE_NO_LEASE, USE_MISMATCH, USE_MISMATCH, USE_MISMATCH, USE_MISMATCH },
};

static const enum error use_error[][USES] = {
    [LEASE_OF_BLOB] = {
        [USE_NO_ID]    = E_LeaseIdMissing,
        [USE_NO_LEASE] = E_LeaseNotPresentWithBlobOperation,
        [USE_MISMATCH] = E_LeaseIdMismatchWithBlobOperation,
        [USE_LOST]     = E_LeaseLost,
    },
    [LEASE_OF_CONTAINER] = {
        [USE_NO_ID]    = E_LeaseIdMissingOnContainer,
        [USE_NO_LEASE] = E_LeaseNotPresentWithContainerOperation,
        [USE_MISMATCH] = E_LeaseIdMismatchWithContainerOperation,
        [USE_LOST]     = E_LeaseLostOnContainer,
    },
    [LEASE_OF_FILE] = {
        [USE_NO_ID]    = E_LeaseIdMissingOnFile,
        [USE_NO_LEASE] = E_LeaseNotPresentWithFileOperation,
        [USE_MISMATCH] = E_LeaseIdMismatchWithFileOperation,
        [USE_LOST]     = E_LeaseLostOnFile,
    },
    [LEASE_OF_SHARE] = {
        [USE_NO_ID]    = E_LeaseIdMissingOnShare,
        [USE_NO_LEASE] = E_LeaseNotPresentWithContainerOperationOnShare,
        [USE_MISMATCH] = E_LeaseIdMismatchWithContainerOperationOnShare,
        [USE_LOST]     = E_LeaseLostOnShare,
    },
};
/* clang-format on */

enum error lease_check_write(enum lease_resource of, const struct lease *lease,
                             const struct guid *given, instant now)
{
    assert(of < LEASE_RESOURCES);
    return use_error[of][write_outcome[ids_of(lease, given)][lease_state(lease, now)]];
}

enum error lease_check_read(enum lease_resource of, const struct lease *lease,
                            const struct guid *given, instant now)
{
    assert(of < LEASE_RESOURCES);
    return use_error[of][read_outcome[ids_of(lease, given)][lease_state(lease, now)]];
}

void lease_forget_if_ended(struct lease *lease, instant now)
{
    enum lease_state state = lease_state(lease, now);

    if (state == LEASE_BROKEN || state == LEASE_EXPIRED)
        *lease = (struct lease){ 0 };
}

/* The stored form of a lease, part of a record, whose version covers it.
 *
 *   field     form     present
 *   kind      u8       always: 0 none, 1 leased, 2 breaking or broken
 *   id        16 raw   kind 1, 2
 *   duration  varint   kind 1, 2: seconds + 1, so that 0 is infinite
 *   ends      varint   kind 1, 2: instant; 0 for an infinite lease
 *
 * `ends` is adjusted to the current clock: if the wall clock was set forward and clock_now()
 * followed it, the remaining time is unchanged (clock invariant 4). Only steps of this run are
 * known; after a restart the wall clock decides.
 *
 * Changing this form requires a new version of every record that contains a lease. */

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
