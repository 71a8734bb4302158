/* Create Directory and Create File. */
#include "file/file_operations.h"
#include "file/share_usage.h"

/* Gives the new node its record, behind what it has by its kind. */
static enum error write_new(struct decision *d, struct decision_part *part,
                            const struct smb_given *smb, struct file *file)
{
    enum error e;

    file->modified = file->accessed = d->now;
    file->etag = etag_after(file->etag, d->now);
    e = smb_apply(d, smb, file);
    if (e)
        return e;
    file_write(d, part, file);
    file_state(d)->file = *file;
    d->subject = (struct subject){ .exists = true, .etag = file->etag, .modified = file->modified };
    return OK;
}

/* returns  OK, E_ResourceAlreadyExists
 * rest: Create-Directory; a missing parent is found by the subject */
enum error create_directory_decide(struct decision *d, const struct create_directory_parameters *p,
                                   struct create_directory_result *r)
{
    struct file_state *state = file_state(d);
    struct file file = { .kind = TREE_DIRECTORY, .metadata = p->metadata };
    struct decision_part *part;
    enum tree_result result = tree_create(&state->tree, &state->place, TREE_DIRECTORY, &part);
    enum error e = result ? file_fail_tree(d, result) : write_new(d, part, &p->smb, &file);

    if (!e)
        r->shown = file_show(state);
    return e;
}

/* Opens what is to be a new file, in the place of the one that has its name, if there is one: that is
 * deleted, with its contents, and leaves its lease.
 * returns OK, E_ReadOnlyAttribute, E_ResourceTypeMismatch */
static enum error open_new(struct decision *d, struct file *file, struct decision_part **ret_part)
{
    struct file_state *state = file_state(d);
    struct decision_part *old;
    enum tree_result result;
    enum error e;

    if (!state->place.exists) {
        result = tree_create(&state->tree, &state->place, TREE_FILE, ret_part);
        return result ? file_fail_tree(d, result) : OK;
    }
    e = file_refuse_read_only(&state->file);
    if (e)
        return e;
    result = tree_replace(&state->tree, &state->place, &old, ret_part);
    if (result)
        return file_fail_tree(d, result);
    file_delete(d, old, &state->file);
    file->etag = state->file.etag;
    file->lease = state->file.lease;
    lease_forget_if_ended(&file->lease, d->now);
    return OK;
}

/* What the share counts of the file that goes, if one does. */
static struct length_change length_that_goes(const struct file_state *state)
{
    if (!state->place.exists)
        return (struct length_change){ .file = TREE_ROOT };
    return (struct length_change){ .file = state->place.entry.id,
                                   .was = state->file.content.length };
}

/* A new file, all of it a hole.
 * returns  OK, as open_new(), E_ShareSizeLimitReached
 * rest: Create-File; semantics 8.1 */
enum error create_file_decide(struct decision *d, const struct create_file_parameters *p,
                              struct create_file_result *r)
{
    struct file_state *state = file_state(d);
    struct length_change lengths[] = { length_that_goes(state), { .is = p->length } };
    struct file file = { .kind = TREE_FILE, .metadata = p->metadata, .http = p->http };
    struct decision_part *part;
    enum error e = open_new(d, &file, &part);

    if (e)
        return e;
    lengths[1].file = state->place.entry.id;
    e = share_usage_change(d, &state->share, lengths, sizeof lengths / sizeof lengths[0]);
    if (e)
        return e;
    file.content = content_sparse(d->now, p->length);
    e = write_new(d, part, &p->smb, &file);
    if (!e)
        r->shown = file_show(state);
    return e;
}
