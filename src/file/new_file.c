#include "file/file_operations.h"

#include "file/share_usage.h"
#include "opens/change_notification.h"
#include "opens/open_state.h"

/* Returns the length change of the replaced file, if any. */
static struct length_change length_that_goes(const struct file_state *state)
{
    if (!state->place.exists)
        return (struct length_change){ .file = TREE_ROOT };
    return (struct length_change){ .file = state->place.entry.id,
                                   .was = state->file.content.length };
}

/* Returns true if the existing file is open; replacing it then keeps its node. */
static bool is_open(const struct file_state *state)
{
    for (const struct open_state *opens = state->open_states; opens; opens = opens->next)
        if (opens->part == state->part)
            return opens->set.open_count > 0;
    return false;
}

/* Replaces the existing file: by a new node, or in the same node if it is open. decision: 338 */
static enum error replace(struct decision *d, struct decision_part **ret_part)
{
    struct file_state *state = file_state(d);
    struct decision_part *old;
    enum tree_result result;

    if (is_open(state)) {
        *ret_part = state->part;
        file_delete(d, state->part, &state->file);
        decision_read_clock(d);
        return OK;
    }
    result = tree_replace(&state->tree, &state->place, &old, ret_part);
    if (result)
        return file_fail_tree(d, result);
    file_delete(d, old, &state->file);
    return OK;
}

/* Creates the node, or replaces the existing file. */
static enum error open_node(struct decision *d, enum over_read_only rule, struct file *file,
                            struct decision_part **ret_part)
{
    struct file_state *state = file_state(d);
    enum error e;

    if (!state->place.exists) {
        enum tree_result result = tree_create(&state->tree, &state->place, TREE_FILE, ret_part);

        return result ? file_fail_tree(d, result) : OK;
    }
    if (state->file.kind != TREE_FILE)
        return E_ResourceTypeMismatch;
    e = rule == OVER_READ_ONLY ? OK : file_refuse_read_only(&state->file);
    if (!e)
        e = file_pass_write(d);
    if (!e)
        e = replace(d, ret_part);
    if (e)
        return e;
    file->etag = state->file.etag;
    file->lease = state->file.lease;
    lease_forget_if_ended(&file->lease, d->now);
    return OK;
}

enum error new_file_open(struct decision *d, enum over_read_only rule, uint64_t length,
                         struct file *file, struct decision_part **ret_part)
{
    struct file_state *state = file_state(d);
    struct length_change lengths[] = { length_that_goes(state), { .is = length } };
    size_t count = sizeof lengths / sizeof lengths[0];
    enum error e = open_node(d, rule, file, ret_part);

    if (e)
        return e;
    /* The content's stamp precedes the writes of this request, so file_delete() can tell whether
     * there were any. */
    file->content = content_sparse(d->now - 1, length);
    lengths[1].file = state->place.entry.id;
    if (lengths[0].file == lengths[1].file) { /* same node */
        lengths[0].is = length;
        count = 1;
    }
    return share_usage_change(d, &state->share, lengths, count);
}

enum error new_file_write(struct decision *d, struct decision_part *part,
                          const struct smb_given *smb, struct file *file)
{
    bool replaced;
    enum error e;

    file->modified = file->accessed = d->now;
    file->etag = etag_after(file->etag, d->now);
    e = smb_apply(d, smb, file);
    if (e)
        return e;
    file_write(d, part, file);
    file_state(d)->file = *file;
    replaced = d->subject.exists;
    d->subject = (struct subject){ .exists = true, .etag = file->etag, .modified = file->modified };
    if (!replaced)
        return notify_name(&file_state(d)->tree, &file_state(d)->place, CHANGE_ADDED);
    return notify_change(&file_state(d)->tree, &file_state(d)->place, CHANGE_MODIFIED,
                         CHANGE_ATTRIBUTES | CHANGE_SIZE | CHANGE_LAST_WRITE);
}

/* ---- Create Directory and Create File ---- */

/* Creates a directory. The subject function has checked the parent. Returns OK,
 * E_ResourceAlreadyExists
 * rest: Create-Directory */
enum error create_directory_decide(struct decision *d, const struct create_directory_parameters *p,
                                   struct create_directory_result *r)
{
    struct file_state *state = file_state(d);
    struct file file = { .kind = TREE_DIRECTORY, .metadata = p->metadata };
    struct decision_part *part;
    enum tree_result result = tree_create(&state->tree, &state->place, TREE_DIRECTORY, &part);
    enum error e = result ? file_fail_tree(d, result) : new_file_write(d, part, &p->smb, &file);

    if (!e)
        r->shown = file_show(state);
    return e;
}

/* Writes the request body at the start of the file. rest: Create-File */
static enum error write_content(struct decision *d, struct decision_part *part,
                                struct content *content)
{
    enum store_result result =
        content_write(part->before, part->changes, d->arena, content, d->now, 0, &d->input->body);

    return result ? decision_fail_content(d, result) : OK;
}

/* Creates a file whose data is a hole, except for the request body at its start. Returns OK, or an
 * error of new_file_open()
 * rest: Create-File; semantics 8.1 */
enum error create_file_decide(struct decision *d, const struct create_file_parameters *p,
                              struct create_file_result *r)
{
    struct file file = { .kind = TREE_FILE, .metadata = p->metadata, .http = p->http };
    struct decision_part *part;
    enum error e = new_file_open(d, OVER_READ_ONLY_REFUSED, p->length, &file, &part);

    if (!e && p->has_content)
        e = write_content(d, part, &file.content);
    if (!e)
        e = new_file_write(d, part, &p->smb, &file);
    if (!e)
        r->shown = file_show(file_state(d));
    return e;
}
