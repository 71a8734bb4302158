/* See leases.h. */
#include "leases.h"

#include <string.h>

#include "world.h"

#define SECOND_NS      UINT64_C(1000000000)
/* Largest difference between the server's clock and ours: after a start it may continue ahead of the wall clock. After
 * the wall clock was set it gains or loses a sixteenth of the time, of which a lease has a minute
 * (decision 42). */
#define CLOCK_SLOP     (2 * SECOND_NS)
#define CLOCK_SLOP_SET (7 * SECOND_NS)

/* ---- the clock ---- */

static bool trusts_clock;

void leases_trust_clock(bool trusted)
{
    trusts_clock = trusted;
}

bool ending_is_doubtful(const struct ending *ends, uint64_t from_ns, uint64_t to_ns)
{
    bool was_set = world->wall_steps > 0;
    uint64_t slop = trusts_clock ? 0 : was_set ? CLOCK_SLOP_SET : CLOCK_SLOP;

    if (was_set && ends->life != world->life && !trusts_clock)
        return true; /* a new life uses the wall clock only */
    return to_ns + slop >= ends->from_ns && from_ns < ends->to_ns + slop;
}

bool ending_is_over(const struct ending *ends, bool late, uint64_t from_ns, uint64_t to_ns)
{
    return ending_is_doubtful(ends, from_ns, to_ns) ? late : from_ns >= ends->to_ns;
}

struct ending ending_after(uint64_t seconds, uint64_t from_ns, uint64_t to_ns)
{
    return (struct ending){ .from_ns = from_ns + seconds * SECOND_NS,
                            .to_ns = to_ns + seconds * SECOND_NS,
                            .life = world->life };
}

void ending_widen(struct ending *ends, const struct ending *other)
{
    if (ends->to_ns == 0 || other->to_ns == 0)
        return;
    if (other->from_ns < ends->from_ns)
        ends->from_ns = other->from_ns;
    if (other->to_ns > ends->to_ns)
        ends->to_ns = other->to_ns;
}

/* ---- the state ---- */

const char *const lease_now_texts[NOWS] = { "available", "leased", "breaking", "broken",
                                            "expired" };

bool model_lease_doubtful(const struct model_lease *lease, uint64_t from_ns, uint64_t to_ns)
{
    return lease->kind != LEASE_FREE && lease->ends.to_ns != 0 &&
           ending_is_doubtful(&lease->ends, from_ns, to_ns);
}

enum lease_now model_lease_now(const struct model_lease *lease, bool late, uint64_t from_ns,
                               uint64_t to_ns)
{
    bool over;

    if (lease->kind == LEASE_FREE)
        return NOW_AVAILABLE;
    if (lease->ends.to_ns == 0)
        return NOW_LEASED;
    over = ending_is_over(&lease->ends, late, from_ns, to_ns);
    if (lease->kind == LEASE_HELD)
        return over ? NOW_EXPIRED : NOW_LEASED;
    return over ? NOW_BROKEN : NOW_BREAKING;
}

bool model_lease_has_id(const struct model_lease *lease, unsigned id)
{
    return lease->kind != LEASE_FREE && id > 0 && lease->id == id;
}

const char *model_lease_use(const struct model_lease *lease, enum lease_now now, unsigned id,
                            bool is_write, bool of_container)
{
    if (id == 0) {
        bool held = now == NOW_LEASED || now == NOW_BREAKING;

        return is_write && held ? "LeaseIdMissing" : NULL;
    }
    if (now == NOW_AVAILABLE)
        return of_container ? "LeaseNotPresentWithContainerOperation"
                            : "LeaseNotPresentWithBlobOperation";
    if (!model_lease_has_id(lease, id))
        return of_container ? "LeaseIdMismatchWithContainerOperation"
                            : "LeaseIdMismatchWithBlobOperation";
    return now == NOW_BROKEN || now == NOW_EXPIRED ? "LeaseLost" : NULL;
}

