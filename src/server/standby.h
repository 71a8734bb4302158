/* The cells of a cluster as a front end sees them: a thread for each reads who owns it, and tries to lock it until a cell is
 * owned. Afterwards a thread goes on to look at the other cells, so that requests for them are forwarded to their owners. */
#ifndef LAGRA_SERVER_STANDBY_H
#define LAGRA_SERVER_STANDBY_H

#include "cluster/front.h"
#include "cluster/owner_file.h"
#include "server/options.h"
#include "server/signals.h"

#define STANDBY_ADDRESS_MAX 300u

struct standby;

/* A cell that is owned now. */
struct standby_won {
    struct owner_file file; /* locked */
    struct owner_record record;
    uint64_t record_began_ns; /* start of the write of the record */
    uint64_t serves_from_ns;  /* when the lease of the owner before has ended */
};

enum standby_result {
    STANDBY_WON,
    STANDBY_STOPPED, /* a signal ended the wait */
    STANDBY_FAILED,  /* said why */
};

/* Starts to look at all cells, and to try to lock the one that --cell names, or any. Has the front's route know their
 * owners. servers: those of the services, whose connections to lost owners are cut.
 *
 * address, forward  of the Blob service and the internal endpoint, for the record
 * returns           NULL after saying why on stderr */
struct standby *standby_start(const struct options *options, struct front *front,
                              struct http_server *const *servers, const char *address,
                              const char *forward);
/* Waits until a cell is owned: one that is free, or whose owner has died, or was fenced by --fenceCommand after it
 * went silent. Main thread, which handles signals meanwhile. */
enum standby_result standby_wait(struct standby *standby, const struct signal_watch *signals,
                                 struct standby_won *ret_won);
/* The cell that was won is served under this incarnation: requests that wait for owners before it are cut. */
void standby_serves(struct standby *standby, uint64_t incarnation);
/* Ends all threads; those that hang are left behind. While the servers run. Main thread. */
void standby_stop(struct standby *standby);
/* Frees it after standby_stop(), once no request is executed any more. Main thread. */
void standby_free(struct standby *standby);

#endif
