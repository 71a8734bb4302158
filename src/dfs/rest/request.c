/* Names, parameters, properties and errors of the Data Lake endpoint; see request.h. */
#include "dfs/rest/request.h"

#include "base/encode.h"
#include "base/json.h"
#include "base/url.h"
#include "blob/namespace.h"
#include "service/metadata.h"

/* ---- names ---- */

enum error dfs_read_path(struct arena *arena, struct bytes path, struct blob_resource *resource)
{
    struct bytes name, rest;

    bytes_cut(path, '/', &name, &rest);
    if (!blob_decode_path(arena, &name) || !blob_decode_path(arena, &rest))
        return E_InvalidUri;
    rest = namespace_normal_name(arena, rest);
    /* An encoded slash must not make a path another filesystem's. */
    if (name.len > 0 && memchr(name.ptr, '/', name.len))
        return E_InvalidUri;
    if (name.len == 0)
        return rest.len == 0 ? OK : E_InvalidUri;
    resource->base.level = rest.len > 0 ? LEVEL_BLOB : LEVEL_CONTAINER;
    resource->container = name;
    resource->blob = rest.len > 0 ? rest : bytes_of(NULL, 0);
    return OK;
}

/* Replaces the method of a PUT by that of X-HTTP-Method-Override: Hadoop's HTTP library has no
 * PATCH. decision: 1261 */
static enum error read_method(struct call *call)
{
    struct bytes value = call_header(call, "x-http-method-override");

    if (!value.ptr)
        return OK;
    if (call->request->method != METHOD_PUT || !bytes_is_nocase(value, "PATCH"))
        return call_fail_header(call, E_InvalidHeaderValue, "X-HTTP-Method-Override", value);
    call->method = METHOD_PATCH;
    return OK;
}

/* Recognizes a request for the root directory, which has no name: an action without a resource, or
 * a rename to it. */
static bool names_root(struct call *call)
{
    return call_header(call, "x-ms-rename-source").ptr ||
           (call_query(call, "action").len > 0 && !call_query(call, "resource").ptr);
}

enum error dfs_read_resource(struct call *call, struct bytes path, struct resource *ret_resource)
{
    struct blob_resource *resource = (struct blob_resource *)(void *)ret_resource;
    enum error e = read_method(call);

    if (!e)
        e = dfs_read_path(call->arena, path, resource);
    if (!e && resource->base.level == LEVEL_CONTAINER && names_root(call)) {
        resource->base.level = LEVEL_BLOB;
        resource->blob = bytes_of("", 0);
    }
    return e;
}

enum error dfs_check_names(const struct resource *resource)
{
    struct blob_resource named = *blob_resource(resource);

    if (named.blob.ptr && named.blob.len == 0)
        named.blob.ptr = NULL;
    return blob_check_names(&named.base);
}

/* Recognizes requests for the Blob service. SDKs derive its URL only from Azure's own host names,
 * and otherwise send these requests here, too. They have comp or restype, or accept XML, unlike all
 * operations of this service. decision: 1200 */
bool dfs_is_for_blob(const struct request *request)
{
    struct bytes query = request->query, name, value;

    if (request_header(request, "x-ms-blob-type").ptr ||
        bytes_is_nocase(request_header(request, "accept"), "application/xml"))
        return true;
    while (url_take_parameter(&query, &name, &value))
        if (bytes_is_nocase(name, "comp") || bytes_is_nocase(name, "restype"))
            return true;
    return false;
}

/* ---- unsupported headers and parameters ---- */

/* Version since which Path Create has owners, lists and leases, according to the SDKs' tests. */
#define CREATE_OPTIONS_SINCE "2020-12-06"

