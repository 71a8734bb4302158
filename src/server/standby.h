/* The cells of a cluster as a front end sees them. One thread per cell reads its owner record and
 * tries to lock the cell, until this process owns one; afterwards one thread watches the other
 * cells, so that requests are forwarded to their owners. */
#ifndef LAGRA_SERVER_STANDBY_H
#define LAGRA_SERVER_STANDBY_H

#include "cluster/front.h"
#include "cluster/owner_file.h"
#include "server/options.h"
#include "server/signals.h"

#define STANDBY_ADDRESS_MAX 300u

struct standby;

/* A newly owned cell. */
struct standby_won {
    struct owner_file file; /* locked */
    struct owner_record record;
    uint64_t record_began_ns; /* when writing the record started */
    uint64_t serves_from_ns;  /* when the previous owner's lease has ended */
};

enum standby_result {
    STANDBY_WON,
    STANDBY_STOPPED, /* a signal ended the wait */
    STANDBY_FAILED,  /* the reason was printed */
};

/* Starts to watch all cells, and to try to lock the one that --cell names, or any. Keeps the
 * front's route to their owners up to date.
 *
 * servers           of the services; their connections to lost owners are closed
 * address, forward  addresses of the Blob service and the internal endpoint, for the record
 * smb               host for SMB referrals, or "", for the record
 * returns           NULL after printing why on stderr */
struct standby *standby_start(const struct options *options, struct front *front,
                              struct http_server *const *servers, const char *address,
                              const char *forward, const char *smb);
/* Waits until a cell is owned, because it was free, its owner died, or --fenceCommand fenced its
 * silent owner. Main thread, which handles signals during the wait. */
enum standby_result standby_wait(struct standby *standby, const struct signal_watch *signals,
                                 struct standby_won *ret_won);
/* Reports that the owned cell is served under this incarnation; requests that wait for earlier
 * owners are aborted. */
void standby_serves(struct standby *standby, uint64_t incarnation);
/* Stops using the servers, which are about to be stopped, but still watches owners. Main thread. */
void standby_forget_servers(struct standby *standby);
/* Ends all threads, leaving hanging ones behind. After standby_forget_servers(), if the servers do
 * not run any more. Main thread. */
void standby_stop(struct standby *standby);
/* Frees it after standby_stop(), once no request is executed any more. Main thread. */
void standby_free(struct standby *standby);

#endif
