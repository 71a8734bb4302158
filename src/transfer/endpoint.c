/* See endpoint.h. */
#include "transfer/endpoint.h"

#include "auth/auth.h"
#include "base/url.h"

#define DEVELOPMENT_CONNECTION                                                                     \
    "AccountName=" DEVELOPMENT_ACCOUNT ";AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6I" \
    "FsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"                                                 \
    "BlobEndpoint=http://127.0.0.1:10000/" DEVELOPMENT_ACCOUNT                                     \
    ";QueueEndpoint=http://127.0.0.1:10001/" DEVELOPMENT_ACCOUNT                                   \
    ";TableEndpoint=http://127.0.0.1:10002/" DEVELOPMENT_ACCOUNT                                   \
    ";FileEndpoint=http://127.0.0.1:10003/" DEVELOPMENT_ACCOUNT                                    \
    ";DfsEndpoint=http://127.0.0.1:10004/" DEVELOPMENT_ACCOUNT

const char *const service_names[ENDPOINT_KINDS] = { "blob", "queue", "table", "file", "dfs" };

static struct bytes without_slash(struct bytes url)
{
    while (url.len > 0 && url.ptr[url.len - 1] == '/')
        url.len--;
    return url;
}

/* Derives ACCOUNT.blob.SUFFIX: other services have their names in place of "blob". */
static void derive_hosts(struct arena *arena, const struct url *url, struct bytes suffix,
                         struct account_endpoint *place)
{
    for (size_t i = 0; i < ENDPOINT_KINDS; i++)
        place->urls[i] =
            arena_printf(arena, "%s://%.*s.%s.%.*s", url->secure ? "https" : "http",
                         BYTES_ARG(place->account), service_names[i], BYTES_ARG(suffix));
}

/* Derives HOST:PORT/ACCOUNT: the other services use the following ports, the default here and in
 * Azurite. */
static const char *derive_ports(struct arena *arena, const struct url *url,
                                struct account_endpoint *place)
{
    struct bytes path = without_slash(bytes_from(url->path, 1)), rest;

    bytes_cut(path, '/', &place->account, &rest);
    if (place->account.len == 0 || rest.ptr)
        return "the URL is that of an account, as https://ACCOUNT.blob.core.windows.net or "
               "http://HOST:PORT/ACCOUNT";
    for (unsigned i = 0; i < ENDPOINT_KINDS && url->port + i <= UINT16_MAX; i++)
        place->urls[i] =
            arena_printf(arena, url->is_ipv6 ? "%s://[%.*s]:%u/%.*s" : "%s://%.*s:%u/%.*s",
                         url->secure ? "https" : "http", BYTES_ARG(url->host), url->port + i,
                         BYTES_ARG(place->account));
    return NULL;
}

const char *endpoint_read_url(struct arena *arena, struct bytes text,
                              struct account_endpoint *ret_place)
{
    struct bytes label, service, suffix;
    struct url url;

    *ret_place = (struct account_endpoint){ .key = { NULL, 0 } };
    if (!url_parse(text, &url))
        return "it is not an http or https URL";
    if (url.query.len > 0)
        ret_place->sas = arena_copy(arena, url.query);
    bytes_cut(url.authority, '.', &label, &service);
    bytes_cut(service.ptr ? service : bytes_of("", 0), '.', &service, &suffix);
    if (!bytes_is(service, "blob") || !suffix.ptr || without_slash(url.path).len > 0)
        return derive_ports(arena, &url, ret_place);
    ret_place->account = arena_copy(arena, label);
    derive_hosts(arena, &url, suffix, ret_place);
    return NULL;
}

/* ---- connection strings ---- */

enum { NAME, KEY, SAS, PROTOCOL, SUFFIX, BLOB, QUEUE, TABLE, FILES, DFS, DEVELOPMENT, MEMBERS };
static const char *const members[MEMBERS] = {
    "AccountName",    "AccountKey",   "SharedAccessSignature", "DefaultEndpointsProtocol",
    "EndpointSuffix", "BlobEndpoint", "QueueEndpoint",         "TableEndpoint",
    "FileEndpoint",   "DfsEndpoint",  "UseDevelopmentStorage",
};

static void read_members(struct bytes text, struct bytes of[MEMBERS])
{
    struct bytes rest = text, pair, name, value;

    while (rest.len > 0) {
        bytes_cut(rest, ';', &pair, &rest);
        bytes_cut(bytes_trim(pair), '=', &name, &value);
        for (size_t i = 0; i < MEMBERS; i++) {
            if (value.len > 0 && bytes_is_nocase(name, members[i]))
                of[i] = value;
        }
    }
}

/* Uses the endpoints in the string, or if none exist, Azure's hosts with the suffix. */
static const char *find_urls(struct arena *arena, const struct bytes of[MEMBERS],
                             struct account_endpoint *place)
{
    bool is_named = of[BLOB].ptr || of[QUEUE].ptr || of[TABLE].ptr || of[FILES].ptr || of[DFS].ptr;
    struct url url = { .secure = !bytes_is_nocase(of[PROTOCOL], "http") };
    struct account_endpoint derived;

    if (!is_named) {
        derive_hosts(arena, &url,
                     of[SUFFIX].ptr ? of[SUFFIX] : bytes_from_string("core.windows.net"), place);
        return NULL;
    }
    for (size_t i = 0; i < ENDPOINT_KINDS; i++) {
        place->urls[i] = without_slash(of[BLOB + i]);
        if (place->urls[i].ptr && !url_parse(place->urls[i], &url))
            return "one of its endpoints is not a URL";
    }
    /* SDKs derive it too; few connection strings name it */
    if (!of[DFS].ptr && of[BLOB].ptr && !endpoint_read_url(arena, of[BLOB], &derived))
        place->urls[ENDPOINT_DFS] = derived.urls[ENDPOINT_DFS];
    return NULL;
}

const char *endpoint_read_connection(struct arena *arena, struct bytes text,
                                     struct account_endpoint *ret_place)
{
    struct bytes of[MEMBERS] = { { NULL, 0 } };

    *ret_place = (struct account_endpoint){ .key = { NULL, 0 } };
    text = arena_copy(arena, bytes_trim(bytes_of(text.ptr, strcspn(text.ptr, "\r\n"))));
    read_members(text, of);
    if (bytes_is_nocase(of[DEVELOPMENT], "true"))
        read_members(bytes_from_string(DEVELOPMENT_CONNECTION), of);
    ret_place->account = of[NAME];
    ret_place->key = of[KEY];
    ret_place->sas = of[SAS];
    if (ret_place->sas.len > 0 && ret_place->sas.ptr[0] == '?')
        ret_place->sas = bytes_from(ret_place->sas, 1);
    if (!of[NAME].ptr && of[BLOB].ptr) {
        struct account_endpoint named;

        if (!endpoint_read_url(arena, of[BLOB], &named))
            ret_place->account = named.account;
    }
    if (ret_place->account.len == 0)
        return "it names no account";
    if (!ret_place->key.ptr && !ret_place->sas.ptr)
        return "it has neither AccountKey nor SharedAccessSignature";
    return find_urls(arena, of, ret_place);
}
