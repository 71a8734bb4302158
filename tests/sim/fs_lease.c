/* See fs_lease.h. rest: Lease-File, Lease-Share */
#include "fs_lease.h"

const char *const fs_lease_states[3] = { "available", "leased", "broken" };

const char *fs_lease_use(const struct fs_lease *lease, unsigned id, bool is_write, bool of_file)
{
    if (id == 0)
        return is_write && lease->state == FS_LEASED ? "LeaseIdMissing" : NULL;
    if (lease->state == FS_AVAILABLE)
        return of_file ? "LeaseNotPresentWithFileOperation"
                       : "LeaseNotPresentWithContainerOperation";
    if (lease->id != id)
        return of_file ? "LeaseIdMismatchWithFileOperation"
                       : "LeaseIdMismatchWithContainerOperation";
    return lease->state == FS_BROKEN ? "LeaseLost" : NULL;
}

static const char *acquire(struct fs_lease *lease, unsigned proposed)
{
    if (lease->state == FS_LEASED && lease->id != proposed)
        return "LeaseAlreadyPresent";
    *lease = (struct fs_lease){ .state = FS_LEASED, .id = proposed };
    return NULL;
}

static const char *change(struct fs_lease *lease, unsigned from, unsigned to)
{
    if (lease->state != FS_LEASED)
        return "LeaseNotPresentWithLeaseOperation";
    if (lease->id != from && lease->id != to)
        return "LeaseIdMismatchWithLeaseOperation";
    lease->id = to;
    return NULL;
}

/* Only the break of a file's may name the lease that it means. decision: 339 */
static const char *break_it(struct fs_lease *lease, unsigned id, bool of_file)
{
    if (lease->state == FS_AVAILABLE)
        return "LeaseNotPresentWithLeaseOperation";
    if (of_file && id > 0 && lease->id != id)
        return "LeaseIdMismatchWithLeaseOperation";
    lease->state = FS_BROKEN;
    return NULL;
}

const char *fs_lease_act(struct fs_lease *lease, const struct fs_ask *ask, bool of_file)
{
    bool is_own = lease->state != FS_AVAILABLE && lease->id == ask->lease;

    switch (ask->act) {
    case ACT_ACQUIRE:
        return acquire(lease, ask->proposed);
    case ACT_CHANGE:
        return change(lease, ask->lease, ask->proposed);
    case ACT_RENEW:
        if (!is_own)
            return "LeaseIdMismatchWithLeaseOperation";
        return lease->state == FS_LEASED ? NULL : "LeaseIsBrokenAndCannotBeRenewed";
    case ACT_RELEASE:
        if (!is_own)
            return "LeaseIdMismatchWithLeaseOperation";
        *lease = (struct fs_lease){ .state = FS_AVAILABLE };
        return NULL;
    case ACT_BREAK:
        return break_it(lease, ask->lease, of_file);
    case ACTS:
        break;
    }
    return "?";
}

int fs_lease_status(enum lease_act act)
{
    return act == ACT_ACQUIRE ? 201 : act == ACT_BREAK ? 202 : 200;
}
