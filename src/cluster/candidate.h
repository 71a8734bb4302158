/* A cell as a front end sees it: a thread that watches the cell's owner, and tries to lock the cell for as long as the
 * front end wants it.
 *
 * The thread does all that touches files of another owner, because any of it may hang for as long
 * as that owner's machine does. Callers read the last result and the duration of the operation
 * in progress; they never wait for it. A thread that hangs is left behind when the process
 * ends. */
#ifndef LAGRA_CLUSTER_CANDIDATE_H
#define LAGRA_CLUSTER_CANDIDATE_H

#include <stdatomic.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/thread.h"
#include "cluster/lease.h"
#include "cluster/owner_file.h"

/* What is shared by the candidates of a process, which takes one cell. */
struct candidacy {
    const char *path; /* of the cluster's folder */
    struct guid cluster;
    const char *address;  /* "host:port", for the record */
    const char *forward;  /* of the internal endpoint, for the record; "": none */
    atomic_bool is_taken; /* set by the candidate that wins: the others only watch from then on */
    atomic_bool ends;     /* all of them end */
};

enum candidate_state {
    CANDIDATE_WAITS, /* another front end has the lock, or it only watches, or the file system hangs */
    CANDIDATE_WON,    /* the lock is ours, and the record says so */
    CANDIDATE_ENDED,  /* candidacy.ends */
    CANDIDATE_FAILED, /* it cannot be owned: problem */
};

/* What the thread has found. */
struct candidate_found {
    enum candidate_state state;
    struct lease_watch watch;
    struct owner_identity self; /* this process; once is_open */
    bool is_open;
    uint64_t began_ns; /* start of the file operation in progress, or 0 */
    char problem[256]; /* of CANDIDATE_FAILED; of CANDIDATE_WAITS the last error, or "" */
    /* Of CANDIDATE_WON: our record as it was written, the start of that write, and the end of the previous
     * owner's lease. */
    struct owner_record record;
    uint64_t record_began_ns, serves_from_ns;
};

struct candidate {
    struct candidacy *of;
    unsigned cell;
    bool wants; /* false: it only watches */
    struct thread thread;
    struct owner_file file; /* the thread's; the caller's once it has won */
    struct lock lock;       /* RANK_CELLS; over `found` */
    struct candidate_found found;
    struct thread nudger; /* candidate_nudge() */
    atomic_bool nudges;
};

/* Starts the thread. wants: it tries to lock the cell. Returns false if that is not possible. */
bool candidate_start(struct candidate *candidate, struct candidacy *of, unsigned cell, bool wants);
/* Copies what the thread has found. Thread-safe. */
void candidate_look(struct candidate *candidate, struct candidate_found *ret_found);
/* Has a thread of its own open the file `owner` once more, unless one does. The thread hangs while
 * the owner's machine does, and that is its purpose: CephFS keeps a session that has timed out
 * (session_timeout, 60 s) until another client needs something that it holds, or for five minutes
 * (session_autoclose). The reads and locks of the candidate need nothing of it. decision: 942 */
void candidate_nudge(struct candidate *candidate);
/* Waits for the end of its threads, for at most `ms`. Returns false if one still runs. */
bool candidate_wait(struct candidate *candidate, unsigned ms);

#endif
