/* Turns a raw request into a call: its version, query, and the headers common to all operations.
 * route_target.c finds the account and the names. */
#include "request/request_private.h"

#include "base/encode.h"
#include "base/url.h"

/* Version of requests without x-ms-version: the newest that current clients send. decision: 9 */
#define VERSION_DEFAULT     "2026-10-06"

/* Version in responses of websites. */
#define VERSION_OF_WEBSITES "2018-03-28"

/* More parameters than any operation needs. The search for repeated names takes quadratic time. */
#define PARAMETERS_MAX      100

/* ---- version and query ---- */

static enum error read_version(struct call *call)
{
    struct bytes version = call_header(call, "x-ms-version");

    call->version = bytes_from_string(VERSION_DEFAULT);
    if (!version.ptr)
        return OK;
    if (!call_version_is_valid(version) && !call->endpoint->options->skip_version_check)
        return call_fail_header(call, E_InvalidHeaderValue, "x-ms-version", version);
    call->version = version;
    return OK;
}

static size_t count_parameters(struct bytes query)
{
    size_t count = query.len > 0 ? 1 : 0;

    for (size_t i = 0; i < query.len; i++)
        count += query.ptr[i] == '&';
    return count;
}

/* Returns true for parameters that may be repeated; their values form one list.
 * rest: Authorize-with-Shared-Key, the example of List Blobs */
static bool is_list(struct bytes name)
{
    return bytes_is(name, "include");
}

/* Returns true if the parameter's value may contain control characters. decision: 264 */
static bool may_have_control(const struct call *call, struct bytes name)
{
    const char *free = call->service->unsigned_parameter;

    return free && bytes_is(name, free);
}

/* Adds a parameter. Refuses repeated parameters, because one value would be ignored. Refuses
 * control characters and colons, which could make the joined parameters ambiguous and let two
 * requests share a signature. decisions: 21, 36 */
static enum error add_parameter(struct call *call, struct query_parameter *parameters,
                                struct query_parameter new)
{
    const char *name = arena_string(call->arena, new.name);

    if (bytes_have_control(new.name) ||
        (new.name.len > 0 && memchr(new.name.ptr, ':', new.name.len)))
        return E_InvalidUri;
    if (bytes_have_control(new.value) && !may_have_control(call, new.name))
        return call_fail_query(call, E_InvalidQueryParameterValue, name, bytes_of(NULL, 0),
                               "It contains a control character.");
    for (size_t i = 0; i < call->query_count; i++) {
        if (!bytes_equal(parameters[i].name, new.name))
            continue;
        if (!is_list(new.name))
            return call_fail_query(call, E_InvalidQueryParameterValue, name, new.value,
                                   "The parameter is given more than once.");
        parameters[i].value = arena_printf(call->arena, "%.*s,%.*s", BYTES_ARG(parameters[i].value),
                                           BYTES_ARG(new.value));
        return OK;
    }
    parameters[call->query_count++] = new;
    return OK;
}

/* Reads the query. The query of a website's page is ignored. */
static enum error read_query(struct call *call)
{
    struct bytes rest = call->request->query, name, value;
    size_t count = count_parameters(rest);
    struct query_parameter *parameters;

    if (call->website) {
        call->version = bytes_from_string(VERSION_OF_WEBSITES);
        return OK;
    }
    if (count > PARAMETERS_MAX)
        return call_fail(call, E_InvalidUri, "The query has more than %d parameters.",
                         PARAMETERS_MAX);
    parameters = arena_array(call->arena, count, sizeof *parameters);
    call->query = parameters;
    while (url_take_parameter(&rest, &name, &value)) {
        enum error e;

        if (name.len == 0 && !value.ptr)
            continue;
        name = query_decode(call->arena, name);
        value = value.ptr ? query_decode(call->arena, value) : bytes_from_string("");
        if (!name.ptr || !value.ptr || !bytes_is_utf8(name) || !bytes_is_utf8(value))
            return E_InvalidUri;
        e = add_parameter(call, parameters,
                          (struct query_parameter){ .name = arena_copy_lower(call->arena, name),
                                                    .value = value });
        if (e)
            return e;
    }
    return OK;
}

/* ---- headers common to all operations ---- */

/* Returns true for headers that are read here or stored. Metadata is excluded because it has its
 * own error. */
