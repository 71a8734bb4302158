/* Sharing is checked before caching: a refused operation breaks nothing, and an operation blocked
 * only by cached handles breaks only those. */
#include "concurrency/opens.h"

#include <assert.h>
#include <string.h>

/* clang-format off */
static const struct file_use rest_uses[REST_USES] = {
    [REST_LISTS]    = { .share = ACCESS_ALL, .ignores_pending = true },
    [REST_PASSES]   = { .share = ACCESS_ALL },
    [REST_EXAMINES] = { .share = ACCESS_ALL,
                        .breaks_caching = CACHING_WRITE, .waits_for = CACHING_WRITE },
    [REST_READS]    = { .access = ACCESS_READ, .share = ACCESS_ALL,
                        .breaks_caching = CACHING_WRITE, .waits_for = CACHING_WRITE },
    [REST_WRITES]   = { .access = ACCESS_WRITE, .share = ACCESS_ALL,
                        .breaks_caching = CACHING_ALL, .waits_for = CACHING_WRITE,
                        .needs_writable = true },
    [REST_REPLACES] = { .access = ACCESS_WRITE | ACCESS_DELETE, .share = ACCESS_ALL,
                        .breaks_caching = CACHING_ALL, .waits_for = CACHING_WRITE,
                        .needs_writable = true },
    [REST_RENAMES]  = { .access = ACCESS_DELETE, .share = ACCESS_ALL,
                        .breaks_caching = CACHING_HANDLE, .waits_for = CACHING_HANDLE,
                        .is_rename = true },
    [REST_DELETES]  = { .access = ACCESS_DELETE, .share = ACCESS_ALL,
                        .breaks_caching = CACHING_HANDLE, .waits_for = CACHING_HANDLE,
                        .needs_no_open = true },
    [REST_LEASES]   = { .access = ACCESS_ALL, .share = ACCESS_READ,
                        .breaks_caching = CACHING_ALL, .waits_for = CACHING_WRITE },
};
/* clang-format on */

const struct file_use *rest_use(enum rest_use use)
{
    assert(use < REST_USES);
    return &rest_uses[use];
}

/* Rule 16. Two opens that only access attributes never conflict. */
bool opens_are_compatible(const struct file_open *open, const struct file_use *use)
{
    if (use->needs_no_open)
        return false;
    if (open->access == 0 || use->access == 0)
        return true;
    return (use->access & ~open->share) == 0 && (open->access & ~use->share) == 0;
}

/* Rule 18: with handle caching, the application may have closed the file already. */
static bool may_be_closed(const struct file_opens *opens, const struct file_open *open,
                          uint16_t own)
{
    return open->caching != NO_CACHING && open->caching != own &&
           (opens->cachings[open->caching].holds & CACHING_HANDLE);
}

/* Returns the flags that remain of a caching after a break. Rule 19 */
static uint8_t after_break(const struct file_caching *caching, uint8_t breaks_caching,
                           bool is_rename)
{
    uint8_t left = caching->breaks_to & (uint8_t)~breaks_caching;

    if (!caching->is_oplock || left == caching->breaks_to)
        return left;
    return is_rename ? 0 : left & CACHING_READ;
}

/* Adds a break of one caching, unless it is in progress already. */
static void add_break(struct opens_check_result *result, const struct file_opens *opens,
                      uint16_t number, uint8_t breaks_caching, bool is_rename,
                      struct caching_break *breaks)
{
    uint8_t to = after_break(&opens->cachings[number], breaks_caching, is_rename);

    if (to != opens->cachings[number].breaks_to)
        breaks[result->break_count++] = (struct caching_break){ .caching = number, .to = to };
}

/* A set of caching indexes. */
struct caching_set {
    uint64_t words[NO_CACHING / 64 + 1]; /* only the first words, as needed, are initialized */
};

static void caching_set_clear(struct caching_set *set, size_t count)
{
    memset(set->words, 0, (count + 63) / 64 * sizeof set->words[0]);
}

/* Returns false if the number was in the set. */
static bool caching_set_add(struct caching_set *set, uint16_t number)
{
    uint64_t bit = UINT64_C(1) << number % 64, *word = &set->words[number / 64];
    bool is_new = !(*word & bit);

    *word |= bit;
    return is_new;
}

/* Returns E_SharingViolation if an open conflicts regardless of what its client gives up; otherwise
 * the breaks of handle caching that may resolve conflicts. Rules 16 to 18. */
static struct opens_check_result check_sharing(const struct file_opens *opens,
                                               const struct file_use *use, uint16_t own,
                                               struct caching_break *breaks)
{
    struct opens_check_result result = { .error = OK };
    struct caching_set broken;

    caching_set_clear(&broken, opens->caching_count);
    for (size_t i = 0; i < opens->open_count; i++) {
        const struct file_open *open = &opens->opens[i];

        if (opens_are_compatible(open, use))
            continue;
        if (!may_be_closed(opens, open, own))
            return (struct opens_check_result){ .error = E_SharingViolation };
        result.waits = true;
        if (caching_set_add(&broken, open->caching))
            add_break(&result, opens, open->caching, CACHING_HANDLE, false, breaks);
    }
    return result;
}

/* Rules 19 and 23. */
static bool is_spared(const struct file_caching *caching, const struct file_use *use, bool is_own)
{
    if (is_own)
        return !use->changes_data || !caching->is_oplock || caching->holds != CACHING_READ;
    return use->breaks_oplocks_only && !caching->is_oplock;
}

/* Rule 19. */
static struct opens_check_result check_caching(const struct file_opens *opens,
                                               const struct file_use *use, uint16_t own,
                                               struct caching_break *breaks)
{
    struct opens_check_result result = { .error = OK };

    for (size_t i = 0; i < opens->caching_count; i++) {
        const struct file_caching *caching = &opens->cachings[i];

        if (is_spared(caching, use, i == own))
            continue;
        if (caching->holds & use->waits_for ||
            (use->has_waited && caching->holds != caching->breaks_to))
            result.waits = true;
        add_break(&result, opens, (uint16_t)i, use->breaks_caching, use->is_rename, breaks);
    }
    return result;
}

struct opens_check_result opens_check(const struct file_opens *opens, const struct file_use *use,
                                      uint16_t own, struct caching_break *ret_breaks)
{
    struct opens_check_result result;

    assert(own == NO_CACHING || own < opens->caching_count);
    assert(opens->caching_count < NO_CACHING);
    if (opens->is_delete_pending && !use->ignores_pending)
        return (struct opens_check_result){ .error = E_DeletePending };
    if (opens->is_read_only && use->needs_writable)
        return (struct opens_check_result){ .error = E_ReadOnlyAttribute };
    if (opens->is_leased && use->is_open && (use->access & (ACCESS_WRITE | ACCESS_DELETE)))
        return (struct opens_check_result){ .error = E_SharingViolation };
    result = check_sharing(opens, use, own, ret_breaks);
    if (result.error || result.waits)
        return result;
    return check_caching(opens, use, own, ret_breaks);
}

/* ---- grants ---- */

/* Limits a grant by another client's caching: write caching excludes all other caching; oplocks
 * have no handle caching in the sense of leases, so handle caching of leases and that of oplocks
 * are mutually exclusive. */
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

/* Write caching needs exclusive access to the data. */
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
