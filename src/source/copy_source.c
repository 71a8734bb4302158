/* See copy_source.h. */
#include "source/copy_source.h"

#include "base/encode.h"

/* rest: Copy-Blob "x-ms-copy-source" */
#define URL_MAX 2048u

/* ---- the headers ---- */

/* Adds a header; an empty one counts as absent. */
static void add_header(struct copy_source *source, const char *name, struct bytes value)
{
    if (value.len > 0)
        source->headers[source->header_count++] = (struct http_header){
            .name = bytes_from_string(name), .value = value, .name_as_sent = bytes_from_string(name)
        };
}

/* The date belongs to a write, so it must be valid. decision: 848 */
static enum error check_date(struct call *call, const char *name)
{
    struct bytes text = call_condition(call, name);
    instant date;

    if (!text.ptr || instant_parse_http(text, &date))
        return OK;
    return call_fail_header(call, E_InvalidHeaderValue, name, text);
}

/* Collects the conditional headers for reading the source. */
static enum error read_conditions(struct call *call, struct copy_source *source)
{
    static const char *const names[][2] = {
        { "x-ms-source-if-match", "if-match" },
        { "x-ms-source-if-none-match", "if-none-match" },
        { "x-ms-source-if-modified-since", "if-modified-since" },
        { "x-ms-source-if-unmodified-since", "if-unmodified-since" },
        { "x-ms-source-if-tags", "x-ms-if-tags" },
    };
    enum error e = check_date(call, "x-ms-source-if-modified-since");

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        add_header(source, names[i][1], call_condition(call, names[i][0]));
    return e ? e : check_date(call, "x-ms-source-if-unmodified-since");
}

