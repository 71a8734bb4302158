/* Finds the account of a request and the names after it. */
#include "request/request_private.h"
#include "properties/service_properties.h"

static const struct bytes secondary_suffix = BYTES("-secondary");

/* Returns the account in the host name, which is its first label if the second is the service:
 * "account.blob.localhost:10000". For a website: "account.web.localhost" or
 * "account.z1.web.localhost".
 *
 * ret_service  label of the service
 * returns      ptr NULL if the host is not of that form */
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

/* Returns the account in the host name; ptr NULL if it contains none. */
static struct bytes account_of_host(const struct call *call)
{
    struct bytes service, account = cut_host(call, &service);

    if (!call->website && !endpoint_labelled(call->endpoint, service))
        return (struct bytes){ NULL, 0 };
    return account;
}

/* Returns the URL prefix. account: from the path; ptr NULL if the host contains it. */
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

/* Finds the account. Authentication refuses a missing account like a wrong signature, so names
 * cannot be probed. decision: 35 */
static void find_account(struct call *call, struct bytes name, find_fn *find)
{
    if (!call->endpoint->accounts) { /* called by route_names() */
        if (bytes_has_suffix_nocase(name, secondary_suffix))
            name.len -= secondary_suffix.len;
        call->account_name = name;
        return;
    }
    call->account = find(call->endpoint->accounts, name);
    if (!call->account && bytes_has_suffix_nocase(name, secondary_suffix)) {
        name.len -= secondary_suffix.len;
        call->account = find(call->endpoint->accounts, name);
        call->secondary = true;
    }
    call->account_name = call->account ? account_name(call->account) : name;
}

/* Returns true if the path starts with the account's name or that of its secondary. */
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

        call->input.resource = &of_service; /* service is not implemented: no names */
        return OK;
    }
    resource = arena_alloc(call->arena, service->resource_size);
    call->input.resource = resource;
    return service->read_resource(call, path, resource);
}

enum error route_account(struct call *call)
{
    struct bytes account, path;
    bool in_path;

    call->website = names_website(call);
    account = account_of_host(call);
    in_path = !account.ptr;
    if (in_path && call->endpoint->service->account_elsewhere)
        account = call->endpoint->service->account_elsewhere(call);
    call->account_is_elsewhere = in_path && account.ptr;
    if (!account.ptr)
        bytes_cut(bytes_from(call->request->path, 1), '/', &account, &path);
    call->url_prefix = url_prefix(call, in_path ? account : bytes_of(NULL, 0));
    find_account(call, account, in_path ? accounts_find : accounts_find_host);
    call->input.account = call->account_name;
    return OK;
}

enum error route_target(struct call *call)
{
    struct bytes path = bytes_from(call->request->path, 1), account;
    bool in_path = !account_of_host(call).ptr && !call->account_is_elsewhere;

    if (in_path)
        bytes_cut(path, '/', &account, &path);
    /* The host is not signed. "/name/c" on host "name.blob..." would have the same string to sign
     * as "/name/c" in path style, which is another resource. decision: 21 */
    if (!in_path && !call->website && begins_with_account(call, path))
        return call_fail(
            call, E_InvalidUri,
            "A container with the account's name can only be addressed in path style.");
    return read_resource(call, path);
}

enum error route_part_target(struct call *call)
{
    struct bytes path = bytes_from(call->request->path, 1);
    struct bytes account;

    if (begins_with_account(call, path))
        bytes_cut(path, '/', &account, &path);
    return read_resource(call, path);
}