static bool is_read_once(struct bytes name)
{
    static const struct bytes prefixes[] = { BYTES("if-"), BYTES("x-ms-"), BYTES("content-") };
    static const struct bytes metadata = BYTES("x-ms-meta-");
    static const char *const names[] = { "authorization", "cache-control", "date", "host",
                                         "range" };

    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (bytes_has_prefix(name, prefixes[i]))
            return !bytes_has_prefix(name, metadata);
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (bytes_is(name, names[i]))
            return true;
    }
    return false;
}

/* Refuses repeated headers. Only the first header of a name is read, so a repeated condition, lease
 * id or checksum would be ignored (promise 5). decision: 33 */
static enum error refuse_repeated(struct call *call)
{
    const struct request *request = call->request;
    uint64_t before = 0; /* bits of the preceding headers */

    for (size_t i = 0; i < request->header_count; i++) {
        const struct http_header *header = &request->headers[i];
        uint64_t bit = header_bit(header->name);
        bool may_be_repeated = before & bit;

        before |= bit;
        if (!may_be_repeated || !is_read_once(header->name))
            continue;
        if (request_find_header(request, header->name).ptr != header->value.ptr)
            return call_fail_header(call, E_InvalidHeaderValue,
                                    arena_string(call->arena, header->name), header->value);
    }
    return OK;
}

static enum error read_lease_id(struct call *call)
{
    struct bytes text = call_header(call, "x-ms-lease-id");
    struct guid id;

    if (!text.ptr)
        return OK;
    if (!guid_parse(text, &id)) /* refuse an empty one too, as it may be a client's mistake */
        return call_fail_header(call, E_InvalidHeaderValue, "x-ms-lease-id", text);
    struct guid *kept = arena_alloc(call->arena, sizeof *kept);

    *kept = id;
    call->input.lease_id = kept;
    return OK;
}

/* ---- timeout, length, gates ---- */

/* Reads the timeout in seconds. No operation takes long enough to reach it.
 * rest: Setting-Timeouts-for-Blob-Service-Operations */
static enum error read_timeout(struct call *call)
{
    struct bytes text = call_query(call, "timeout");
    uint64_t seconds;

    if (!text.ptr)
        return OK;
    if (bytes_parse_u64(text, INT32_MAX, &seconds)) {
        call->input.timeout_s = (uint32_t)seconds;
        return OK;
    }
    return call_fail_query(call, E_InvalidQueryParameterValue, "timeout", text,
                           "Not a number of seconds.");
}

/* Requires a Content-Length for PUT. rest: Status-and-Error-Codes2, MissingContentLengthHeader;
 * decision: 38 */
static enum error require_length(struct call *call)
{
    if (call->request->method == METHOD_PUT && !call_header(call, "content-length").ptr)
        return E_MissingContentLengthHeader;
    return OK;
}

static enum error read_gate(struct call *call)
{
#ifdef LAGRA_GATES
    struct bytes text = call_header(call, "x-lagra-gate");

    if (text.ptr && !gate_parse(text, &call->gate))
        return call_fail_header(call, E_InvalidHeaderValue, "x-lagra-gate", text);
#else
    (void)call;
#endif
    return OK;
}

typedef enum error reader_fn(struct call *call);

/* Calls the readers until one fails. NULL ends the list. */
static enum error read_all(struct call *call, reader_fn *const *readers)
{
    for (; *readers; readers++) {
        enum error e = (*readers)(call);

        if (e)
            return e;
    }
    return OK;
}

enum error route_request(struct call *call)
{
    static reader_fn *const readers[] = {
        route_account, read_version,     require_length, refuse_repeated, read_query, route_target,
        read_lease_id, route_conditions, read_timeout,   read_gate,       NULL
    };

    return read_all(call, readers);
}

enum error route_names(struct call *call)
{
    static reader_fn *const readers[] = { route_account, read_query, route_target, NULL };

    return read_all(call, readers);
}

enum error route_part(struct call *call, const struct call *list)
{
    static reader_fn *const readers[] = { refuse_repeated,   read_query,
                                          route_part_target, read_lease_id,
                                          route_conditions,  read_timeout,
                                          read_gate,         NULL };
    call->list = list;
    call->version = list->version;
    call->account = list->account;
    call->account_name = list->account_name;
    call->secondary = list->secondary;
    call->url_prefix = list->url_prefix;
    call->input.account = call->account_name;
    return read_all(call, readers);
}
