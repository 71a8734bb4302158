/* From a raw request to a call: account, names, query, and the headers that every operation
 * knows. */
#include "service/service_private.h"
#include "service/service_properties.h"

#include "base/encode.h"

/* What a request without x-ms-version gets: the newest that the clients of today send.
 * decision: 9 */
#define VERSION_DEFAULT     "2026-10-06"

/* What answers of websites say. */
#define VERSION_OF_WEBSITES "2018-03-28"

/* What no operation has a use for; looking for names that are given twice takes the square of
 * it. */
#define PARAMETERS_MAX      100

static const struct bytes secondary_suffix = BYTES("-secondary");

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

/* The parameters that may be given more than once: their values are one list.
 * rest: Authorize-with-Shared-Key, the example of List Blobs */
static bool is_list(struct bytes name)
{
    return bytes_is(name, "include");
}

static bool has_control(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.ptr[i] < 0x20)
            return true;
    }
    return false;
}

/* decision: 264 */
static bool may_have_control(const struct call *call, struct bytes name)
{
    const char *free = call->service->unsigned_parameter;

    return free && bytes_is(name, free);
}

/* Adds a parameter. One that is given twice would in part be ignored, and what could be read in two
 * ways once it is joined by line feeds could share a signature with another request.
 * decisions: 21, 36 */
static enum error add_parameter(struct call *call, struct query_parameter *parameters,
                                struct query_parameter new)
{
    const char *name = arena_string(call->arena, new.name);

