/* Accounts that somebody else changes: in a store that several processes serve, each looks for what the others have made
 * of the accounts, and puts it in force within ACCOUNT_WATCH_MS and the time of a read. A thread that looks all the time
 * costs a small read a look; nothing need reach the other processes, which may come and go. */
#ifndef LAGRA_ADMIN_ACCOUNT_WATCH_H
#define LAGRA_ADMIN_ACCOUNT_WATCH_H

#include "auth/auth.h"
#include "store/store.h"

/* Between two looks. */
#define ACCOUNT_WATCH_MS 300

struct account_watch;
/* NULL, logged: no thread can be started. Both outlive it. */
struct account_watch *account_watch_start(struct store *store, struct accounts *accounts);
/* NULL: none. Waits for the look that is under way, which may be waiting for the store. */
void account_watch_stop(struct account_watch *watch);

#endif
