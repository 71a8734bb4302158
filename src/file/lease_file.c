/* Lease File. rest: Lease-File; semantics 3.5 */
#include "file/file_operations.h"

/* Checks the lease id, which is optional for a break. decision: 339 */
static enum error check_named(struct decision *d, const struct lease_request *request)
{
    const struct guid *given = d->input->lease_id;

    if (request->action != LEASE_BREAK || !given ||
        lease_state(&d->lease, d->now) == LEASE_AVAILABLE || guid_equal(&d->lease.id, given))
        return OK;
    return E_LeaseIdMismatchWithLeaseOperationOnFile;
}

/* Changes the lease, but neither ETag nor modification time. The row's column refuses an acquire
 * while a handle has write or delete access. */
enum error lease_file_decide(struct decision *d, const struct lease_file_parameters *p,
                             struct lease_file_result *r)
{
    struct file_state *state = file_state(d);
    struct file file = state->file;
    enum error e = check_named(d, &p->request);

    if (!e)
        e = lease_perform(LEASE_OF_FILE, &file.lease, &p->request, d->now, &r->lease);
    if (e)
        return e;
    file_write(d, state->part, &file);
    r->id = file.lease.id;
    return OK;
}
