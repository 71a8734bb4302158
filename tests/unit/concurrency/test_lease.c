/* The lease state machine in full: every state, action and id with all times, against an oracle
 * that is written from the sentences of semantics 3.1 and 3.2. rest: Lease-Blob */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "concurrency/lease.h"

#define NOW   (63705000000ull * TICKS_PER_SECOND + 7654321)
/* `s` seconds from now. */
#define AT(s) (NOW + (s)*TICKS_PER_SECOND)

enum { NONE, LEASED, OVER }; /* as stored; OVER is breaking or broken */

static const struct guid A = { { 0xA } }, B = { { 0xB } }, C = { { 0xC } }, X = { { 0xD } };

static const struct {
    enum lease_state state;
    struct lease lease;
} samples[] = {
    { LEASE_AVAILABLE, { .kind = NONE } },
    { LEASE_LEASED, { { { 0xA } }, LEASED, LEASE_INFINITE, 0 } },
    { LEASE_LEASED, { { { 0xA } }, LEASED, 15, NOW + 1 } },
    { LEASE_LEASED, { { { 0xA } }, LEASED, 60, AT(20) } },
    { LEASE_BREAKING, { { { 0xA } }, OVER, LEASE_INFINITE, AT(60) } },
    { LEASE_BREAKING, { { { 0xA } }, OVER, 15, NOW + 1 } },
    { LEASE_BREAKING, { { { 0xA } }, OVER, 60, AT(20) } },
    { LEASE_BROKEN, { { { 0xA } }, OVER, LEASE_INFINITE, NOW } },
    { LEASE_BROKEN, { { { 0xA } }, OVER, 60, NOW - 1 } },
    { LEASE_EXPIRED, { { { 0xA } }, LEASED, 15, NOW } },
    { LEASE_EXPIRED, { { { 0xA } }, LEASED, 60, NOW - 1 } },
};
#define SAMPLES (sizeof samples / sizeof samples[0])

/* ---- the oracle ---- */

static bool is_a(const struct guid *id)
{
    return id && guid_equal(id, &A);
}

static bool is_over(enum lease_state state)
{
    return state == LEASE_BROKEN || state == LEASE_EXPIRED;
}

/* "Acquire compares state first, then id." */
static enum error oracle_acquire(enum lease_state state, const struct lease_request *request)
{
    if (state == LEASE_LEASED)
        return is_a(request->proposed) ? OK : E_LeaseAlreadyPresent;
    if (state == LEASE_BREAKING)
        return is_a(request->proposed) ? E_LeaseIsBreakingAndCannotBeAcquired
                                       : E_LeaseAlreadyPresent;
    return OK;
}

/* "Renew in Breaking/Broken compares the id first (wrong id -> mismatch), then the state." */
static enum error oracle_renew(enum lease_state state, const struct lease_request *request)
{
    if (state == LEASE_AVAILABLE || !is_a(request->id))
        return E_LeaseIdMismatchWithLeaseOperation;
    return state == LEASE_BREAKING || state == LEASE_BROKEN ? E_LeaseIsBrokenAndCannotBeRenewed
                                                            : OK;
}

/* "Change (any)->A, proposed id already in force: idempotent, even with an unknown lease id." */
static enum error oracle_change(enum lease_state state, const struct lease_request *request)
{
    if (state == LEASE_AVAILABLE || is_over(state))
        return E_LeaseNotPresentWithLeaseOperation;
    if (state == LEASE_BREAKING)
        return is_a(request->id) ? E_LeaseIsBreakingAndCannotBeChanged
                                 : E_LeaseIdMismatchWithLeaseOperation;
    return is_a(request->id) || is_a(request->proposed) ? OK : E_LeaseIdMismatchWithLeaseOperation;
}

static enum error oracle_error(enum lease_state state, const struct lease_request *request)
{
    switch (request->action) {
    case LEASE_ACQUIRE:
        return oracle_acquire(state, request);
    case LEASE_RENEW:
        return oracle_renew(state, request);
    case LEASE_CHANGE:
        return oracle_change(state, request);
    case LEASE_RELEASE:
        return state != LEASE_AVAILABLE && is_a(request->id) ? OK
                                                             : E_LeaseIdMismatchWithLeaseOperation;
    case LEASE_BREAK:
        return state == LEASE_AVAILABLE ? E_LeaseNotPresentWithLeaseOperation : OK;
    case LEASE_ACTIONS:
        break;
    }
    fail();
    return OK;
}

/* "infinite: N or at once; finite: the remaining time, which a period only shortens". In ticks. */
static uint64_t oracle_break_ticks(enum lease_state state, const struct lease *lease,
                                   int32_t period_s)
{
    uint64_t period = period_s < 0 ? UINT64_MAX : (uint32_t)period_s * TICKS_PER_SECOND;
    uint64_t remaining;

    if (is_over(state))
        return 0;
    if (lease->ends == 0)
        return period_s < 0 ? 0 : period;
    remaining = lease->ends - NOW;
    return period < remaining ? period : remaining;
}