/* Collects the other headers for reading the source. */
static void read_headers(const struct call *call, struct copy_source *source)
{
    static const char *const names[][2] = {
        { "x-ms-copy-source-authorization", "authorization" },
        { "x-ms-source-allow-trailing-dot", "x-ms-allow-trailing-dot" },
        { "x-ms-file-request-intent", "x-ms-file-request-intent" },
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        add_header(source, names[i][1], call_header(call, names[i][0]));
    add_header(source, "x-ms-version", call->version);
}

static enum error read_sum(struct call *call, const char *name, void *sum, size_t size,
                           bool *ret_given)
{
    struct bytes text = call_header(call, name), decoded;

    *ret_given = text.len > 0;
    if (!*ret_given)
        return OK;
    decoded = base64_decode(call->arena, text);
    if (!decoded.ptr || decoded.len != size)
        return call_fail_header(call, E_InvalidHeaderValue, name, text);
    memcpy(sum, decoded.ptr, size);
    return OK;
}

/* Content-MD5 covers the bytes that become the body, like x-ms-source-content-md5.
 * rest: Append-Block-From-URL, Put-Blob-From-URL "Content-MD5" */
static enum error read_content_md5(struct call *call, struct copy_source *source)
{
    uint8_t md5[MD5_SIZE];
    bool given;
    enum error e =
        source->rule == SOURCE_READ ? read_sum(call, "content-md5", md5, sizeof md5, &given) : OK;

    if (e || source->rule != SOURCE_READ || !given)
        return e;
    if (source->expects_crc64)
        return E_BothCrc64AndMd5HeaderPresent;
    if (source->expects_md5 && memcmp(source->md5, md5, sizeof md5) != 0)
        return call_fail_sum(call, E_Md5Mismatch, md5, source->md5, sizeof md5);
    memcpy(source->md5, md5, sizeof md5);
    source->expects_md5 = true;
    return OK;
}

static enum error read_sums(struct call *call, struct copy_source *source)
{
    enum error e = read_sum(call, "x-ms-source-content-md5", source->md5, sizeof source->md5,
                            &source->expects_md5);

    if (!e)
        e = read_sum(call, "x-ms-source-content-crc64", source->crc64, sizeof source->crc64,
                     &source->expects_crc64);
    if (!e && source->expects_md5 && source->expects_crc64)
        e = E_BothCrc64AndMd5HeaderPresent;
    return e ? e : read_content_md5(call, source);
}

static enum error read_range(struct call *call, struct copy_source *source)
{
    static const char name[] = "x-ms-source-range";
    uint64_t offset, length;

    source->range = call_header(call, name);
    if (source->range.ptr && range_parse(source->range, UINT64_MAX, &offset, &length) == RANGE_ALL)
        return call_fail_header(call, E_InvalidHeaderValue, name, source->range);
    return OK;
}

enum error copy_source_check(struct call *call, enum source_rule rule,
                             struct copy_source *ret_source)
{
    static const char name[] = "x-ms-copy-source";
    struct bytes sent = call_header(call, name);
    struct copy_source source = { .rule = rule, .sent = sent, .text = sent };
    enum error e;

    if (sent.len <= URL_MAX)
        source.text = url_normal(call->arena, sent);
    if (sent.len > URL_MAX || !url_parse(source.text, &source.url))
        return call_fail_header(call, E_InvalidHeaderValue, name, sent);
    e = read_conditions(call, &source);
    read_headers(call, &source);
    if (!e)
        e = read_range(call, &source);
    if (!e)
        e = read_sums(call, &source);
    call->checks_source = source.expects_md5 || source.expects_crc64;
    call->gathers_for = source_owner(call->arena, call->account_name, &source.url,
                                     source_endpoint(call, &source) != NULL);
    *ret_source = source;
    return e;
}

struct body_sums source_sums(struct call *call, struct copy_source *source, enum source_sum rule)
{
    bool md5 = rule == SOURCE_SUM_MD5 || source->expects_md5 || !call_since(call, "2019-02-02");
    struct body_sums sums = { .md5 = md5, .crc64 = !md5 };

    source->answered = rule;
    call->wants_md5 = call->wants_md5 || sums.md5;
    call->wants_crc64 = sums.crc64 || source->expects_crc64;
    return sums;
}

/* ---- local or remote ---- */

/* Returns "account.blob.host" without its first two labels, which path-style hosts do not have. */
static struct bytes without_account(struct bytes host)
{
    struct bytes account, service, rest;

    bytes_cut(host, '.', &account, &rest);
    if (!rest.ptr)
        return host;
    bytes_cut(rest, '.', &service, &rest);
    return rest.ptr && (bytes_is_nocase(service, "blob") || bytes_is_nocase(service, "file"))
               ? rest
               : host;
}

/* Returns the service listening on the port. The port of the request's own Host identifies its
 * service even if it is mapped to another port. */
static const struct endpoint *endpoint_at(const struct call *call, unsigned port, unsigned own)
{
    const struct endpoint_set *all = call->endpoint->all;

    if (port == own)
        return call->endpoint;
    for (size_t i = 0; all && i < all->count; i++) {
        if (port == atomic_load(&all->ports[i]))
            return &all->endpoints[i];
    }
    return NULL;
}

/* The source is local if its host is that of this request, or if both are names of this machine. */
const struct endpoint *source_endpoint(const struct call *call, const struct copy_source *source)
{
    struct bytes authority = call->request->authority;
    const struct url *url = &source->url;
    struct url own;
    struct bytes here, there;

    if (!authority.ptr ||
        !url_parse(arena_printf(call->arena, "%s://%.*s/", call->request->secure ? "https" : "http",
                                BYTES_ARG(authority)),
                   &own))
        return NULL;
    here = without_account(own.host);
    there = without_account(url->host);
    if (!bytes_equal_nocase(here, there) && !(url_host_is_local(here) && url_host_is_local(there)))
        return NULL;
    return endpoint_at(call, url->port, own.port);
}

/* ---- the owner of the read ---- */

struct pool_owner source_owner(struct arena *arena, struct bytes account, const struct url *url,
                               bool is_own)
{
    uint64_t of_account = pool_owner_number(0, account);
    struct bytes host = arena_copy_lower(arena, url->host);

    return (struct pool_owner){ .account = of_account,
                                .source = is_own ? 0 : pool_owner_number(of_account, host) };
}

/* ---- errors ---- */

enum error source_cannot_verify(struct gathering *g, enum error e)
{
    struct problem *problem = g->call->problem;

    problem->source_status = error_status(e);
    if (e == E_ConditionNotMet || e == E_ConditionNotMetOnRead)
        return E_CannotVerifyCopySource; /* with its own message, as in the real service */
    problem->source_code = bytes_from_string(error_code(e));
    problem->source_message = bytes_from_string(error_message(e));
    return E_CannotVerifyCopySource;
}

enum error source_check_update(struct call *call, const char *name)
{
    struct bytes value = call_header(call, name);

    if (!value.ptr)
        return call_fail_header(call, E_MissingRequiredHeader, name, value);
    return bytes_is_nocase(value, "update")
               ? OK
               : call_fail_header(call, E_InvalidHeaderValue, name, value);
}
