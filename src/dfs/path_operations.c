/* Operations on paths: see path_operations.h. */
#include "dfs/path_operations.h"

#include "base/codec.h"
#include "blob/access_control.h"
#include "blob/create_blob.h"
#include "blob/namespace.h"
#include "blob/tier.h"

/* ---- directories ---- */

bool path_is_directory(const struct blob *blob)
{
    return blob->is_directory ||
           (blob->content.length == 0 && blob_metadata_is_directory(blob->metadata));
}

/* Adds the metadata of directories to a run. */
static struct bytes directory_metadata(struct arena *arena, struct bytes metadata)
{
    struct text out;

    if (blob_metadata_is_directory(metadata))
        return metadata;
    text_init(&out, arena, metadata.len + 32);
    text_add(&out, metadata);
    encode_bytes(&out, bytes_from_string(BLOB_DIRECTORY_MARK));
    encode_bytes(&out, bytes_from_string("true"));
    return text_bytes(&out);
}

/* ---- Path Create ---- */

/* Returns the error for requests that only hierarchical containers support. */
static enum error check_hierarchical(struct decision *d)
{
    return blob_state(d)->container.hierarchical ? OK : E_HierarchicalNamespaceNotEnabled;
}

enum error create_path_subject(struct decision *d)
{
    enum error e = blob_subject_optional(d);

    if (!e && d->subject.exists)
        d->problem->existing = path_is_directory(&blob_state(d)->blob) ? "directory" : "file";
    return e;
}

/* Creates an empty file, or a directory, which in a flat container is a blob. Replaces an existing
 * file. rest: Path-Create */
enum error create_path_decide(struct decision *d, const struct create_path_parameters *p,
                              struct create_path_result *r)
{
    const struct body nothing = { .length = 0 };
    struct create_blob create = p->create;
    struct blob blob;
    enum error e;

    (void)r;
    e = p->has_permissions ? check_hierarchical(d) : OK;
    if (e)
        return e;
    if (p->is_directory && blob_state(d)->container.hierarchical)
        return path_create_directory(d, create.metadata, &p->creation, &blob);
    if (p->is_directory)
        create.metadata = directory_metadata(d->arena, create.metadata);
    if (d->subject.exists && path_is_directory(&blob_state(d)->blob) != p->is_directory)
        return E_PathConflict;
    e = create_blob_begin(d, BLOB_BLOCK, &create, &blob);
    if (e)
        return e;
    access_control_give(d, &p->creation, &blob);
    blob.content = content_from_body(d->changes, blob.etag.v, &nothing);
    return create_blob_commit(d, &blob, NULL, d->input->account);
}

/* ---- properties ---- */

void path_take_properties(struct http_properties *to, const struct http_properties *sent)
{
    struct bytes *const into[] = { &to->content_type, &to->content_encoding, &to->content_language,
                                   &to->content_disposition, &to->cache_control };
    const struct bytes from[] = { sent->content_type, sent->content_encoding,
                                  sent->content_language, sent->content_disposition,
                                  sent->cache_control };

    for (size_t i = 0; i < sizeof into / sizeof into[0]; i++)
        if (from[i].ptr)
            *into[i] = from[i];
    if (!sent->has_md5)
        return;
    to->has_md5 = true;
    to->md5_size = sent->md5_size;
    memcpy(to->md5, sent->md5, sent->md5_size);
}

/* rest: Path-Update "setProperties" */
enum error set_path_properties_decide(struct decision *d,
                                      const struct set_path_properties_parameters *p,
                                      struct set_path_properties_result *r)
{
    struct blob blob;
    enum error e = blob_begin_change(d, &blob);

    (void)r;
    if (e)
        return e;
    path_take_properties(&blob.http, &p->http);
    if (p->has_metadata && path_is_directory(&blob) && !blob.is_directory)
        blob.metadata = directory_metadata(d->arena, p->metadata);
    else if (p->has_metadata)
        blob.metadata = p->metadata;
    blob_change(d, &blob_state(d)->blob, &blob);
    return OK;
}

enum error path_subject(struct decision *d)
{
    return blob_state(d)->container.hierarchical ? blob_subject(d) : blob_subject_optional(d);
}