/* What the lease is after an action that went well. */
static struct lease oracle_after(enum lease_state state, struct lease lease,
                                 const struct lease_request *request)
{
    switch (request->action) {
    case LEASE_ACQUIRE:
        lease.id = request->proposed ? *request->proposed : X;
        lease.duration_s = request->duration_s;
        lease.kind = LEASED;
        lease.ends = request->duration_s < 0 ? 0 : AT((uint32_t)request->duration_s);
        break;
    case LEASE_RENEW:
        lease.ends = lease.duration_s < 0 ? 0 : AT((uint32_t)lease.duration_s);
        break;
    case LEASE_CHANGE:
        lease.id = *request->proposed;
        break;
    case LEASE_RELEASE:
        return (struct lease){ .kind = NONE };
    case LEASE_BREAK:
        if (!is_over(state))
            lease.ends = NOW + oracle_break_ticks(state, &lease, request->break_period_s);
        lease.kind = OVER;
        break;
    case LEASE_ACTIONS:
        fail();
    }
    return lease;
}

static void compare_result(const struct lease_request *request, const struct lease_result *result,
                           uint64_t break_ticks)
{
    static const int status[LEASE_ACTIONS] = { 201, 200, 200, 200, 202 };
    enum lease_action action = request->action;

    assert_int_equal(result->status, status[action]);
    assert_int_equal(result->has_id, action != LEASE_RELEASE && action != LEASE_BREAK);
    assert_int_equal(result->has_time, action == LEASE_BREAK);
    if (action == LEASE_BREAK)
        assert_int_equal(result->time_s, break_ticks / TICKS_PER_SECOND); /* decision: 41 */
}

static bool same_lease(const struct lease *a, const struct lease *b)
{
    return guid_equal(&a->id, &b->id) && a->kind == b->kind && a->duration_s == b->duration_s &&
           a->ends == b->ends;
}

static void run(size_t sample, const struct lease_request *request)
{
    enum lease_state state = samples[sample].state;
    const struct lease before = samples[sample].lease;
    struct lease after = before, expected = before;
    struct lease_result result = { .status = 999 };
    enum error wanted = oracle_error(state, request);
    enum error e = lease_perform(LEASE_OF_BLOB, &after, request, NOW, &result);

    if (!wanted)
        expected = oracle_after(state, before, request);
    else
        assert_int_equal(result.status, 999);
    /* A broken lease keeps its past end; only that it is past counts. */
    if (request->action == LEASE_BREAK && is_over(state) && after.ends <= NOW)
        expected.ends = after.ends;
    if (e != wanted || !same_lease(&after, &expected))
        fail_msg("sample %zu, action %d: %s, not %s; kind %d, ends %lld from now", sample,
                 request->action, error_code(e), error_code(wanted), after.kind,
                 (long long)(after.ends - NOW));
    if (!wanted)
        compare_result(request, &result,
                       request->action == LEASE_BREAK
                           ? oracle_break_ticks(state, &before, request->break_period_s)
                           : 0);
}

/* Rule: each action in each state with each id has the outcome of the page's sentences; one that
 * is refused changes nothing. semantics 3.2 */
static void every_state_action_and_id(void **state)
{
    static const struct guid *const ids[] = { &A, &B, NULL };
    static const struct guid *const proposed[] = { &A, &B, &C, NULL };
    static const int32_t durations[] = { LEASE_INFINITE, 15, 60 };
    static const int32_t periods[] = { -1, 0, 1, 20, 60 };
    const unsigned all = (unsigned)SAMPLES * LEASE_ACTIONS * 3 * 4 * 3 * 5;

    (void)state;
    for (unsigned i = 0; i < all; i++) {
        unsigned n = i;
        size_t sample = n % SAMPLES;
        struct lease_request request = { .generated = X };

        n /= (unsigned)SAMPLES;
        request.action = (enum lease_action)(n % LEASE_ACTIONS), n /= LEASE_ACTIONS;
        request.id = ids[n % 3], n /= 3;
        request.proposed = proposed[n % 4], n /= 4;
        request.duration_s = durations[n % 3], n /= 3;
        request.break_period_s = periods[n];
        /* What lease_request_parse() does not let through. */
        if (!request.id && request.action != LEASE_ACQUIRE && request.action != LEASE_BREAK)
            continue;
        if (!request.proposed && request.action == LEASE_CHANGE)
            continue;
        run(sample, &request);
    }
}

/* ---- time ---- */

/* Rule: a lease is what it is up to its last tick, and over from then on. semantics 3.2 "Time
 * passes" */
