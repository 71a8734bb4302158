/* Fencing: an operator's command that makes sure that a silent owner can no longer write, for
 * example by evicting its CephFS client. It is run without a shell, with these arguments:
 *
 *   CELL NAME ADDRESS CLIENT PID BOOT OWN-CLIENT
 *
 * CELL is the number of the cell. The next five describe its owner: the machine name, the address
 * of its Blob service, its CephFS client ("" if unknown), its process id, and the boot id of its
 * machine. OWN-CLIENT is the CephFS client of the machine that runs the command. The command must
 * exit with 0 only once no write of the owner can reach the file system any more. After
 * FENCE_LIMIT_MS (fence_command.h) it is killed and counts as failed. */
#ifndef LAGRA_CLUSTER_FENCE_H
#define LAGRA_CLUSTER_FENCE_H

#include <stdatomic.h>

#include "base/thread.h"
#include "cluster/owner_record.h"

/* A fence command. Zeroed if none was ever started. */
struct fence {
    struct thread thread;
    atomic_bool runs;
    const char *command;
    struct owner_record record;
    struct owner_identity self;
};

/* Starts the command against the owner in the record, on a separate thread. The caller keeps
 * ownership of `command`. Must not be called while a command is running. Returns false if the
 * thread cannot be started. */
bool fence_start(struct fence *fence, const char *command, const struct owner_record *record,
                 const struct owner_identity *self);
/* Runs the command against the owner in the record, in the helper process if there is one
 * (fence_helper.h), and waits for its end. Returns true if it succeeded. Logs problems. */
bool fence_run(const char *command, const struct owner_record *record,
               const struct owner_identity *self);

#endif
