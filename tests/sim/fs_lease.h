/* Leases of files and of shares, without end: who may act and write beside one. semantics 3.5 */
#ifndef LAGRA_SIM_FS_LEASE_H
#define LAGRA_SIM_FS_LEASE_H

#include "fs_ask.h"

enum fs_lease_state { FS_AVAILABLE, FS_LEASED, FS_BROKEN };
struct fs_lease {
    enum fs_lease_state state;
    unsigned id; /* of lease_texts; 0: none */
};

extern const char *const fs_lease_states[3];
/* NULL: what comes with the id (0: none) may go on; else the code. */
const char *fs_lease_use(const struct fs_lease *lease, unsigned id, bool is_write, bool of_file);
/* NULL: it is done; else the code, and nothing is changed. */
const char *fs_lease_act(struct fs_lease *lease, const struct fs_ask *ask, bool of_file);
int fs_lease_status(enum lease_act act);

#endif
