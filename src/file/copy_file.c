/* Copy File and Abort Copy File. A copy whose data was gathered completes in the same commit;
 * all others are pending (pending_file.h). rest: Copy-File, Abort-Copy-File; decision: 304 */
#include "file/copy_file.h"

#include "file/pending_file.h"
#include "acl/permission_store.h"

static enum error write_bytes(struct decision *d, const struct copy_file_parameters *p,
                              struct decision_part *part, struct content *content)
{
    const struct body *body = &d->input->body;
    enum store_result result = STORE_OK;

    if (p->has_ranges)
        result = content_write_ranges(part->before, part->changes, content, d->now, body,
                                      p->bytes.ranges, p->bytes.range_count);
    else if (body->length > 0)
        result = content_write(part->before, part->changes, d->arena, content, d->now, 0, body);
    return result ? decision_fail_content(d, result) : OK;
}

/* Copies the source's permission. If the source is in another share, stores the descriptor in the
 * new file's share. */
static enum error take_permission(struct decision *d, const struct copy_file_parameters *p,
                                  struct file *file)
{
    struct guid space = file_state(d)->share.space;
    struct bytes descriptor = p->descriptor;
    enum error e = OK;

    file->permission = p->is_in_other_cell ? 0 : p->file.permission;
    if (!p->is_in_other_cell) {
        if (file->permission == 0 || guid_equal(&space, &p->space))
            return OK;
        e = permission_find(d, p->space, p->file.permission, &descriptor);
    }
    if (e || !descriptor.ptr)
        return e;
    return permission_keep(d, space, descriptor, &file->permission);
}

/* Copies the source's SMB properties. Those in the request are applied afterwards. */
static enum error take_smb(struct decision *d, const struct copy_file_parameters *p,
                           struct file *file)
{
    file->attributes = p->file.attributes;
    file->created = p->file.created;
    file->written = p->file.written;
    file->changed = p->file.changed;
    return p->smb.permission.kind == PERMISSION_KEPT ? take_permission(d, p, file) : OK;
}

static struct copy_state copy_of(const struct decision *d, const struct copy_file_parameters *p)
{
    return (struct copy_state){
        .status = p->is_pending ? COPY_PENDING : COPY_SUCCESS,
        .id = p->id,
        .source = p->shown,
        .copied = p->is_pending ? 0 : p->length,
        .total = p->length,
        .completed = p->is_pending ? 0 : d->now,
    };
}

/* Creates the destination. Returns OK, or an error of new_file_open(). */
enum error copy_file_decide(struct decision *d, const struct copy_file_parameters *p,
                            struct copy_file_result *r)
{
    struct smb_given smb = p->smb;
    struct file file = {
        .kind = TREE_FILE,
        .metadata = p->metadata.len > 0 ? p->metadata : p->source_metadata,
        .http = p->http,
        .copy = copy_of(d, p),
    };
    struct decision_part *part;
    enum error e = new_file_open(d, p->rule, p->length, &file, &part);

    if (!e)
        e = write_bytes(d, p, part, &file.content);
    if (!e && p->is_file)
        e = take_smb(d, p, &file);
    if (e)
        return e;
    if (p->sets_archive) {
        smb.attributes =
            ATTRIBUTE_ARCHIVE | (smb.has_attributes ? smb.attributes : file.attributes);
        smb.has_attributes = true;
    }
    e = p->is_pending ? pending_file_begin(d, part, &p->pending, &file) : OK;
    if (e)
        return e;
    r->status = file.copy.status;
    return new_file_write(d, part, &smb, &file);
}

/* Aborts a pending copy. rest: Abort-Copy-File */
enum error abort_copy_file_decide(struct decision *d, const struct abort_copy_file_parameters *p,
                                  struct abort_copy_file_result *r)
{
    const struct copy_state *copy = &file_state(d)->file.copy;

    (void)r;
    if (copy->status != COPY_PENDING)
        return E_NoPendingCopyOperation;
    if (!guid_equal(&copy->id, &p->id))
        return E_CopyIdMismatch;
    return pending_file_abort(d);
}
