/* See api_client.h. rest: Authorize-with-Shared-Key */
#include "transfer/api_client.h"

#include <stdio.h>
#include <stdlib.h>

#include "auth/auth.h"
#include "base/clock.h"
#include "base/encode.h"
#include "base/thread.h"
#include "base/url.h"

#define TRIES_MAX     6u
#define PAUSE_MS      200u
#define PROBLEM_BYTES 1024
#define SIGNED_MORE   6u

struct api_client {
    const struct account_endpoint *place;
    struct accounts *accounts;
    const struct account *account; /* NULL with a shared access signature */
    struct fetch_client *client;
    bool was_unheard;
    int64_t ahead; /* the service's clock minus the local one; ticks */
    char problem[PROBLEM_BYTES];
};

struct api_client *api_client_new(const struct account_endpoint *place, const char *ca_path,
                                  const char **ret_problem)
{
    const struct stored_account stored = {
        .name = place->account, .keys = { place->key }, .key_count = 1, .version = 1
    };
    struct api_client *api_client = xcalloc(1, sizeof *api_client);

    api_client->place = place;
    api_client->accounts = accounts_new();
    api_client->client = fetch_client_new(ca_path);
    *ret_problem = api_client->client ? NULL : "libcurl cannot be loaded";
    if (place->key.ptr && accounts_put_stored(api_client->accounts, &stored) == ACCOUNT_PUT)
        api_client->account = accounts_find(api_client->accounts, place->account);
    if (place->key.ptr && !api_client->account)
        *ret_problem = "the account's name is invalid, or its key is not base64";
    if (!*ret_problem)
        return api_client;
    api_client_free(api_client);
    return NULL;
}

void api_client_free(struct api_client *api_client)
{
    if (!api_client)
        return;
    fetch_client_free(api_client->client);
    accounts_free(api_client->accounts);
    free(api_client);
}

const char *api_client_problem(const struct api_client *api_client)
{
    return api_client->problem;
}

bool api_client_got_no_response(const struct api_client *api_client)
{
    return api_client->was_unheard;
}

bool api_client_has_service(const struct api_client *api_client, enum endpoint_kind service)
{
    return api_client->place->urls[service].ptr != NULL;
}

instant api_client_now(const struct api_client *api_client)
{
    return (instant)((int64_t)clock_unmoved() + api_client->ahead);
}

bool api_client_is_shared(const struct api_client *api_client)
{
    return !api_client->account;
}

/* ---- signing ---- */

static void add_header(struct fetch_client_request *request, struct fetch_header *headers,
                       const char *name, struct bytes value)
{
    headers[request->header_count++] = (struct fetch_header){ bytes_from_string(name), value };
}

/* The Data Lake endpoint belongs to the Blob service. */
static char service_letter(enum endpoint_kind service)
{
    return service_names[service == ENDPOINT_DFS ? ENDPOINT_BLOB : service][0];
}

/* Returns the string to sign as the service will compute it. */
static struct bytes string_to_sign(const struct api_client *api_client, struct arena *arena,
                                   const struct api_request *api_request,
                                   const struct fetch_client_request *request)
{
    struct http_header *headers = arena_array(arena, request->header_count + 1, sizeof *headers);
    struct url url = { .path = { NULL, 0 } };
    struct request seen = { .method_text = bytes_from_string(api_request->method),
                            .headers = headers };
    struct auth_target target = { .account = api_client->account,
                                  .name = api_client->place->account,
                                  .service = service_letter(api_request->service) };

    (void)url_parse(request->url, &url);
    target.path = seen.path = url.path;
    seen.query = url.query;
    for (size_t i = 0; i < request->header_count; i++) {
        struct bytes name = arena_copy_lower(arena, request->headers[i].name);

        headers[seen.header_count++] = (struct http_header){
            .name = name, .value = bytes_trim(request->headers[i].value), .name_as_sent = name
        };
    }
    if (api_request->body.ptr)
        headers[seen.header_count++] =
            (struct http_header){ .name = bytes_from_string("content-length"),
                                  .value = arena_printf(arena, "%zu", api_request->body.len) };
    return shared_key_string(arena, &seen, &target);
}

static void sign(const struct api_client *api_client, struct arena *arena,
                 const struct api_request *api_request, struct fetch_client_request *request,
                 struct fetch_header *headers)
{
    uint8_t signature[ACCOUNT_SIGNATURE_SIZE];
    struct bytes text;

    if (!api_client->account)
        return;
    text = string_to_sign(api_client, arena, api_request, request);
    if (account_sign(api_client->account, 0, text, signature))
        add_header(
            request, headers, "Authorization",
            arena_printf(arena, "SharedKey %.*s:%.*s", BYTES_ARG(api_client->place->account),
                         BYTES_ARG(base64_encode(arena, bytes_of(signature, sizeof signature)))));
}