static const struct unbuilt {
    enum { HEADER, KEY_HEADER, PARAMETER } place;
    struct bytes name;
    unsigned kinds;    /* of dfs_request_kind */
    const char *until; /* supported since this version, or NULL */
} unbuilt[] = {
    /* unless the operation has read them */
    { KEY_HEADER, BYTES("x-ms-encryption-key"), ~0u, NULL },
    { KEY_HEADER, BYTES("x-ms-encryption-key-sha256"), ~0u, NULL },
    { HEADER, BYTES("x-ms-encryption-context"), DFS_CREATE_DIRECTORY | DFS_RENAME, NULL },
    { HEADER, BYTES("x-ms-encryption-context"), DFS_CREATE, "2021-04-10" },
    { HEADER, BYTES("x-ms-encryption-scope"), DFS_CREATE | DFS_UPDATE, NULL },
    { HEADER, BYTES("x-ms-properties"), DFS_RENAME, NULL },
    { HEADER, BYTES("x-ms-cache-control"), DFS_RENAME, NULL },
    { HEADER, BYTES("x-ms-content-type"), DFS_RENAME, NULL },
    { HEADER, BYTES("x-ms-content-encoding"), DFS_RENAME, NULL },
    { HEADER, BYTES("x-ms-content-language"), DFS_RENAME, NULL },
    { HEADER, BYTES("x-ms-content-disposition"), DFS_RENAME, NULL },
    { HEADER, BYTES("x-ms-permissions"), DFS_RENAME | DFS_SET_PROPERTIES, NULL },
    { HEADER, BYTES("x-ms-umask"), DFS_RENAME, NULL },
    { HEADER, BYTES("x-ms-owner"), DFS_RENAME | DFS_SET_PROPERTIES, NULL },
    { HEADER, BYTES("x-ms-owner"), DFS_CREATE, CREATE_OPTIONS_SINCE },
    { HEADER, BYTES("x-ms-group"), DFS_RENAME | DFS_SET_PROPERTIES, NULL },
    { HEADER, BYTES("x-ms-group"), DFS_CREATE, CREATE_OPTIONS_SINCE },
    { HEADER, BYTES("x-ms-acl"), DFS_RENAME | DFS_SET_PROPERTIES, NULL },
    { HEADER, BYTES("x-ms-acl"), DFS_CREATE, CREATE_OPTIONS_SINCE },
    { HEADER, BYTES("x-ms-expiry-option"), DFS_CREATE_DIRECTORY | DFS_RENAME, NULL },
    { HEADER, BYTES("x-ms-expiry-option"), DFS_CREATE, CREATE_OPTIONS_SINCE },
    { HEADER, BYTES("x-ms-expiry-time"), DFS_CREATE_DIRECTORY | DFS_RENAME, NULL },
    { HEADER, BYTES("x-ms-expiry-time"), DFS_CREATE, CREATE_OPTIONS_SINCE },
    { HEADER, BYTES("x-ms-source-lease-id"), DFS_CREATE, NULL },
    { HEADER, BYTES("x-ms-source-if-match"), DFS_CREATE, NULL },
    { HEADER, BYTES("x-ms-source-if-none-match"), DFS_CREATE, NULL },
    { HEADER, BYTES("x-ms-source-if-modified-since"), DFS_CREATE, NULL },
    { HEADER, BYTES("x-ms-source-if-unmodified-since"), DFS_CREATE, NULL },
    { HEADER, BYTES("x-ms-lease-duration"), DFS_CREATE_DIRECTORY | DFS_RENAME, NULL },
    { HEADER, BYTES("x-ms-lease-duration"), DFS_CREATE, CREATE_OPTIONS_SINCE },
    { HEADER, BYTES("x-ms-proposed-lease-id"), DFS_CREATE_DIRECTORY | DFS_RENAME, NULL },
    { HEADER, BYTES("x-ms-proposed-lease-id"), DFS_CREATE, CREATE_OPTIONS_SINCE },
    { PARAMETER, BYTES("snapshot"), DFS_READ | DFS_CREATE | DFS_UPDATE | DFS_DELETE | DFS_LEASE,
      NULL },
    { PARAMETER, BYTES("versionid"), DFS_READ | DFS_CREATE | DFS_UPDATE | DFS_DELETE | DFS_LEASE,
      NULL },
    { PARAMETER, BYTES("fsaction"), DFS_READ, NULL },
    { PARAMETER, BYTES("mode"), DFS_SET_PROPERTIES, NULL },
    { PARAMETER, BYTES("position"), DFS_SET_PROPERTIES, NULL },
    { PARAMETER, BYTES("retainuncommitteddata"), DFS_SET_PROPERTIES, NULL },
    { PARAMETER, BYTES("close"), DFS_SET_PROPERTIES, NULL },
    { PARAMETER, BYTES("maxrecords"), DFS_SET_PROPERTIES, NULL },
    { PARAMETER, BYTES("forceflag"), DFS_SET_PROPERTIES, NULL },
    { PARAMETER, BYTES("continuation"), DFS_CREATE | DFS_UPDATE | DFS_RENAME | DFS_LEASE, NULL },
};