    if (has_control(new.name) || (new.name.len > 0 && memchr(new.name.ptr, ':', new.name.len)))
        return E_InvalidUri;
    if (has_control(new.value) && !may_have_control(call, new.name))
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

/* What a page of a website is asked with is its own business. */
static enum error read_query(struct call *call)
{
    struct bytes rest = call->request->query;
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
    while (rest.len > 0) {
        struct bytes pair, name, value;
        enum error e;

        bytes_cut(rest, '&', &pair, &rest);
        if (pair.len == 0)
            continue;
        bytes_cut(pair, '=', &name, &value);
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

/* ---- account and names ---- */

/* "account.blob.localhost:10000" names the account in its first label when the second is the
 * service; "account.web.localhost" and "account.z1.web.localhost" do where a website is meant.
 *
 * ret_service  the label that says which
 * returns      ptr NULL: not of that style */
static struct bytes cut_host(const struct call *call, struct bytes *ret_service)
{
    static const struct bytes nothing = { NULL, 0 };
    struct bytes host = call->request->authority;
    struct bytes account, rest;

    *ret_service = nothing;
    if (!host.ptr || !call->endpoint->options->product_style_url)
        return nothing;
    bytes_cut(host, '.', &account, &rest);
    if (!rest.ptr)
        return nothing;
    bytes_cut(rest, '.', ret_service, &rest);
    if (ret_service->len > 0 && (ret_service->ptr[0] | 0x20) == 'z')
        bytes_cut(rest, '.', ret_service, &rest);
    return rest.ptr ? account : nothing;
}

static bool names_website(const struct call *call)
{
    struct bytes service;

    return (call->endpoint->service->sections & SECTION_STATIC_WEBSITE) &&
           cut_host(call, &service).ptr && bytes_is_nocase(service, "web");
}

/* ptr NULL: not of that style. */
static struct bytes account_of_host(const struct call *call)
{
    struct bytes service, account = cut_host(call, &service);

    if (!call->website && !bytes_is_nocase(service, call->endpoint->service->name))
        return (struct bytes){ NULL, 0 };
    return account;
}

/* account: in the path; ptr NULL when the host names it. */
static struct bytes url_prefix(const struct call *call, struct bytes account)
{
    struct bytes host = call->request->authority;
    struct text out;

    if (!host.ptr || host.len == 0) /* HTTP/1.0 */
        host = bytes_from_string("localhost");
    text_init(&out, call->arena, sizeof "https:///" + host.len + account.len);
    text_add_string(&out, call->request->secure ? "https://" : "http://");
    text_add(&out, host);
    if (account.ptr) {
        text_add_char(&out, '/');
        text_add(&out, account);
    }
    return text_bytes(&out);
}

typedef const struct account *find_fn(const struct accounts *accounts, struct bytes name);

/* An account that is not there is refused by authentication, as a wrong signature is: names cannot
 * be probed. decision: 35 */
static void find_account(struct call *call, struct bytes name, find_fn *find)
{
    call->account = find(call->endpoint->accounts, name);
    if (!call->account && bytes_has_suffix_nocase(name, secondary_suffix)) {
        name.len -= secondary_suffix.len;
        call->account = find(call->endpoint->accounts, name);
        call->secondary = true;
    }
    call->account_name = call->account ? account_name(call->account) : name;
}

/* Is it, as the path begins, the account's name or its secondary's? */
static bool begins_with_account(const struct call *call, struct bytes path)
{
    struct bytes first, rest;

    bytes_cut(path, '/', &first, &rest);
    if (bytes_has_suffix(first, secondary_suffix))
        first.len -= secondary_suffix.len;
    return bytes_equal(first, call->account_name);
}

static enum error read_resource(struct call *call, struct bytes path)
{
    const struct service *service = call->endpoint->service;
    struct resource *resource;

    if (!service->read_resource) {
        static const struct resource of_service = { .level = 0 };

        call->input.resource = &of_service; /* not built yet: nothing has a name */
        return OK;
    }
    resource = arena_alloc(call->arena, service->resource_size);
    call->input.resource = resource;
    return service->read_resource(call, path, resource);
}

/* Comes first, and refuses nothing: what its account's CORS rules say of a request is said of refused
 * ones too. */
static enum error read_account(struct call *call)
{
    struct bytes account, path;
    bool in_path;

    call->website = names_website(call);
    account = account_of_host(call);
    in_path = !account.ptr;
    if (in_path)
        bytes_cut(bytes_from(call->request->path, 1), '/', &account, &path);
    call->url_prefix = url_prefix(call, in_path ? account : bytes_of(NULL, 0));
    find_account(call, account, in_path ? accounts_find : accounts_find_host);
    call->input.account = call->account_name;
    return OK;
}

static enum error read_target(struct call *call)
{
    struct bytes path = bytes_from(call->request->path, 1), account;
    bool in_path = !account_of_host(call).ptr;

    if (in_path)
        bytes_cut(path, '/', &account, &path);
    /* The host is not signed: "/name/c" of the host "name.blob..." has the string to sign of
     * "/name/c" in path style, which means another resource. decision: 21 */
    if (!in_path && !call->website && begins_with_account(call, path))
        return call_fail(
            call, E_InvalidUri,
            "A container of the account's own name can only be addressed in path style.");
    return read_resource(call, path);
}

/* Below the list's account, whether that is named once more, as in path style, or not: clients of
 * the service, where the host names it, do not. decision: 61 */
static enum error read_part_target(struct call *call)
{
    struct bytes path = bytes_from(call->request->path, 1);
    struct bytes account;

    if (begins_with_account(call, path))
        bytes_cut(path, '/', &account, &path);
    return read_resource(call, path);
}

/* ---- headers that every operation knows ---- */

/* The headers that are read here or stored: but for metadata, which has an error of its own. */
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

/* Only the first of several headers of one name is looked at, so a condition, a lease id or a sum
 * that is sent twice would in part be ignored (promise 5). decision: 33 */
static enum error refuse_repeated(struct call *call)
{
    const struct request *request = call->request;
    uint64_t before = 0; /* bits of the headers before this one */

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
    if (!guid_parse(text, &id)) /* an empty one too: it may be the mistake of a client */
        return call_fail_header(call, E_InvalidHeaderValue, "x-ms-lease-id", text);
    struct guid *kept = arena_alloc(call->arena, sizeof *kept);

    *kept = id;
    call->input.lease_id = kept;
    return OK;
}

/* A number of seconds, which no operation here takes long enough to reach.
 * rest: Setting-Timeouts-for-Blob-Service-Operations */
static enum error read_timeout(struct call *call)
{
    struct bytes text = call_query(call, "timeout");
    uint64_t seconds;

    if (!text.ptr || bytes_parse_u64(text, INT32_MAX, &seconds))
        return OK;
    return call_fail_query(call, E_InvalidQueryParameterValue, "timeout", text,
                           "Not a number of seconds.");
}

/* rest: Status-and-Error-Codes2, MissingContentLengthHeader; decision: 38 */
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

/* NULL ends. */
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
        read_account,  read_version,     require_length, refuse_repeated, read_query, read_target,
        read_lease_id, route_conditions, read_timeout,   read_gate,       NULL
    };

