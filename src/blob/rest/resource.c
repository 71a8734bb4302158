/* The resource that the path and query of a request name: service, container, blob, snapshot or
 * version. */
#include "blob/rest/request.h"

#include "base/encode.h"
#include "base/url.h"

/* Returns true if the only segment of the path is a container, and false if it is a blob of $root.
 * rest: Working-with-the-Root-Container */
static bool names_container(const struct call *call)
{
    return call_query(call, "restype").ptr || bytes_is(call_query(call, "comp"), "list");
}

/* Returns true for Restore Container. Without a name it addresses the root container, so that its
 * headers are checked (recorded: MissingRequiredHeader). */
static bool restores_container(const struct call *call)
{
    return bytes_is(call_query(call, "comp"), "undelete") &&
           bytes_is(call_query(call, "restype"), "container");
}

bool blob_decode_path(struct arena *arena, struct bytes *path)
{
    if (path->len == 0)
        return true;
    *path = percent_decode(arena, *path);
    if (!path->ptr || !bytes_is_utf8(*path) || memchr(path->ptr, '\0', path->len))
        return false;
    *path = url_normalize_path(arena, *path);
    return true;
}

/* Returns true if the first segment of a path has an encoded slash. Such a path is refused, because
 * it could address a container by accident. */
static bool hides_slash(struct arena *arena, struct bytes path)
{
    struct bytes first, rest;

    bytes_cut(path, '/', &first, &rest);
    first = first.len > 0 ? percent_decode(arena, first) : first;
    return first.len > 0 &&
           (memchr(first.ptr, '/', first.len) || memchr(first.ptr, '\\', first.len));
}

static enum error read_ref(struct call *call, struct blob_ref *ret_ref)
{
    struct bytes snapshot = call_query(call, "snapshot"), version = call_query(call, "versionid");
    instant at = 0;

    *ret_ref = blob_base;
    /* An empty value must not mean the base: Delete Blob would delete that. */
    if (snapshot.ptr && (!instant_parse_iso(snapshot, &at) || at == 0))
        return call_fail_query(call, E_InvalidQueryParameterValue, "snapshot", snapshot,
                               "Not a snapshot's date and time.");
    if (snapshot.ptr && version.ptr)
        return call_fail_query(call, E_InvalidQueryParameterValue, "versionid", version,
                               "snapshot and versionid are mutually exclusive.");
    if (snapshot.ptr)
        *ret_ref = blob_snapshot_ref(at);
    if (!version.ptr)
        return OK;
    if (!instant_parse_iso(version, &at) || at == 0)
        return call_fail_query(call, E_InvalidQueryParameterValue, "versionid", version,
                               "Not a version's date and time.");
    *ret_ref = blob_version_ref(at);
    return OK;
}

static enum error read_names(const struct call *call, struct bytes path,
                             struct blob_resource *resource)
{
    struct bytes first, rest;

    if (hides_slash(call->arena, path) || !blob_decode_path(call->arena, &path))
        return E_InvalidUri;
    bytes_cut(path, '/', &first, &rest);
    if (first.len == 0 && rest.len == 0 && !restores_container(call))
        return OK;
    if (first.len == 0 && rest.len == 0)
        first = bytes_from_string("$root");
    /* "/c/" without restype is neither a container nor a blob of $root, whose names have no slash.
     * decision: 37 */
    if (rest.ptr && rest.len == 0 && !names_container(call))
        return E_InvalidUri;
    if (rest.len > 0 || names_container(call)) {
        resource->base.level = rest.len > 0 ? LEVEL_BLOB : LEVEL_CONTAINER;
        resource->container = first;
        resource->blob = rest.len > 0 ? rest : bytes_of(NULL, 0);
    } else {
        resource->base.level = LEVEL_BLOB;
        resource->container = bytes_from_string("$root");
        resource->blob = first;
    }
    return OK;
}

static enum error read_page(const struct call *call, struct bytes path,
                            struct blob_resource *resource)
{
    resource->base.level = LEVEL_WEBSITE;
    resource->blob = path.ptr ? path : bytes_from_string("");
    return blob_decode_path(call->arena, &resource->blob) ? OK : E_InvalidUri;
}

enum error blob_read_resource(struct call *call, struct bytes path, struct resource *ret_resource)
{
    struct blob_resource *resource = (struct blob_resource *)(void *)ret_resource;
    enum error e;

    if (call->website)
        return read_page(call, path, resource);
    e = read_names(call, path, resource);

    return e ? e : read_ref(call, &resource->ref);
}
