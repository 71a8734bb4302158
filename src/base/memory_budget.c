/* The budget's counters; see memory_budget.h. Shares are slots in tables, chosen by hashing
 * addresses. A slot outlives its account or client, so memory can be released at any time. */
#include "base/memory_budget.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/episode.h"

/* An account or a client may hold this multiple of the memory that its charge leaves free. */
#define ACCOUNT_TIMES     3u
#define CLIENT_TIMES      1u
#define ACCOUNT_SLOT_BITS 10u
#define CLIENT_SLOT_BITS  12u

struct memory_share {
    _Atomic size_t held;
};

static _Atomic size_t held;
static _Atomic size_t held_for[MEMORY_USES];
static _Atomic size_t refusals;
static struct memory_share accounts[1u << ACCOUNT_SLOT_BITS], clients[1u << CLIENT_SLOT_BITS];
static _Atomic(const void *) large;
static _Atomic size_t large_held; /* changed only by the large request */

const char *memory_use_name(enum memory_use use)
{
    static const char *const names[MEMORY_USES] = {
        [MEMORY_REQUEST] = "request",         [MEMORY_DECISION] = "decision",
        [MEMORY_SMB_REQUEST] = "smb_request", [MEMORY_SMB_RESPONSE] = "smb_response",
        [MEMORY_BACKGROUND] = "background",
    };

    assert(use < MEMORY_USES);
    return names[use];
}

/* ---- shares ---- */

static size_t slot_of(const void *address, unsigned bits)
{
    /* Fibonacci hashing, because addresses differ in their middle bits. */
    return (size_t)(((uint64_t)(uintptr_t)address * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - bits));
}

struct memory_share *memory_share_of_account(const void *account)
{
    return account ? &accounts[slot_of(account, ACCOUNT_SLOT_BITS)] : NULL;
}

struct memory_share *memory_share_of_client(const void *client)
{
    return client ? &clients[slot_of(client, CLIENT_SLOT_BITS)] : NULL;
}

static bool is_within(const struct memory_share *share, size_t bytes, size_t most)
{
    return !share || atomic_load_explicit(&share->held, memory_order_relaxed) + bytes <= most;
}

static void share_add(struct memory_share *share, size_t bytes)
{
    if (share)
        atomic_fetch_add_explicit(&share->held, bytes, memory_order_relaxed);
}

static void share_subtract(struct memory_share *share, size_t bytes)
{
    size_t before;

    if (!share)
        return;
    before = atomic_fetch_sub_explicit(&share->held, bytes, memory_order_relaxed);
    assert(before >= bytes);
    (void)before;
}

/* ---- the budget ---- */

/* Returns true if `bytes` more may be charged while `before` bytes are held. */
static bool fits(struct memory_holder holder, size_t before, size_t bytes)
{
    size_t left;

    assert(before <= MEMORY_BUDGET_BYTES);
    if (bytes > MEMORY_BUDGET_BYTES - before)
        return false;
    left = MEMORY_BUDGET_BYTES - before - bytes;
    return is_within(holder.account, bytes, ACCOUNT_TIMES * left) &&
           is_within(holder.client, bytes, CLIENT_TIMES * left);
}

bool memory_budget_charge(struct memory_holder holder, enum memory_use use, size_t bytes)
{
    size_t before = atomic_load_explicit(&held, memory_order_relaxed);

    assert(use < MEMORY_USES);
    do {
        if (!fits(holder, before, bytes))
            return false;
    } while (!atomic_compare_exchange_weak(&held, &before, before + bytes));
    share_add(holder.account, bytes);
    share_add(holder.client, bytes);
    atomic_fetch_add_explicit(&held_for[use], bytes, memory_order_relaxed);
    return true;
}

void memory_budget_release(struct memory_holder holder, enum memory_use use, size_t bytes)
{
    size_t before;

    if (bytes == 0)
        return;
    share_subtract(holder.account, bytes);
    share_subtract(holder.client, bytes);
    atomic_fetch_sub_explicit(&held_for[use], bytes, memory_order_relaxed);
    before = atomic_fetch_sub(&held, bytes);
    assert(before >= bytes);
    (void)before;
}

bool memory_budget_covers(struct memory_holder holder, size_t bytes)
{
    return fits(holder, atomic_load(&held), bytes);
}

void memory_budget_move(struct memory_holder from, struct memory_holder to, size_t bytes)
{
    share_add(to.account, bytes);
    share_add(to.client, bytes);
    share_subtract(from.account, bytes);
    share_subtract(from.client, bytes);
}

void memory_budget_refused(void)
{
    atomic_fetch_add_explicit(&refusals, 1, memory_order_relaxed);
    episode_refused(EPISODE_MEMORY);
}

bool memory_budget_is_short(void)
{
    return atomic_load(&held) > MEMORY_BUDGET_BYTES / 2;
}

/* ---- the large request ---- */

bool memory_large_charge(const void *request, size_t bytes)
{
    const void *current = NULL;
    size_t before;

    if (bytes == 0 || bytes > MEMORY_LARGE_BYTES)
        return false;
    if (!atomic_compare_exchange_strong(&large, &current, request) && current != request)
        return false;
    before = atomic_load_explicit(&large_held, memory_order_relaxed);
    if (bytes > MEMORY_LARGE_BYTES - before)
        return false; /* it has other charges, and remains the large request */
    atomic_store_explicit(&large_held, before + bytes, memory_order_relaxed);
    return true;
}

void memory_large_release(const void *request, size_t bytes)
{
    size_t before = atomic_load_explicit(&large_held, memory_order_relaxed);

    assert(atomic_load(&large) == request && bytes > 0 && before >= bytes);
    (void)request;
    atomic_store_explicit(&large_held, before - bytes, memory_order_relaxed);
    if (before == bytes)
        atomic_store(&large, NULL);
}

/* ---- numbers ---- */

size_t memory_budget_held(enum memory_use use)
{
    assert(use < MEMORY_USES);
    return atomic_load_explicit(&held_for[use], memory_order_relaxed);
}

size_t memory_large_held(void)
{
    return atomic_load_explicit(&large_held, memory_order_relaxed);
}

size_t memory_budget_refusals(void)
{
    return atomic_load_explicit(&refusals, memory_order_relaxed);
}