    return read_all(call, readers);
}

enum error route_part(struct call *call, const struct call *list)
{
    static reader_fn *const readers[] = { refuse_repeated,  read_query,
                                          read_part_target, read_lease_id,
                                          route_conditions, read_timeout,
                                          read_gate,        NULL };
    call->list = list;
    call->version = list->version;
    call->account = list->account;
    call->account_name = list->account_name;
    call->secondary = list->secondary;
    call->url_prefix = list->url_prefix;
    call->input.account = call->account_name;
    return read_all(call, readers);
}

/* Who presents nothing sees what is public. Where that is not enough, a client that knows of
 * challenges (since 2019-12-12) is asked who it is, and for others nothing is there. Recorded;
 * decision: 11 */
static void admit_anonymous(const struct call *call, struct identity *identity)
{
    struct bytes version = call_header(call->list ? call->list : call, "x-ms-version");

    identity->sees_public = !call->endpoint->options->no_public_access;
    if (bytes_compare(version, bytes_from_string("2019-12-12")) >= 0)
        identity->refusal = E_NoAuthenticationInformation;
    else
        identity->refusal = E_ResourceNotFound;
    if (!identity->sees_public && (call->request->method & (METHOD_GET | METHOD_HEAD)))
        identity->refusal = E_PublicAccessNotPermitted;
}

/* Requests of a SAS may say their version in the query, and have that of the SAS otherwise.
 * rest: Versioning-for-the-Azure-Storage-services */
static void read_sas_version(struct call *call)
{
    struct bytes version = call_query(call, "api-version");

    if (call_header(call, "x-ms-version").ptr)
        return;
    call->version = call_version_is_valid(version) ? version : call_query(call, "sv");
}

/* What follows from who asks. */
static enum error admit(struct call *call)
{
    struct identity *identity = &call->input.identity;

    if (identity->kind == IDENTITY_ANONYMOUS)
        admit_anonymous(call, identity);
    if (identity->kind != IDENTITY_SAS)
        return OK;
    if (!call->list)
        read_sas_version(call);
    if (identity->sas->encrypts && !call->loose)
        return call_fail_query(call, E_UnsupportedQueryParameter, "ses", call_query(call, "ses"),
                               "Encryption scopes are not built yet.");
    return OK;
}

enum error route_authenticate(struct call *call)
{
    struct auth_target target = {
        .account = call->account,
        .name = call->account_name,
        .path = call->request->path,
        .secondary = call->secondary,
        .service = call->endpoint->service->name[0],
        .service_name = call->endpoint->service->name,
        .trust = call->endpoint->trust ? trust_now(call->endpoint->trust) : NULL,
    };
    struct bytes detail = { NULL, 0 };

    if (call->service->names)
        call->service->names(call->input.resource, &target.container, &target.object);

    /* A preflight request is never signed (rest: Preflight-Blob-Request), and what is signed has no
     * meaning to a website. */
    if (call->request->method == METHOD_OPTIONS || call->website)
        return OK;
    /* The wall clock: ours stays ahead after the wall clock was set back (clock invariant 3), and
     * every request would be refused as too old until the wall catches up. */
    enum error e = authenticate(call->request, &target, clock_wall(), call->arena,
                                &call->input.identity, &detail);

    if (e && detail.ptr)
        call->problem->detail = arena_string(call->arena, detail);
    return e ? e : admit(call);
}
