/* Operations on paths: see path_operations.h. */
#include "dfs/path_operations.h"

#include "base/codec.h"
#include "blob/access_control.h"
#include "blob/create_blob.h"
#include "blob/encryption.h"
#include "blob/namespace.h"
#include "blob/tier.h"

/* ---- directories ---- */

bool path_is_directory(const struct blob *blob)
{
    return blob->is_directory || (blob->content.length == 0 && !blob->metadata_is_encrypted &&
                                  blob_metadata_is_directory(blob->metadata));
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

    if (!e && d->subject.exists && path_is_directory(&blob_state(d)->blob))
        d->problem->existing = "directory"; /* recorded; decision: 1270 */
    return e;
}

/* Acquires the lease that the request specifies. decision: 1291 */
static enum error acquire(struct decision *d, const struct lease_request *request,
                          struct lease *lease)
{
    struct lease_result result;

    return request ? lease_perform(LEASE_OF_BLOB, lease, request, d->now, &result) : OK;
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
    e = p->has_permissions || p->encryption_context.ptr ? check_hierarchical(d) : OK;
    if (e)
        return e;
    if (p->is_directory && blob_state(d)->container.hierarchical)
        return path_create_directory(d, &create, &p->creation, &blob);
    if (p->is_directory)
        create.metadata = directory_metadata(d->arena, create.metadata);
    if (d->subject.exists && path_is_directory(&blob_state(d)->blob) != p->is_directory)
        return E_PathConflict;
    e = create_blob_begin(d, BLOB_BLOCK, &create, &blob);
    if (e)
        return e;
    e = access_control_give(d, &p->creation, &blob);
    if (!e && p->expiry)
        e = expiry_set(d, p->expiry, &blob);
    blob.encryption_context = p->encryption_context;
    if (!e)
        e = acquire(d, p->lease, &blob.lease);
    if (e)
        return decision_take_back(d, e);
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
    enum error e = p->has_metadata ? encryption_check(d, &blob_state(d)->blob.encryption) : OK;

    (void)r;
    if (!e)
        e = blob_begin_change(d, &blob);
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

/* Checks that the SAS of the source permits to move it. from: the source's container.
 * decision: 1322 */
static enum error check_source_permission(struct decision *d, const struct identity *source,
                                          const struct container *from)
{
    static const struct rights rights = { .effect = WRITES,
                                          .type = "o",
                                          .account = "d",
                                          .service = "md",
                                          .create = "",
                                          .action = ACTION_BLOB_WRITE };
    static const struct demands none = { .letters = NULL };
    const struct identity *identity = &d->input->identity;
    struct permit_facts facts = { .known = true, .exists = true };
    struct bytes detail = { NULL, 0 };

    if (!source)
        return OK;
    /* path_rename() checks the lists for the agent of the request's SAS */
    if (source->sas->agent_is_ruled && identity->sas->agent_is_ruled &&
        bytes_equal(source->sas->agent, identity->sas->agent))
        facts.acl_of_agent = ACL_PERMITS;
    if (source->sas->policy.ptr && !policies_decode(from->policies, &facts.policies))
        return decision_fail_store(d, STORE_CORRUPT);
    return permit(&rights, &none, source, &facts, d->arena, &detail)
               ? E_AuthorizationPermissionMismatch
               : OK;
}

/* decision: 1260 */
enum error rename_path_subject(struct decision *d)
{
    const struct rename_path_parameters *p =
        (const struct rename_path_parameters *)(const void *)d->parameters;
    struct blob_node *node = blob_state(d)->node;
    struct container from;
    enum error e = create_path_subject(d);

    if (!e && blob_is_directory(d) && (p->moves_into || node->name.len == 0)) {
        node->name =
            arena_printf(d->arena, "%.*s%s%.*s", BYTES_ARG(node->name),
                         node->name.len > 0 ? "/" : "", BYTES_ARG(last_name(p->rename.source)));
        d->problem->existing = NULL;
        e = create_path_subject(d);
    }
    if (!e)
        e = path_rename_open_container(d, &p->rename, &from);
    if (!e)
        e = check_source_permission(d, p->source_identity, &from);
    if (!e && node)
        e = path_rename_find_source(d, &p->rename);
    return e;
}

/* rest: Path-Create; decision: 1364 */
enum error rename_path_decide(struct decision *d, const struct rename_path_parameters *p,
                              struct rename_path_result *r)
{
    struct blob blob;
    enum error e = check_hierarchical(d);

    (void)r;
    return e ? e : path_rename(d, &p->rename, &blob);
}
