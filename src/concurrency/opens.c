/* Sharing is looked at before caching: an operation that is refused breaks nothing, and one that only
 * a cached handle stands against breaks that alone. */
#include "concurrency/opens.h"

#include <assert.h>
#include <string.h>

/* clang-format off */
static const struct file_use rest_uses[REST_USES] = {
    [REST_LISTS]    = { .share = ACCESS_ALL, .ignores_pending = true },
    [REST_PASSES]   = { .share = ACCESS_ALL },
    [REST_EXAMINES] = { .share = ACCESS_ALL,
                        .strips = CACHING_WRITE, .waits_for = CACHING_WRITE },
    [REST_READS]    = { .access = ACCESS_READ, .share = ACCESS_ALL,
                        .strips = CACHING_WRITE, .waits_for = CACHING_WRITE },
    [REST_WRITES]   = { .access = ACCESS_WRITE, .share = ACCESS_ALL,
                        .strips = CACHING_ALL, .waits_for = CACHING_WRITE,
                        .needs_writable = true },
    [REST_REPLACES] = { .access = ACCESS_WRITE | ACCESS_DELETE, .share = ACCESS_ALL,
                        .strips = CACHING_ALL, .waits_for = CACHING_WRITE,
                        .needs_writable = true },
    [REST_RENAMES]  = { .access = ACCESS_DELETE, .share = ACCESS_ALL,
                        .strips = CACHING_HANDLE, .waits_for = CACHING_HANDLE,
                        .takes_names = true },
    [REST_DELETES]  = { .access = ACCESS_DELETE, .share = ACCESS_ALL,
                        .strips = CACHING_HANDLE, .waits_for = CACHING_HANDLE,
                        .needs_no_open = true },
    [REST_LEASES]   = { .access = ACCESS_ALL, .share = ACCESS_READ,
                        .strips = CACHING_ALL, .waits_for = CACHING_WRITE },
};
/* clang-format on */

const struct file_use *rest_use(enum rest_use use)
{
    assert(use < REST_USES);
    return &rest_uses[use];
}

/* Rule 16. Of opens for attributes alone neither asks the other anything. */
bool opens_bear(const struct file_open *open, const struct file_use *use)
{
    if (use->needs_no_open)
        return false;
    if (open->access == 0 || use->access == 0)
        return true;
    return (use->access & ~open->share) == 0 && (open->access & ~use->share) == 0;
}

/* Rule 18: a client that caches its handle may have no program behind it any more. */
static bool may_be_closed(const struct file_opens *opens, const struct file_open *open,
                          uint16_t own)
{
    return open->caching != NO_CACHING && open->caching != own &&
           (opens->cachings[open->caching].holds & CACHING_HANDLE);
}

/* What is left of a caching without that. Rule 19 */
static uint8_t left_of(const struct file_caching *caching, uint8_t strips, bool takes_names)
{
    uint8_t left = caching->breaks_to & (uint8_t)~strips;

    if (!caching->is_oplock || left == caching->breaks_to)
        return left;
    return takes_names ? 0 : left & CACHING_READ;
}

/* Adds what one caching has to give up, unless it was asked for already. */
static void strip(struct opens_verdict *verdict, const struct file_opens *opens, uint16_t number,
                  uint8_t strips, bool takes_names, struct caching_break *breaks)
{
    uint8_t to = left_of(&opens->cachings[number], strips, takes_names);

    if (to != opens->cachings[number].breaks_to)
        breaks[verdict->break_count++] = (struct caching_break){ .caching = number, .to = to };
}

/* Cachings by number. */
struct caching_set {
    uint64_t words[NO_CACHING / 64 + 1]; /* of as many as there are */
};

static void caching_set_clear(struct caching_set *set, size_t count)
{
    memset(set->words, 0, (count + 63) / 64 * sizeof set->words[0]);
}

/* returns false if it was in the set */
static bool caching_set_add(struct caching_set *set, uint16_t number)
{
    uint64_t bit = UINT64_C(1) << number % 64, *word = &set->words[number / 64];
    bool is_new = !(*word & bit);

    *word |= bit;
    return is_new;
}

/* E_SharingViolation where an open stays in the way whatever its client gives up; else the breaks of
 * those that may go, and whether there are any. Rules 16 to 18. */
static struct opens_verdict judge_sharing(const struct file_opens *opens,
                                          const struct file_use *use, uint16_t own,
                                          struct caching_break *breaks)
{
    struct opens_verdict verdict = { .error = OK };
    struct caching_set broken;