enum error dfs_refuse_unbuilt(struct call *call, unsigned kinds)
{
    for (size_t i = 0; i < sizeof unbuilt / sizeof unbuilt[0] && !call->loose; i++) {
        const struct unbuilt *row = &unbuilt[i];
        struct bytes value;

        if (!(row->kinds & kinds) || (row->until && call_since(call, row->until)) ||
            (row->place == KEY_HEADER && call->input.key))
            continue;
        value = row->place == PARAMETER ? call_query(call, row->name.ptr)
                                        : call_find_header(call, row->name);
        if (value.len == 0) /* Hadoop's driver sends empty ones */
            continue;
        if (row->place == KEY_HEADER) /* which errors do not repeat */
            value = bytes_from_string("");
        return row->place == PARAMETER
                   ? call_fail_query(call, E_UnsupportedQueryParameter, row->name.ptr, value, NULL)
                   : call_fail_header(call, E_UnsupportedHeader, row->name.ptr, value);
    }
    return OK;
}

enum error dfs_read_key(struct call *call, unsigned kinds, enum key_use use)
{
    enum error e = customer_key_read(call, use);

    return e ? e : dfs_refuse_unbuilt(call, kinds);
}

void dfs_answer_encrypted(struct answer *a, bool is_encrypted)
{
    answer_string(a, "x-ms-request-server-encrypted", is_encrypted ? "true" : "false");
    if (a->call->input.key)
        answer_key(a, a->call->input.key->scope, a->call->input.key->hash);
}

/* ---- parameters ---- */

enum error dfs_check_mode(struct call *call)
{
    struct bytes mode = call_query(call, "mode");

    if (mode.len == 0 || bytes_is_nocase(mode, "legacy") || bytes_is_nocase(mode, "posix"))
        return OK;
    return call_fail_query(call, E_InvalidQueryParameterValue, "mode", mode,
                           "Neither legacy nor posix.");
}

enum error dfs_query_flag(struct call *call, const char *name, bool *ret_flag)
{
    struct bytes value = call_query(call, name);

    *ret_flag = bytes_is_nocase(value, "true");
    if (value.len == 0 || *ret_flag || bytes_is_nocase(value, "false"))
        return OK;
    return call_fail_query(call, E_InvalidQueryParameterValue, name, value,
                           "Neither true nor false.");
}

enum error dfs_query_number(struct call *call, const char *name, uint64_t *ret_number)
{
    struct bytes value = call_query(call, name);

    if (!value.ptr)
        return call_fail_query(call, E_MissingRequiredQueryParameter, name, value, NULL);
    if (!bytes_parse_u64(value, INT64_MAX, ret_number))
        return call_fail_query(call, E_InvalidQueryParameterValue, name, value, "Not a number.");
    return OK;
}

enum error dfs_read_lease(struct call *call, struct lease_request *ret_request)
{
    const struct lease_headers headers = {
        .action = bytes_from_string("acquire"),
        .proposed = call_header(call, "x-ms-proposed-lease-id"),
        .duration = call_header(call, "x-ms-lease-duration"),
    };
    const char *name;
    enum error e = lease_request_parse(call->arena, &headers, ret_request, &name);

    if (!e && !headers.proposed.ptr) {
        name = "x-ms-proposed-lease-id";
        e = E_MissingRequiredHeader;
    }
    return e ? call_fail_header(call, e, name, call_header(call, name)) : OK;
}

/* ---- properties ---- */

static const char properties_name[] = "x-ms-properties";

/* Adds a property as metadata. An invalid name is reported as E_InvalidPropertyName. */
static enum error add_property(struct call *call, struct text *run, size_t *total,
                               struct bytes property)
{
    struct bytes name, value;
    enum error e;

