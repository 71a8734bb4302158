/* Lease File. rest: Lease-File; semantics 3.5 */
#include "file/file_operations.h"

/* A break may name the lease that it means. decision: 339 */
static enum error check_named(struct decision *d, const struct lease_request *request)
{
    const struct guid *given = d->input->lease_id;

    if (request->action != LEASE_BREAK || !given ||
        lease_state(&d->lease, d->now) == LEASE_AVAILABLE || guid_equal(&d->lease.id, given))
        return OK;
    return E_LeaseIdMismatchWithLeaseOperationOnFile;
}

/* Changes neither ETag nor modification time. That no handle may write or delete where it is acquired is
 * the row's column. */
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