    caching_set_clear(&broken, opens->caching_count);
    for (size_t i = 0; i < opens->open_count; i++) {
        const struct file_open *open = &opens->opens[i];

        if (opens_bear(open, use))
            continue;
        if (!may_be_closed(opens, open, own))
            return (struct opens_verdict){ .error = E_SharingViolation };
        verdict.waits = true;
        if (caching_set_add(&broken, open->caching))
            strip(&verdict, opens, open->caching, CACHING_HANDLE, false, breaks);
    }
    return verdict;
}

/* Rules 19 and 23. */
static bool is_spared(const struct file_caching *caching, const struct file_use *use, bool is_own)
{
    if (is_own)
        return !use->changes_data || !caching->is_oplock || caching->holds != CACHING_READ;
    return use->spares_leases && !caching->is_oplock;
}

/* Rule 19. */
static struct opens_verdict judge_caching(const struct file_opens *opens,
                                          const struct file_use *use, uint16_t own,
                                          struct caching_break *breaks)
{
    struct opens_verdict verdict = { .error = OK };

    for (size_t i = 0; i < opens->caching_count; i++) {
        const struct file_caching *caching = &opens->cachings[i];

        if (is_spared(caching, use, i == own))
            continue;
        if (caching->holds & use->waits_for ||
            (use->has_waited && caching->holds != caching->breaks_to))
            verdict.waits = true;
        strip(&verdict, opens, (uint16_t)i, use->strips, use->takes_names, breaks);
    }
    return verdict;
}

struct opens_verdict opens_judge(const struct file_opens *opens, const struct file_use *use,
                                 uint16_t own, struct caching_break *ret_breaks)
{
    struct opens_verdict verdict;

    assert(own == NO_CACHING || own < opens->caching_count);
    assert(opens->caching_count < NO_CACHING);
    if (opens->is_delete_pending && !use->ignores_pending)
        return (struct opens_verdict){ .error = E_DeletePending };
    if (opens->is_read_only && use->needs_writable)
        return (struct opens_verdict){ .error = E_ReadOnlyAttribute };
    if (opens->is_leased && use->is_open && (use->access & (ACCESS_WRITE | ACCESS_DELETE)))
        return (struct opens_verdict){ .error = E_SharingViolation };
    verdict = judge_sharing(opens, use, own, ret_breaks);
    if (verdict.error || verdict.waits)
        return verdict;
    return judge_caching(opens, use, own, ret_breaks);
}

/* ---- what may be cached ---- */

/* What another client's caching leaves of what is wanted: one who keeps writes back is the only one who caches;
 * an oplock knows nothing of cached handles, so those of leases and oplocks are never beside each other. */
static uint8_t beside_caching(const struct file_caching *other, uint8_t wants, bool is_oplock)
{
    if (other->holds == 0)
        return wants;
    if (other->holds & CACHING_WRITE)
        return 0;
    if (is_oplock && !other->is_oplock && (other->holds & CACHING_HANDLE))
        return 0;
    if (!is_oplock && other->is_oplock)
        wants &= (uint8_t)~CACHING_HANDLE;
    return wants & (uint8_t)~CACHING_WRITE;
}

/* To keep writes back, one must be alone with the data. */
static uint8_t beside_open(const struct file_open *other, uint8_t wants, bool is_oplock)
{
    uint8_t meets = is_oplock ? MEETS_OPLOCKS : MEETS_LEASES;

    return other->meets & meets ? wants & (uint8_t)~CACHING_WRITE : wants;
}

static uint8_t grantable(const struct file_opens *opens, uint8_t wants, bool is_oplock,
                         uint16_t own)
{
    if (opens->has_locks)
        return 0;
    for (size_t i = 0; i < opens->open_count; i++)
        if (own == NO_CACHING || opens->opens[i].caching != own)
            wants = beside_open(&opens->opens[i], wants, is_oplock);
    for (size_t i = 0; i < opens->caching_count; i++)
        if (i != own)
            wants = beside_caching(&opens->cachings[i], wants, is_oplock);
    if (!(wants & CACHING_READ))
        return 0;
    return is_oplock && !(wants & CACHING_WRITE) ? CACHING_READ : wants;
}

uint8_t opens_grant(const struct file_opens *opens, uint8_t wants, bool is_oplock, uint16_t own)
{
    uint8_t may_have = grantable(opens, wants, is_oplock, own);
    const struct file_caching *has;

    if (own == NO_CACHING)
        return may_have;
    has = &opens->cachings[own];
    return has->holds == has->breaks_to && may_have == wants && !(has->holds & ~wants) ? wants
                                                                                       : has->holds;
}