    bytes_cut(property, '=', &name, &value);
    name = bytes_trim(name);
    value = value.len > 0 ? base64_decode(call->arena, bytes_trim(value)) : bytes_of("", 0);
    if (!value.ptr)
        return call_fail_header(call, E_InvalidHeaderValue, properties_name, property);
    e = metadata_add(call, run, total, name, value);
    if (e != E_InvalidMetadata && e != E_EmptyMetadataKey)
        return e;
    return call_fail_header(call, E_InvalidPropertyName, properties_name, property);
}

enum error dfs_read_properties(struct call *call, bool *ret_has, struct bytes *ret_metadata)
{
    struct bytes rest = call_header(call, properties_name), property;
    struct text run;
    size_t total = 0;
    enum error e = OK;

    text_init(&run, call->arena, rest.len);
    *ret_has = rest.ptr != NULL;
    if (rest.len == 0)
        rest.ptr = NULL;
    while (rest.ptr && !e) {
        bytes_cut(rest, ',', &property, &rest);
        e = add_property(call, &run, &total, property);
    }
    *ret_metadata = text_bytes(&run);
    return e;
}

void dfs_answer_properties(struct answer *a, struct bytes metadata)
{
    struct bytes name, value;
    struct text out;

    text_init(&out, a->arena, 2 * metadata.len);
    while (metadata_next(&metadata, &name, &value)) {
        if (out.len > 0)
            text_add_char(&out, ',');
        text_add(&out, name);
        text_add_char(&out, '=');
        text_add(&out, base64_encode(a->arena, value));
    }
    if (out.len > 0)
        answer_header(a, properties_name, text_bytes(&out));
}

uint64_t dfs_filetime(instant t)
{
    const instant start = INSTANT_UNIX_EPOCH - UINT64_C(11644473600) * TICKS_PER_SECOND;

    return t > start ? t - start : 0;
}

/* ---- responses ---- */

void dfs_answer_json(struct answer *a, const struct text *json)
{
    answer_string(a, "Content-Type", "application/json; charset=utf-8");
    a->response->body_kind = BODY_BYTES;
    a->response->body = text_bytes(json);
}

enum error dfs_error_of(enum error e)
{
    static const struct {
        enum error blob, path;
    } codes[] = {
        { E_BlobNotFound, E_PathNotFound },
        { E_BlobAlreadyExists, E_PathAlreadyExists },
        { E_ContainerNotFound, E_FilesystemNotFound },
        { E_ContainerAlreadyExists, E_FilesystemAlreadyExists },
        { E_OperationNotSupportedOnDirectory, E_PathConflict },
    };

    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (codes[i].blob == e)
            return codes[i].path;
    return e;
}

/* As recorded: {"error":{"code":..,"message":..}} */
bool dfs_answer_error(struct answer *a, enum error e, const struct problem *problem)
{
    struct bytes message =
        problem->message.ptr ? problem->message : bytes_from_string(error_message(e));
    char id[GUID_TEXT_SIZE], time[INSTANT_ISO_SIZE];
    struct text out, text;

    if (e == E_PathAlreadyExists && problem->existing)
        answer_string(a, "x-ms-existing-resource-type", problem->existing);
    guid_format(&a->call->request_id, id);
    instant_format_iso(answer_time(a), time);
    text_init(&text, a->arena, 256);
    text_add(&text, message);
    if (problem->detail)
        text_printf(&text, "\n%s", problem->detail);
    for (size_t i = 0; i < problem->field_count; i++)
        text_printf(&text, "\n%s:%.*s", problem->fields[i].name,
                    BYTES_ARG(problem->fields[i].value));
    text_printf(&text, "\nRequestId:%s\nTime:%s", id, time);
    text_init(&out, a->arena, 512);
    text_printf(&out, "{\"error\":{\"code\":\"%s\",\"message\":", error_code(e));
    json_write_string(&out, text_bytes(&text));
    text_add_string(&out, "}}");
    answer_status(a, error_status(e));
    dfs_answer_json(a, &out);
    answer_code(a, e);
    return true;
}
