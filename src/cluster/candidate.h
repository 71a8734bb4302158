/* A cell from the point of view of a front end: a thread watches the cell's owner, and tries to
 * lock the cell while the front end wants it.
 *
 * The thread performs all operations on files of another owner, because any of them may hang for as
 * long as that owner's machine does. Callers read the last result and the duration of the operation
 * in progress; they never wait for it. A thread that hangs is abandoned when the process ends. */
#ifndef LAGRA_CLUSTER_CANDIDATE_H
#define LAGRA_CLUSTER_CANDIDATE_H

#include <stdatomic.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/thread.h"
#include "cluster/lease.h"
#include "cluster/owner_file.h"

/* State shared by all candidates of a process. At most one of them wins a cell. */
struct candidacy {
    const char *path; /* cluster directory */
    struct guid cluster;
    const char *address;  /* "host:port", for the record */
    const char *forward;  /* internal endpoint, for the record; "" if none */
    const char *smb;      /* host for SMB referrals, for the record; "" if none */
    atomic_bool is_taken; /* set by the winning candidate; the others then only watch */
    atomic_bool ends;     /* all candidates must end */
};

enum candidate_state {
    CANDIDATE_WAITS,  /* locked by another front end, only watching, or the file system hangs */
    CANDIDATE_WON,    /* we hold the lock and have written our record */
    CANDIDATE_ENDED,  /* candidacy.ends */
    CANDIDATE_FAILED, /* the cell cannot be owned; see `problem` */
};

/* Results of the thread. */
struct candidate_found {
    enum candidate_state state;
    struct lease_watch watch;
    struct owner_identity self; /* this process; valid once is_open */
    bool is_open;
    uint64_t began_ns; /* start of the file operation in progress, or 0 */
    char problem[256]; /* reason for CANDIDATE_FAILED; last error of CANDIDATE_WAITS, or "" */
    /* For CANDIDATE_WON: our record as written, the start of that write, and the end of the
     * previous owner's lease. */
    struct owner_record record;
    uint64_t record_began_ns, serves_from_ns;
};

struct candidate {
    struct candidacy *of;
    unsigned cell;
    bool wants; /* false if it only watches */
    struct thread thread;
    struct owner_file file; /* owned by the thread; by the caller once the candidate has won */
    struct lock lock;       /* RANK_CELLS; protects `found` */
    struct candidate_found found;
    struct thread nudger; /* see candidate_nudge() */
    atomic_bool nudges;
};

/* Starts the thread. If `wants` is set, it tries to lock the cell. Returns false if the thread
 * cannot be started. */
bool candidate_start(struct candidate *candidate, struct candidacy *of, unsigned cell, bool wants);
/* Copies the thread's results. Thread-safe. */
void candidate_look(struct candidate *candidate, struct candidate_found *ret_found);
/* Starts a thread that opens the file `owner` again, unless such a thread is running. The thread is
 * meant to hang while the owner's machine does. CephFS keeps a session that has timed out
 * (session_timeout, 60 s) until another client needs something that the session holds, or for five
 * minutes (session_autoclose), and the candidate's own reads and locks need nothing from the
 * session. decision: 942 */
void candidate_nudge(struct candidate *candidate);
/* Waits up to `ms` for its threads to end. Returns false if one is still running. */
bool candidate_wait(struct candidate *candidate, unsigned ms);

#endif
