/* Fencing: a command of the operator's that makes sure that a silent owner writes no more, such as
 * the eviction of its CephFS client. It is run without a shell, with these arguments:
 *
 *   CELL NAME ADDRESS CLIENT PID BOOT OWN-CLIENT
 *
 * the number of the cell, then of the owner: the name of its machine, the address of its Blob
 * service, its CephFS client ("" if that is not known), its process id, and the boot id of its
 * machine; last the CephFS client of the machine that runs the command. It exits with 0 only once
 * no write of the owner can reach the file system any more. After FENCE_LIMIT_MS it is killed, and
 * counts as failed. */
#ifndef LAGRA_CLUSTER_FENCE_H
#define LAGRA_CLUSTER_FENCE_H

#include <stdatomic.h>

#include "base/thread.h"
#include "cluster/owner_record.h"

#define FENCE_LIMIT_MS 60000u

/* A fence command in progress. Zeroed: none was ever started. */
struct fence {
    struct thread thread;
    atomic_bool runs;
    const char *command;
    struct owner_record record;
    struct owner_identity self;
};

/* Starts the command against the owner in the record, on a thread of its own; command stays the
 * caller's. Not while one runs. Returns false if no thread can be started. */
bool fence_start(struct fence *fence, const char *command, const struct owner_record *record,
                 const struct owner_identity *self);
/* Runs the command to its end. Returns whether it succeeded; problems are logged. */
bool fence_run(const char *command, const struct owner_record *record,
               const struct owner_identity *self);

#endif