static void time_passes(void **state)
{
    const struct lease fixed = { A, LEASED, 15, AT(15) };
    const struct lease infinite = { A, LEASED, LEASE_INFINITE, 0 };
    const struct lease breaking = { A, OVER, 60, AT(15) };

    (void)state;
    assert_int_equal(lease_state(&fixed, AT(15) - 1), LEASE_LEASED);
    assert_int_equal(lease_state(&fixed, AT(15)), LEASE_EXPIRED);
    assert_int_equal(lease_state(&fixed, AT(100000)), LEASE_EXPIRED);
    assert_int_equal(lease_state(&infinite, UINT64_MAX), LEASE_LEASED);
    assert_int_equal(lease_state(&breaking, AT(15) - 1), LEASE_BREAKING);
    assert_int_equal(lease_state(&breaking, AT(15)), LEASE_BROKEN);
    for (size_t i = 0; i < SAMPLES; i++)
        assert_int_equal(lease_state(&samples[i].lease, NOW), samples[i].state);
}

/* Rule: a write without id forgets a lease that is over, and only that. semantics 3.2 "Modification
 * of the blob without id" */
static void a_write_forgets_what_is_over(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLES; i++) {
        struct lease lease = samples[i].lease;
        bool is_forgotten = is_over(samples[i].state);

        lease_forget_if_ended(&lease, NOW);
        if (is_forgotten)
            assert_int_equal(lease_state(&lease, NOW), LEASE_AVAILABLE);
        else
            assert_true(same_lease(&lease, &samples[i].lease));
    }
}

/* ---- stored ---- */

/* Rule: what is stored is read back. */
static void leases_are_stored(void **state)
{
    struct arena *arena = arena_new(65536);

    (void)state;
    for (size_t i = 0; i < SAMPLES; i++) {
        struct decoder in;
        struct lease lease;
        struct text out;

        text_init(&out, arena, 64);
        lease_encode(&out, &samples[i].lease);
        decoder_init(&in, text_bytes(&out));
        lease_decode(&in, &lease);
        assert_true(decoder_ok(&in));
        assert_true(same_lease(&lease, &samples[i].lease));

        /* Cut anywhere, it is bad, and no lease. */
        for (size_t len = 0; len < out.len; len++) {
            decoder_init(&in, bytes_of(out.ptr, len));
            lease_decode(&in, &lease);
            assert_false(decoder_ok(&in));
            assert_int_equal(lease.kind, NONE);
        }
    }
    arena_free(arena);
}

/* Rule: a stored kind or duration that cannot be is bad. */
static void impossible_leases_are_not_read(void **state)
{
    static const char id[16] = "0123456789abcde";
    static const struct {
        uint8_t kind;
        uint64_t duration;
    } rows[] = { { 3, 0 }, { 255, 16 }, { 1, 62 }, { 2, 1ull << 40 } };
    struct arena *arena = arena_new(65536);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct decoder in;
        struct lease lease;
        struct text out;

        text_init(&out, arena, 64);
        encode_u8(&out, rows[i].kind);
        encode_fixed(&out, id, sizeof id);
        encode_u64(&out, rows[i].duration);
        encode_u64(&out, NOW);
        decoder_init(&in, text_bytes(&out));
        lease_decode(&in, &lease);
        assert_false(decoder_ok(&in));
        assert_int_equal(lease.kind, NONE);
    }
    arena_free(arena);
}

/* Rule: a lease ends by the time that passed, not by what the wall clock was set to.
 * decision: 42 */
static void steps_of_the_wall_end_no_lease(void **state)
{
    static const int64_t hour = 3600 * (int64_t)TICKS_PER_SECOND;
    struct arena *arena = arena_new(65536);
    struct lease kept = { .kind = LEASED, .duration_s = 60 }, ended = kept, lease;
    instant now = clock_now();
    struct decoder in;
    struct text out;

    (void)state;
    kept.ends = now + 60 * TICKS_PER_SECOND;
    ended.ends = now - 1;
    text_init(&out, arena, 64);
    lease_encode(&out, &kept);
    lease_encode(&out, &ended);
    clock_step_wall(hour);
    assert_true(clock_now() >= now + (uint64_t)hour);
    decoder_init(&in, text_bytes(&out));
    lease_decode(&in, &lease);
    assert_int_equal(lease_state(&lease, clock_now()), LEASE_LEASED);
    clock_advance(61 * TICKS_PER_SECOND);
    assert_int_equal(lease_state(&lease, clock_now()), LEASE_EXPIRED);
    lease_decode(&in, &lease);
    assert_int_equal(lease_state(&lease, clock_now()), LEASE_EXPIRED);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_state_action_and_id),
        cmocka_unit_test(time_passes),
        cmocka_unit_test(a_write_forgets_what_is_over),
        cmocka_unit_test(leases_are_stored),
        cmocka_unit_test(impossible_leases_are_not_read),
        cmocka_unit_test(steps_of_the_wall_end_no_lease),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
