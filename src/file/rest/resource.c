/* Parses the resource of a request from its path and query: service, share, directory or file,
 * snapshot. */
#include "file/rest/request.h"

#include "base/encode.h"

/* Percent-decodes a name. Returns false if the result is not valid text. */
static bool decode_name(struct arena *arena, struct bytes *name)
{
    *name = percent_decode(arena, *name);
    return name->ptr && bytes_is_utf8(*name) && !memchr(name->ptr, '\0', name->len);
}

/* Returns true if a request without a path is for the root directory rather than the share. */
static bool is_about_root(const struct call *call)
{
    struct bytes comp = call_query(call, "comp");

    return bytes_is_nocase(call_query(call, "restype"), "directory") ||
           bytes_is_nocase(comp, "listhandles") || bytes_is_nocase(comp, "forceclosehandles");
}

/* Splits the path. Ignores trailing slashes: clients send one for the root directory. An encoded
 * slash also separates names, because names cannot contain it. */
static enum error read_names(struct call *call, struct bytes path, struct file_resource *resource)
{
    struct bytes share, rest;

    bytes_cut(path, '/', &share, &rest);
    if (share.len == 0)
        return rest.len > 0 ? E_InvalidUri : OK;
    if (!decode_name(call->arena, &share) || (rest.len > 0 && !decode_name(call->arena, &rest)))
        return E_InvalidUri;
    while (rest.len > 0 && rest.ptr[rest.len - 1] == '/')
        rest.len--;
    resource->base.level = rest.len > 0          ? LEVEL_PATH
                           : is_about_root(call) ? LEVEL_ROOT
                                                 : LEVEL_SHARE;
    resource->share = share;
    if (rest.len > 0)
        resource->path = rest;
    return OK;
}

static enum error read_snapshot(struct call *call, instant *ret_snapshot)
{
    static const char name[] = "sharesnapshot";
    struct bytes text = call_query(call, name);

    /* An empty value must not mean the share itself: Delete Share would delete it. */
    if (text.ptr && (!instant_parse_iso(text, ret_snapshot) || *ret_snapshot == 0))
        return call_fail_query(call, E_InvalidQueryParameterValue, name, text,
                               "Not a snapshot's date and time.");
    return OK;
}

enum error file_read_flag(struct call *call, const char *name, bool *ret_flag)
{
    struct bytes value = call_header(call, name);

    *ret_flag = bytes_is_nocase(value, "true");
    if (value.ptr && !*ret_flag && !bytes_is_nocase(value, "false"))
        return call_fail_header(call, E_InvalidHeaderValue, name, value);
    return OK;
}

/* Checks the intent, which is required for directories and files only. "backup", the only value,
 * applies the rights of the token's role regardless of file permissions. decision: 324 */
static enum error check_intent(struct call *call, const struct file_resource *resource)
{
    static const char name[] = "x-ms-file-request-intent";
    struct bytes intent = call_header(call, name), scheme, token;

    if (intent.ptr && !bytes_is_nocase(intent, "backup"))
        return call_fail_header(call, E_InvalidHeaderValue, name, intent);
    bytes_cut(call_header(call, "authorization"), ' ', &scheme, &token);
    if (intent.ptr || !bytes_is_nocase(scheme, "Bearer") || resource->base.level == LEVEL_SHARES ||
        bytes_is_nocase(call_query(call, "restype"), "share"))
        return OK;
    return call_fail_header(call, E_MissingRequiredHeader, name, bytes_of(NULL, 0));
}

enum error file_read_resource(struct call *call, struct bytes path, struct resource *ret_resource)
{
    struct file_resource *resource = (struct file_resource *)(void *)ret_resource;
    enum error e = read_names(call, path, resource);

    if (!e)
        e = read_snapshot(call, &resource->snapshot);
    if (!e)
        e = file_read_flag(call, "x-ms-allow-trailing-dot", &resource->trailing_dots);
    return e ? e : check_intent(call, resource);
}

enum error refuse_share_snapshot(const struct call *call)
{
    return file_resource(call->input.resource)->snapshot > 0 ? E_ShareSnapshotOperationNotSupported
                                                             : OK;
}
