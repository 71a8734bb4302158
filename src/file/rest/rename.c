/* Rename File and Rename Directory: requests and responses. */
#include "base/encode.h"
#include "base/url.h"
#include "file/rest/request.h"
#include "file/rest/smb_headers.h"
#include "service/metadata.h"

static const char source_name[] = "x-ms-file-rename-source";

static enum error fail_source(struct call *call, const char *why)
{
    (void)call_fail(call, E_InvalidHeaderValue, "%s", why);
    return call_fail_header(call, E_InvalidHeaderValue, source_name,
                            call_header(call, source_name));
}

/* Returns the path of the source after its account; ptr NULL if it is not on this server and
 * account. */
static struct bytes own_path(const struct call *call, const struct url *url)
{
    struct bytes prefix = call->url_prefix, rest, account = { NULL, 0 }, first;
    struct bytes path = bytes_from(url->path, 1);

    prefix =
        bytes_from(prefix, call->request->secure ? sizeof "https://" - 1 : sizeof "http://" - 1);
    bytes_cut(prefix, '/', &first, &account);
    if (!bytes_equal_nocase(url->authority, first))
        return bytes_of(NULL, 0);
    if (!account.ptr)
        return path;
    bytes_cut(path, '/', &first, &rest);
    return bytes_equal(first, account) ? rest : bytes_of(NULL, 0);
}

static bool is_rename(struct bytes query)
{
    struct bytes name, value;

    while (url_take_parameter(&query, &name, &value)) {
        if (bytes_is_nocase(name, "comp"))
            return bytes_is_nocase(value, "rename");
    }
    return false;
}

/* Detects an omitted account: a rename stays within its share, so a path that starts with the
 * source's share instead of its account lacks the account. */
struct bytes rename_account(const struct call *call)
{
    static const struct bytes nothing = { NULL, 0 };
    struct bytes source = url_normal(call->arena, call_header(call, source_name));
    struct bytes account, share, first, rest;
    struct url url;

    if (!source.ptr || !is_rename(call->request->query) || !url_parse(source, &url) ||
        !bytes_equal_nocase(url.authority, call->request->authority))
        return nothing;
    bytes_cut(bytes_from(url.path, 1), '/', &account, &rest);
    bytes_cut(rest, '/', &share, &rest);
    bytes_cut(bytes_from(call->request->path, 1), '/', &first, &rest);
    return first.len > 0 && bytes_equal(first, share) && !bytes_equal(first, account) ? account
                                                                                      : nothing;
}

/* Checks that a SAS in the source URL is the request's own, which then covers the whole share.
 * decision: 328 */
static enum error check_signature(struct call *call, struct bytes query)
{
    struct bytes name, value;

    if (bytes_is(call_query(call, "sr"), "f"))
        return call_fail(
            call, E_AuthorizationPermissionMismatch,
            "A shared access signature for one file does not permit renaming another.");
    while (url_take_parameter(&query, &name, &value)) {
        if (!bytes_is_nocase(name, "sig"))
            continue;
        value = percent_decode(call->arena, value);
        if (!value.ptr || (call->input.identity.kind == IDENTITY_SAS &&
                           !bytes_equal(value, call_query(call, "sig"))))
            return call_fail(call, E_AuthorizationPermissionMismatch,
                             "The source is not covered by the request's shared access signature.");
    }
    return OK;
}

/* Replaces backslashes, which separate names as in copy sources. decision: 862 */
static struct bytes with_slashes(struct arena *arena, struct bytes path)
{
    char *text;

    if (path.len == 0)
        return path;
    text = arena_bytes(arena, path.len);
    for (size_t i = 0; i < path.len; i++)
        text[i] = path.ptr[i] == '\\' ? '/' : path.ptr[i];
    return bytes_of(text, path.len);
}

/* Reads the source, which must be in the same share. rest: Rename-File "x-ms-file-rename-source" */
static enum error read_source(struct call *call, struct rename *rename)
{
    struct file_resource source = *file_resource(call->input.resource);
    struct bytes text = call_header(call, source_name), path, share;
    struct url url;
    enum error e;

    if (!text.ptr)
        return call_fail_header(call, E_MissingRequiredHeader, source_name, text);
    if (!url_parse(url_normal(call->arena, text), &url))
        return fail_source(call, "Not a URL.");
    path = own_path(call, &url);
    bytes_cut(path, '/', &share, &path);
    share = percent_decode(call->arena, share);
    if (path.ptr)
        path = with_slashes(call->arena, percent_decode(call->arena, path));
    while (path.len > 0 && path.ptr[path.len - 1] == '/')
        path.len--;
    if (!share.ptr || !bytes_equal(share, source.share) || path.len == 0 || !bytes_is_utf8(path))
        return fail_source(call, "Not a directory or file of this share.");
    e = check_signature(call, url.query);
    source.path = path;
    source.trailing_dots = rename->source_trailing_dots;
    rename->source = path;
    return e ? e : file_check_names(&source.base);
}

static enum error read_lease(struct call *call, const char *name, const struct guid **ret_id)
{
    struct bytes text = call_header(call, name);
    struct guid *id;

    *ret_id = NULL;
    if (!text.ptr)
        return OK;
    id = arena_alloc(call->arena, sizeof *id);
    *ret_id = id;
    return guid_parse(text, id) ? OK : call_fail_header(call, E_InvalidHeaderValue, name, text);
}

static enum error read_rename(struct call *call, enum tree_kind kind, struct rename *rename)
{
    enum error e =
        file_read_flag(call, "x-ms-source-allow-trailing-dot", &rename->source_trailing_dots);

    if (!e)
        e = read_source(call, rename);
    if (!e)
        e = file_read_flag(call, "x-ms-file-rename-replace-if-exists", &rename->replaces);
    if (!e)
        e = file_read_flag(call, "x-ms-file-rename-ignore-readonly", &rename->ignores_read_only);
    if (!e)
        e = read_lease(call, "x-ms-source-lease-id", &rename->source_lease);
    if (!e)
        e = read_lease(call, "x-ms-destination-lease-id", &rename->destination_lease);
    if (!e)
        e = smb_read(call, SMB_OF_CHANGE, kind, &rename->smb);
    if (!e)
        e = metadata_from_headers(call, &rename->metadata);
    rename->has_metadata = rename->metadata.len > 0;
    return e;
}

enum error rename_file_check(struct call *call, struct rename_file_parameters *p)
{
    static const char name[] = "x-ms-content-type";
    struct bytes type = call_header(call, name);
    enum error e = read_rename(call, TREE_FILE, &p->rename);

    if (!e && http_has_control(type, '\t'))
        e = call_fail_header(call, E_InvalidHeaderValue, name, bytes_of(NULL, 0));
    if (type.len > 0)
        p->rename.content_type = type;
    return e;
}

void rename_file_answer(struct answer *a, const struct rename_file_parameters *p,
                        const struct rename_file_result *r)
{
    (void)p;
    answer_encrypted(a);
    answer_smb(a, &r->shown);
}

enum error rename_directory_check(struct call *call, struct rename_directory_parameters *p)
{
    return read_rename(call, TREE_DIRECTORY, &p->rename);
}

void rename_directory_answer(struct answer *a, const struct rename_directory_parameters *p,
                             const struct rename_directory_result *r)
{
    (void)p;
    answer_encrypted(a);
    answer_smb(a, &r->shown);
}