static struct bytes url_of(const struct api_client *api_client, struct arena *arena,
                           const struct api_request *api_request)
{
    struct bytes base = api_client->place->urls[api_request->service], sas = api_client->place->sas;
    struct text url;

    text_init(&url, arena, base.len + api_request->path.len + api_request->query.len + 64);
    text_add(&url, base);
    text_add(&url, api_request->path);
    if (api_request->path.len == 0)
        text_add_char(&url, '/');
    if (api_request->query.len > 0) {
        text_add_char(&url, '?');
        text_add(&url, api_request->query);
    }
    if (!api_client->account) {
        text_add_char(&url, api_request->query.len > 0 ? '&' : '?');
        text_add(&url, sas);
    }
    return text_bytes(&url);
}

/* Always returns true. */
static bool note_date(struct api_client *api_client, const struct fetch_client_answer *answer)
{
    instant date;

    if (instant_parse_http(fetch_head_find(&answer->head, "date"), &date))
        api_client->ahead = (int64_t)date - (int64_t)clock_unmoved();
    return true;
}

/* Sends the request once. Returns false if there is no response. */
static bool ask_once(struct api_client *api_client, struct arena *arena,
                     const struct api_request *api_request, struct fetch_client_answer *ret_answer)
{
    struct fetch_header headers[ASKER_HEADERS_MAX + SIGNED_MORE];
    struct fetch_client_request request = {
        .method = api_request->method,
        .url = url_of(api_client, arena, api_request),
        .headers = headers,
        .header_count = api_request->header_count,
        .body = api_request->body,
        .answer_max = api_request->range_bytes > 0 ? (size_t)api_request->range_bytes + 4096
                                                   : ASKER_LISTING_MAX,
        .range_length = api_request->range_bytes,
    };
    char date[INSTANT_HTTP_SIZE];

    if (api_request->header_count > 0)
        memcpy(headers, api_request->headers, api_request->header_count * sizeof headers[0]);
    instant_format_http(clock_unmoved(), date);
    add_header(&request, headers, "x-ms-date", bytes_from_string(date));
    add_header(
        &request, headers, "x-ms-version",
        bytes_from_string(api_request->service == ENDPOINT_TABLE ? "2019-02-02" : ASKER_VERSION));
    sign(api_client, arena, api_request, &request, headers);
    return fetch_client_ask(api_client->client, arena, &request, ret_answer) &&
           note_date(api_client, ret_answer);
}

/* ---- retries ---- */

static bool is_worth_a_try(const struct fetch_client_answer *answer)
{
    return answer->status == 429 || answer->status == 408 || answer->status == 500 ||
           answer->status == 502 || answer->status == 503 || answer->status == 504;
}

static void keep_problem(struct api_client *api_client, const struct api_request *api_request,
                         bool answered, const struct fetch_client_answer *answer)
{
    struct bytes code = fetch_head_find(&answer->head, "x-ms-error-code");

    if (answered)
        snprintf(api_client->problem, sizeof api_client->problem, "%s %s %.*s: %d %.*s",
                 api_request->method, service_names[api_request->service],
                 BYTES_ARG(api_request->path), answer->status, BYTES_ARG(code));
    else
        snprintf(api_client->problem, sizeof api_client->problem, "%s %s %.*s: %s",
                 api_request->method, service_names[api_request->service],
                 BYTES_ARG(api_request->path), fetch_client_problem(api_client->client));
}

bool api_client_request(struct api_client *api_client, struct arena *arena,
                        const struct api_request *api_request,
                        struct fetch_client_answer *ret_answer)
{
    unsigned pause = PAUSE_MS;
    bool answered = false;

    *ret_answer = (struct fetch_client_answer){ .status = 0 };
    if (api_request->header_count > ASKER_HEADERS_MAX) {
        snprintf(api_client->problem, sizeof api_client->problem, "%.*s has more than %u headers",
                 BYTES_ARG(api_request->path), ASKER_HEADERS_MAX);
        return false;
    }
    for (unsigned i = 0; i < TRIES_MAX; i++) {
        if (i > 0) {
            thread_sleep_ns((uint64_t)pause * 1000000);
            pause *= 2;
        }
        answered = ask_once(api_client, arena, api_request, ret_answer);
        if ((answered && !is_worth_a_try(ret_answer)) || api_request->is_probe)
            break;
    }
    api_client->was_unheard = !answered;
    if (answered && (ret_answer->status / 100 == 2 || ret_answer->status == api_request->accepted))
        return true;
    keep_problem(api_client, api_request, answered, ret_answer);
    return false;
}

bool api_client_is_hierarchical(struct api_client *api_client, struct arena *arena,
                                bool *ret_hierarchical)
{
    const struct api_request request = { .method = "GET",
                                         .service = ENDPOINT_BLOB,
                                         .path = bytes_of("", 0),
                                         .query =
                                             bytes_from_string("restype=account&comp=properties") };
    struct fetch_client_answer answer;
    bool asked = api_client_request(api_client, arena, &request, &answer);

    *ret_hierarchical =
        asked && bytes_is_nocase(fetch_head_find(&answer.head, "x-ms-is-hns-enabled"), "true");
    return asked;
}
