/* One budget of the process for the memory that clients' requests need: request bodies that are collected in memory,
 * decisions, responses that are not read, messages of SMB, and background tasks. A charge beyond the budget fails before
 * the memory is used for long (503, STATUS_INSUFF_SERVER_RESOURCES), so a crowd of clients cannot exhaust the
 * memory of the machine.
 *
 * (1) What is charged never exceeds MEMORY_BUDGET_BYTES.
 * (2) An account may hold up to three times, and one client (a connection) as much as, what its charge leaves free. So an
 *     account that takes all it can leaves a quarter of the budget to others, and each of several takes less.
 * (3) One request at a time may hold MEMORY_LARGE_BYTES more than its shares allow. So the largest request that is legal
 *     succeeds however full the budget is, if not at once, then when it is repeated. It holds them only
 *     while it runs, never while it waits for its client.
 *
 * Arenas charge what they hold (arena.h). Thread-safe. decision: 970 */
#ifndef LAGRA_BASE_MEMORY_BUDGET_H
#define LAGRA_BASE_MEMORY_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

#define MEMORY_BUDGET_BYTES ((size_t)128 << 20)
#define MEMORY_LARGE_BYTES  ((size_t)256 << 20)

/* What memory is charged for, for metrics. */
enum memory_use {
    MEMORY_REQUEST,  /* HTTP: head and body, as received and parsed */
    MEMORY_DECISION, /* HTTP: records read, changes, and the response while it is rendered */
    MEMORY_SMB_REQUEST,
    MEMORY_SMB_RESPONSE,
    MEMORY_BACKGROUND,
    MEMORY_USES,
};
/* Label in metrics. Static. */
const char *memory_use_name(enum memory_use use);

/* Number of bytes that an account or a client holds. */
struct memory_share;
/* The account and the client that memory is charged to. NULL: no share limits the charge. */
struct memory_holder {
    struct memory_share *account, *client;
};
/* Returns the share of an account or client with this address. Few of them use the same one. */
struct memory_share *memory_share_of_account(const void *account);
struct memory_share *memory_share_of_client(const void *client);

/* Returns false, and charges nothing, if the budget or a share does not allow it. */
bool memory_budget_charge(struct memory_holder holder, enum memory_use use, size_t bytes);
void memory_budget_release(struct memory_holder holder, enum memory_use use, size_t bytes);
/* Returns true if memory_budget_charge() would succeed now: for what an arena charges once it is allocated. */
bool memory_budget_covers(struct memory_holder holder, size_t bytes);
/* Moves `bytes` that are charged to `from` to another holder, whatever its share. */
void memory_budget_move(struct memory_holder from, struct memory_holder to, size_t bytes);
/* Notes that a request is refused because a charge failed. */
void memory_budget_refused(void);
/* Returns true while more than half of it is held: connections that hold memory and stall are then closed sooner. */
bool memory_budget_is_short(void);

/* Charges `bytes` to the one large request, which `request` becomes if there is none.
 * returns false if there is another one, or if it would hold more than MEMORY_LARGE_BYTES */
bool memory_large_charge(const void *request, size_t bytes);
/* `request` is no longer the large request when it has released all that it charged. */
void memory_large_release(const void *request, size_t bytes);

/* Numbers for metrics. */
size_t memory_budget_held(enum memory_use use);
size_t memory_large_held(void);
size_t memory_budget_refusals(void);

#endif