static void hold(struct model_lease *lease, uint64_t from_ns, uint64_t to_ns)
{
    lease->kind = LEASE_HELD;
    lease->ends = (struct ending){ 0 };
    if (lease->duration_s >= 0)
        lease->ends = ending_after((uint64_t)lease->duration_s, from_ns, to_ns);
}

static const char *acquire(struct model_lease *lease, enum lease_now now,
                           const struct lease_terms *terms)
{
    bool same = model_lease_has_id(lease, terms->proposed);

    if (now == NOW_LEASED && !same)
        return "LeaseAlreadyPresent";
    if (now == NOW_BREAKING)
        return same ? "LeaseIsBreakingAndCannotBeAcquired" : "LeaseAlreadyPresent";
    lease->id = terms->proposed;
    lease->text[0] = '\0';
    lease->duration_s = terms->duration_s;
    return NULL;
}

static const char *change(struct model_lease *lease, enum lease_now now,
                          const struct lease_terms *terms)
{
    if (now == NOW_AVAILABLE || now == NOW_BROKEN || now == NOW_EXPIRED)
        return "LeaseNotPresentWithLeaseOperation";
    if (!model_lease_has_id(lease, terms->id) &&
        !(now == NOW_LEASED && model_lease_has_id(lease, terms->proposed)))
        return "LeaseIdMismatchWithLeaseOperation";
    if (now == NOW_BREAKING)
        return "LeaseIsBreakingAndCannotBeChanged";
    lease->id = terms->proposed;
    return NULL;
}

static void end_early(struct model_lease *lease, const struct lease_terms *terms, uint64_t from_ns,
                      uint64_t to_ns)
{
    bool endless = lease->kind == LEASE_HELD && lease->ends.to_ns == 0;
    struct ending asked =
        ending_after(terms->break_s < 0 ? 0 : (uint64_t)terms->break_s, from_ns, to_ns);

    if (endless)
        lease->ends = asked;
    if (terms->break_s >= 0 && asked.from_ns < lease->ends.from_ns)
        lease->ends.from_ns = asked.from_ns;
    if (terms->break_s >= 0 && asked.to_ns < lease->ends.to_ns)
        lease->ends.to_ns = asked.to_ns;
    lease->kind = LEASE_ENDED_EARLY;
}

const char *model_lease_act(struct model_lease *lease, enum lease_now now,
                            const struct lease_terms *terms, uint64_t from_ns, uint64_t to_ns)
{
    const char *code = NULL;

    switch (terms->act) {
    case ACT_ACQUIRE:
        code = acquire(lease, now, terms);
        if (!code)
            hold(lease, from_ns, to_ns);
        return code;
    case ACT_RENEW:
        if (!model_lease_has_id(lease, terms->id))
            return "LeaseIdMismatchWithLeaseOperation";
        if (now == NOW_BREAKING || now == NOW_BROKEN)
            return "LeaseIsBrokenAndCannotBeRenewed";
        hold(lease, from_ns, to_ns);
        return NULL;
    case ACT_CHANGE:
        return change(lease, now, terms);
    case ACT_RELEASE:
        if (!model_lease_has_id(lease, terms->id))
            return "LeaseIdMismatchWithLeaseOperation";
        memset(lease, 0, sizeof *lease);
        return NULL;
    case ACT_BREAK:
        if (now == NOW_AVAILABLE)
            return "LeaseNotPresentWithLeaseOperation";
        end_early(lease, terms, from_ns, to_ns);
        return NULL;
    case ACTS:
        break;
    }
    return "?";
}

int model_lease_status(enum lease_act act)
{
    return act == ACT_ACQUIRE ? 201 : act == ACT_BREAK ? 202 : 200;
}

void model_lease_forget(struct model_lease *lease, enum lease_now now)
{
    if (now == NOW_BROKEN || now == NOW_EXPIRED)
        memset(lease, 0, sizeof *lease);
}
