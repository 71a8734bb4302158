/* Requests and responses of Path Create, Read, Get Properties and Lease.
 * rest: datalakestoragegen2/path */
#include "base/encode.h"
#include "blob/rest/access_note.h"
#include "dfs/rest/request.h"
#include "service/http_headers.h"
#include "service/read_answer.h"

#define CONTENT_TYPE_DEFAULT "application/octet-stream"

/* ---- Path Create ---- */

/* Reads the permissions of a new path. */
static enum error read_permissions(struct call *call, struct posix_creation *creation)
{
    struct bytes mode = call_header(call, "x-ms-permissions");
    struct bytes umask = call_header(call, "x-ms-umask");

    creation->umask = POSIX_UMASK;
    creation->has_mode = mode.len > 0;
    if (mode.len > 0 && !posix_mode_parse(mode, &creation->mode))
        return E_InvalidPermission;
    if (umask.len > 0 && !posix_umask_parse(umask, &creation->umask))
        return call_fail_header(call, E_InvalidHeaderValue, "x-ms-umask", umask);
    return OK;
}

/* Reads the complete access control list of a new path. */
static enum error read_entries(struct call *call, struct bytes text, bool is_directory,
                               struct posix_creation *creation)
{
    struct posix_entries entries;
    struct posix_acl *acl = arena_alloc(call->arena, sizeof *acl);

    if (call_header(call, "x-ms-permissions").len > 0 || call_header(call, "x-ms-umask").len > 0)
        return call_fail(call, E_InvalidInput,
                         "x-ms-acl excludes x-ms-permissions and x-ms-umask.");
    posix_acl_init(acl, is_directory);
    if (!posix_entries_parse(text, POSIX_SET, &entries) ||
        !posix_acl_change(acl, POSIX_SET, &entries, is_directory))
        return E_InvaldAccessControlList;
    creation->entries = &acl->entries;
    return OK;
}

/* Reads the access control of a new path, which only a hierarchical account has. A SAS needs the
 * letters of Set Access Control for it. decision: 1290 */
static enum error read_creation(struct call *call, struct create_path_parameters *p)
{
    struct posix_creation *creation = &p->creation;
    struct bytes acl = call_header(call, "x-ms-acl");
    bool is_owned;
    enum error e = read_permissions(call, creation);

    if (!e)
        e = access_control_read_id(call, "x-ms-owner", &creation->owner);
    if (!e)
        e = access_control_read_id(call, "x-ms-group", &creation->group);
    if (!e && acl.len > 0)
        e = read_entries(call, acl, p->is_directory, creation);
    if (e)
        return e;
    is_owned = creation->owner.len > 0 || creation->group.len > 0;
    if (is_owned)
        call->input.demands.letters = creation->entries ? "op" : "o";
    else if (creation->entries)
        call->input.demands.letters = "p";
    p->has_permissions = is_owned || creation->entries || creation->has_mode ||
                         call_header(call, "x-ms-umask").len > 0;
    return OK;
}

/* Reads the lease of a new file. */
static enum error read_new_lease(struct call *call, const struct lease_request **ret_lease)
{
    struct lease_request *lease;
    enum error e;

    if (!call_header(call, "x-ms-lease-duration").ptr &&
        !call_header(call, "x-ms-proposed-lease-id").ptr)
        return OK;
    lease = arena_alloc(call->arena, sizeof *lease);
    e = dfs_read_lease(call, lease);
    if (!e)
        *ret_lease = lease;
    return e;
}

/* Maximum length of an encryption context. rest: Path-Create */
#define CONTEXT_MAX 1024u

/* Reads the encryption context of a new file. decision: 1295 */
static enum error read_context(struct call *call, struct bytes *ret_context)
{
    static const char name[] = "x-ms-encryption-context";
    struct bytes context = call_header(call, name);

    if (context.len > CONTEXT_MAX)
        return call_fail_header(call, E_InvalidHeaderValue, name, context);
    if (context.len > 0)
        *ret_context = context;
    return OK;
}

/* Reads the expiry of a new file. */
static enum error read_new_expiry(struct call *call, const struct expiry_request **ret_expiry)
{
    struct expiry_request *expiry;
    enum error e;

    if (!call_header(call, "x-ms-expiry-option").ptr && !call_header(call, "x-ms-expiry-time").ptr)
        return OK;
    expiry = arena_alloc(call->arena, sizeof *expiry);
    e = expiry_read_request(call, expiry);
    if (!e)
        *ret_expiry = expiry;
    return e;
}

