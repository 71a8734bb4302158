/* One budget per process for the memory that clients' requests need: buffered request bodies,
 * decisions, unread responses, SMB messages, and background tasks. A charge beyond the budget
 * fails (503, STATUS_INSUFF_SERVER_RESOURCES), so that many clients together cannot exhaust the
 * machine's memory.
 *
 * (1) The total charge never exceeds MEMORY_BUDGET_BYTES.
 * (2) An account may hold up to three times the memory that remains free after its charge, and a
 *     client (a connection) as much as remains free after its charge. A greedy account therefore
 *     leaves a quarter of the budget to others, and several greedy accounts get less each.
 * (3) One request at a time may hold MEMORY_LARGE_BYTES more than its shares allow. Thus the
 *     largest legal request succeeds regardless of how much of the budget is in use, possibly only
 *     after a retry. It holds this memory only while it runs, never while it waits for its client.
 *
 * Arenas charge the memory that they hold (arena.h). Thread-safe. decision: 970 */
#ifndef LAGRA_BASE_MEMORY_BUDGET_H
#define LAGRA_BASE_MEMORY_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

#define MEMORY_BUDGET_BYTES ((size_t)128 << 20)
#define MEMORY_LARGE_BYTES  ((size_t)256 << 20)

/* What memory is charged for; a label of metrics. */
enum memory_use {
    MEMORY_REQUEST,  /* HTTP: header section and body, as received and parsed */
    MEMORY_DECISION, /* HTTP: records read, changes, and the response while it is rendered */
    MEMORY_SMB_REQUEST,
    MEMORY_SMB_RESPONSE,
    MEMORY_BACKGROUND,
    MEMORY_USES,
};
/* Returns the label in metrics. Static. */
const char *memory_use_name(enum memory_use use);

/* Number of bytes that an account or a client holds. */
struct memory_share;
/* The account and client that memory is charged to; NULL if no share limits it. */
struct memory_holder {
    struct memory_share *account, *client;
};
/* Returns the share of the account or client with this address. Hash collisions are rare. */
struct memory_share *memory_share_of_account(const void *account);
struct memory_share *memory_share_of_client(const void *client);

/* Returns false, and charges nothing, if the budget or a share does not allow it. */
bool memory_budget_charge(struct memory_holder holder, enum memory_use use, size_t bytes);
void memory_budget_release(struct memory_holder holder, enum memory_use use, size_t bytes);
/* Returns true if memory_budget_charge() would succeed now. For arenas, which charge after
 * allocating. */
bool memory_budget_covers(struct memory_holder holder, size_t bytes);
/* Moves a charge of `bytes` to another holder, regardless of its share. */
void memory_budget_move(struct memory_holder from, struct memory_holder to, size_t bytes);
/* Counts a request that is refused because a charge failed. */
void memory_budget_refused(void);
/* Returns true while more than half of the budget is used; stalled connections that hold memory
 * are then closed sooner. */
bool memory_budget_is_short(void);

/* Charges `bytes` to the large request; `request` becomes the large request if none exists.
 * Returns false if there is another one, or if `request` would hold more than
 * MEMORY_LARGE_BYTES. */
bool memory_large_charge(const void *request, size_t bytes);
/* Releases `bytes`. `request` is no longer the large request once it has released everything. */
void memory_large_release(const void *request, size_t bytes);

/* Numbers for metrics. */
size_t memory_budget_held(enum memory_use use);
size_t memory_large_held(void);
size_t memory_budget_refusals(void);

#endif
