/* Decisions of the operations on directories and files. */
#include "file/file_operations.h"

#include "file/file_content.h"
#include "file/share_usage.h"
#include "file/smb_properties.h"
#include "opens/change_notification.h"

struct file_shown file_show(const struct file_state *state)
{
    const struct tree_place *place = &state->place;
    uint64_t parent = tree_place_is_root(place) ? TREE_ROOT : tree_place_parent(place);

    return (struct file_shown){ state->file, place->entry.id, parent, state->tree.at != 0 };
}

/* rest: Get-File-Properties, Get-Directory-Properties */
enum error get_file_properties_decide(struct decision *d,
                                      const struct get_file_properties_parameters *p,
                                      struct get_file_properties_result *r)
{
    (void)p;
    r->shown = file_show(file_state(d));
    r->space = file_state(d)->share.space;
    return OK;
}

/* Fails if the file is read-only, unless the request clears that attribute. decision: 327 */
static enum error refuse_kept_read_only(const struct file *file, const struct smb_given *given)
{
    bool cleared = given->has_attributes && !(given->attributes & ATTRIBUTE_READ_ONLY);

    return cleared ? OK : file_refuse_read_only(file);
}

/* Changes reported to watchers when properties are set. */
#define CHANGE_SET (CHANGE_ATTRIBUTES | CHANGE_CREATION | CHANGE_LAST_WRITE | CHANGE_SECURITY)

/* rest: Set-File-Properties; semantics 8.1 */
enum error set_file_properties_decide(struct decision *d,
                                      const struct set_file_properties_parameters *p,
                                      struct set_file_properties_result *r)
{
    struct file_state *state = file_state(d);
    struct file *file = &state->file;
    uint32_t changed = CHANGE_SET;
    bool resizes = p->has_length && p->length != file->content.length;
    enum error e = refuse_kept_read_only(file, &p->smb);

    if (!e && resizes) {
        e = file_pass_write(d);
        if (!e)
            e = file_resize(d, file, p->length);
        changed |= CHANGE_SIZE;
    }
    if (!e)
        e = smb_apply(d, &p->smb, file);
    if (e)
        return e;
    if (resizes && p->resize_writes && p->smb.written.kind == TIME_KEPT) /* decision: 877 */
        file->written = d->now;
    if (!p->keeps_http)
        file->http = p->http;
    file_write_modified(d, file);
    r->shown = file_show(state);
    return notify_change(&state->tree, &state->place, CHANGE_MODIFIED, changed);
}

/* rest: Set-Directory-Properties */
enum error set_directory_properties_decide(struct decision *d,
                                           const struct set_directory_properties_parameters *p,
                                           struct set_directory_properties_result *r)
{
    struct file_state *state = file_state(d);
    enum error e = smb_apply(d, &p->smb, &state->file);

    if (e)
        return e;
    file_write_modified(d, &state->file);
    r->shown = file_show(state);
    return notify_change(&state->tree, &state->place, CHANGE_MODIFIED, CHANGE_SET);
}

/* rest: Get-File-Metadata, Get-Directory-Metadata */
enum error get_file_metadata_decide(struct decision *d,
                                    const struct get_file_metadata_parameters *p,
                                    struct get_file_metadata_result *r)
{
    (void)p;
    r->metadata = file_state(d)->file.metadata;
    return OK;
}

enum error file_refuse_read_only(const struct file *file)
{
    return file->kind == TREE_FILE && (file->attributes & ATTRIBUTE_READ_ONLY) ? E_ReadOnlyAttribute
                                                                               : OK;
}

/* Replaces all metadata. rest: Set-File-Metadata, Set-Directory-Metadata */
enum error set_file_metadata_decide(struct decision *d,
                                    const struct set_file_metadata_parameters *p,
                                    struct set_file_metadata_result *r)
{
    struct file file = file_state(d)->file;
    enum error e = file_refuse_read_only(&file);

    (void)r;
    if (e)
        return e;
    file.metadata = p->metadata;
    file_write_changed(d, &file);
    return OK;
}

enum error file_remove(struct decision *d, const struct tree_place *place, const struct file *file)
{
    struct file_state *state = file_state(d);
    struct length_change length = { .file = place->entry.id, .was = file->content.length };
    struct decision_part *part;
    enum tree_result result = tree_delete(&state->tree, place, &part);
    enum error e;

    if (result)
        return file_fail_tree(d, result);
    file_delete(d, part, file);
    e = notify_name(&state->tree, place, CHANGE_REMOVED);
    if (!e && file->kind == TREE_DIRECTORY)
        notify_gone(&state->tree, place->entry.id);
    return e ? e : share_usage_change(d, &state->share, &length, 1);
}

/* Deletes a file or an empty directory.
 * Returns OK, E_DirectoryNotEmpty
 * rest: Delete-File, Delete-Directory */
enum error delete_file_decide(struct decision *d, const struct delete_file_parameters *p,
                              struct delete_file_result *r)
{
    struct file_state *state = file_state(d);

    (void)p;
    (void)r;
    return file_remove(d, &state->place, &state->file);
}

/* Hard and symbolic links: SMB shares do not support them. rest: Create-Hard-Link,
 * Create-Symbolic-Link, Read-Symbolic-Link "Protocol availability" */

/* Always fails, but only after the share was found and the caller authorized.
 * Returns E_UnsupportedQueryParameter
 * decision: 615 */
enum error link_decide(struct decision *d, const struct link_parameters *p, struct link_result *r)
{
    (void)r;
    problem_set_field(d->problem, "QueryParameterName", bytes_from_string("restype"));
    problem_add_field(d->problem, "QueryParameterValue", p->restype);
    problem_add_field(d->problem, "Reason", bytes_from_string("Only NFS shares have links."));
    return E_UnsupportedQueryParameter;
}

/* ---- smb properties ---- */

static void apply_time(const struct smb_time *given, instant now, instant *time)
{
    if (given->kind == TIME_NOW)
        *time = now;
    else if (given->kind == TIME_GIVEN)
        *time = given->at;
}

enum error smb_apply(struct decision *d, const struct smb_given *given, struct file *file)
{
    if (given->has_attributes)
        file->attributes =
            given->attributes | (file->kind == TREE_DIRECTORY ? ATTRIBUTE_DIRECTORY : 0);
    apply_time(&given->created, d->now, &file->created);
    apply_time(&given->written, d->now, &file->written);
    apply_time(&given->changed, d->now, &file->changed);
    return permission_settle(d, &given->permission, file);
}

/* ---- Lease File. rest: Lease-File; semantics 3.5 ---- */

/* Checks the lease id, which is optional for a break. decision: 339 */
static enum error check_named(struct decision *d, const struct lease_request *request)
{
    const struct guid *given = d->input->lease_id;

    if (request->action != LEASE_BREAK || !given ||
        lease_state(&d->lease, d->now) == LEASE_AVAILABLE || guid_equal(&d->lease.id, given))
        return OK;
    return E_LeaseIdMismatchWithLeaseOperationOnFile;
}

/* Changes the lease, but neither ETag nor modification time. The access column of the row refuses
 * an acquire while a handle has write or delete access. */
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