enum error create_path_check(struct call *call, struct create_path_parameters *p)
{
    struct create_blob *create = &p->create;
    bool has;
    enum error e;

    p->is_directory = bytes_is_nocase(call_query(call, "resource"), "directory");
    e = p->is_directory ? dfs_refuse_unbuilt(call, DFS_CREATE | DFS_CREATE_DIRECTORY)
                        : dfs_read_key(call, DFS_CREATE, KEY_WRITES);
    if (!e)
        e = dfs_check_mode(call);
    if (!e)
        e = http_properties_read(call, HTTP_HEADERS_OF_FILE, STANDARD_IGNORED, &create->http);
    if (!e)
        e = dfs_read_properties(call, &has, &create->metadata);
    if (e)
        return e;
    if (!create->http.content_type.ptr)
        create->http.content_type = bytes_from_string(CONTENT_TYPE_DEFAULT);
    e = read_creation(call, p);
    if (!e)
        e = read_new_expiry(call, &p->expiry);
    if (!e)
        e = read_context(call, &p->encryption_context);
    return e ? e : read_new_lease(call, &p->lease);
}

void create_path_answer(struct answer *a, const struct create_path_parameters *p,
                        const struct create_path_result *r)
{
    (void)p;
    (void)r;
    dfs_answer_encrypted(a, true);
}

/* ---- Path Read, Path Get Properties ---- */

static void answer_path(struct answer *a, const struct blob *blob)
{
    answer_http_properties(a, &blob->http);
    answer_string(a, "Accept-Ranges", "bytes");
    answer_string(a, "x-ms-resource-type", path_is_directory(blob) ? "directory" : "file");
    answer_access_control(a, blob);
    answer_expiry(a, blob);
    if (blob->encryption_context.ptr)
        answer_header(a, "x-ms-encryption-context", blob->encryption_context);
    dfs_answer_properties(a, blob_shown_metadata(a->arena, blob));
    answer_lease(a, &blob->lease);
    answer_string(a, "x-ms-server-encrypted", "true");
    if (blob->encryption.has_key)
        answer_key(a, blob->encryption.scope, blob->encryption.key_hash);
    answer_date(a, "x-ms-creation-time", blob->created);
}

enum error read_path_check(struct call *call, struct get_blob_parameters *p)
{
    enum error e = dfs_read_key(call, DFS_READ, KEY_READS);

    return e ? e : read_range_check(call, &p->range);
}

void read_path_answer(struct answer *a, const struct get_blob_parameters *p,
                      const struct get_blob_result *r)
{
    read_answer(a, &p->range, &r->part, &r->blob.content);
    if (r->notes_access)
        access_note(a->call, &r->at);
    answer_http_md5(a, r->part.is_part ? "x-ms-content-md5" : "Content-MD5", &r->blob.http);
    answer_path(a, &r->blob);
}

enum error get_path_properties_check(struct call *call, struct get_blob_properties_parameters *p)
{
    struct bytes action = call_query(call, "action");
    bool upn; /* without effect, because there are no user names */
    enum error e = dfs_query_flag(call, "upn", &upn);

    (void)p;
    if (e)
        return e;
    if (action.len > 0 && !bytes_is_nocase(action, "getStatus"))
        return call_fail_query(call, E_InvalidQueryParameterValue, "action", action,
                               "Not an action of this operation.");
    return dfs_read_key(call, DFS_READ, KEY_READS);
}

void get_path_properties_answer(struct answer *a, const struct get_blob_properties_parameters *p,
                                const struct get_blob_properties_result *r)
{
    (void)p;
    answer_http_md5(a, "Content-MD5", &r->blob.http);
    answer_path(a, &r->blob);
    a->response->body_length = r->blob.content.length;
}

/* ---- Path Lease ---- */

enum error lease_path_check(struct call *call, struct lease_blob_parameters *p)
{
    enum error e = dfs_refuse_unbuilt(call, DFS_LEASE);

    return e ? e : lease_read_request(call, &p->request);
}

void lease_path_answer(struct answer *a, const struct lease_blob_parameters *p,
                       const struct lease_blob_result *r)
{
    (void)p;
    answer_lease_outcome(a, &r->lease, &r->id);
}