/* ---- Path Create with x-ms-rename-source ---- */

/* Returns the last name of a path. */
static struct bytes last_name(struct bytes path)
{
    const char *slash = memrchr(path.ptr, '/', path.len);

    return slash ? bytes_from(path, (size_t)(slash + 1 - path.ptr)) : path;
}

/* decision: 1260 */
enum error rename_path_subject(struct decision *d)
{
    const struct rename_path_parameters *p =
        (const struct rename_path_parameters *)(const void *)d->parameters;
    struct blob_node *node = blob_state(d)->node;
    enum error e = create_path_subject(d);

    if (!e && blob_is_directory(d) && (p->moves_into || node->name.len == 0)) {
        node->name =
            arena_printf(d->arena, "%.*s%s%.*s", BYTES_ARG(node->name),
                         node->name.len > 0 ? "/" : "", BYTES_ARG(last_name(p->rename.source)));
        d->problem->existing = NULL;
        e = create_path_subject(d);
    }
    if (!e && node && bytes_equal(p->filesystem, blob_asked(d)->container))
        e = path_rename_find_source(d, &p->rename);
    return e;
}

/* Renames within a filesystem. rest: Path-Create; decision: 1208 */
enum error rename_path_decide(struct decision *d, const struct rename_path_parameters *p,
                              struct rename_path_result *r)
{
    struct blob blob;
    enum error e = check_hierarchical(d);

    (void)r;
    if (!e && !bytes_equal(p->filesystem, blob_asked(d)->container))
        e = decision_fail(d, E_NotImplemented, "Paths can only be renamed within a filesystem.");
    return e ? e : path_rename(d, &p->rename, &blob);
}

/* ---- Path Delete ---- */

/* Determines whether there is a blob below the path. */
static enum store_result find_below(struct decision *d, bool *ret_found)
{
    struct bytes from = arena_printf(d->arena, "%.*s/", BYTES_ARG(blob_asked(d)->blob));
    struct space_iterator *iterator = space_iterator_open(d->store, blob_state(d)->container.space,
                                                          from, bytes_of(NULL, 0), d->access);
    struct space_record at;
    enum store_result result = space_iterator_next(iterator, &at);

    *ret_found = !result && bytes_has_prefix(at.partition_key, from);
    decision_saw(d, space_iterator_sequence(iterator));
    space_iterator_close(iterator);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* Refuses deletes that would require checking the lists of all directories below.
 * decision: 1263 */
static enum error refuse_ruled(struct decision *d)
{
    struct acl_callers callers;
    bool is_empty;
    enum error e;

    if (!acl_callers_find(d, &callers))
        return OK;
    e = namespace_is_empty(d, &is_empty);
    if (e || is_empty)
        return e;
    return decision_fail(d, E_NotImplemented,
                         "A user without a role can only delete empty directories.");
}

/* Deletes a file or a directory; in a flat container, an empty one. rest: Path-Delete;
 * decision: 1203 */
enum error delete_path_decide(struct decision *d, const struct delete_path_parameters *p,
                              struct delete_path_result *r)
{
    const struct delete_blob_parameters blob = { .base = p->base, .snapshots = SNAPSHOTS_REFUSED };
    struct delete_blob_result deleted = { .is_kept = false };
    bool found = false;
    enum store_result result = STORE_OK;
    enum error e;

    if (d->subject.exists && blob_state(d)->blob.is_directory) {
        e = p->is_recursive ? refuse_ruled(d) : OK;
        return e ? e : path_delete_directory(d, p->is_recursive);
    }
    if (!blob_state(d)->container.hierarchical &&
        (!d->subject.exists || path_is_directory(&blob_state(d)->blob)))
        result = find_below(d, &found);
    if (result)
        return decision_fail_store(d, result);
    if (found)
        return p->is_recursive ? decision_fail(d, E_NotImplemented,
                                               "Directories of an account without a hierarchical "
                                               "namespace can only be deleted when empty.")
                               : E_PathDirectoryNotEmpty;
    if (!d->subject.exists)
        return E_BlobNotFound;
    e = delete_blob_decide(d, &blob, &deleted);
    r->is_kept = deleted.is_kept;
    return e;
}
