/* See asker.h. rest: Authorize-with-Shared-Key */
#include "transfer/asker.h"

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

struct asker {
    const struct account_place *place;
    struct accounts *accounts;
    const struct account *account; /* NULL with a shared access signature */
    struct fetch_client *client;
    bool was_unheard;
    int64_t ahead; /* the service's clock minus the local one; ticks */
    char problem[PROBLEM_BYTES];
};

struct asker *asker_new(const struct account_place *place, const char *ca_path,
                        const char **ret_problem)
{
    const struct stored_account stored = {
        .name = place->account, .keys = { place->key }, .key_count = 1, .version = 1
    };
    struct asker *asker = xcalloc(1, sizeof *asker);

    asker->place = place;
    asker->accounts = accounts_new();
    asker->client = fetch_client_new(ca_path);
    *ret_problem = asker->client ? NULL : "libcurl cannot be loaded";
    if (place->key.ptr && accounts_put_stored(asker->accounts, &stored) == ACCOUNT_PUT)
        asker->account = accounts_find(asker->accounts, place->account);
    if (place->key.ptr && !asker->account)
        *ret_problem = "the account's name is invalid, or its key is not base64";
    if (!*ret_problem)
        return asker;
    asker_free(asker);
    return NULL;
}

void asker_free(struct asker *asker)
{
    if (!asker)
        return;
    fetch_client_free(asker->client);
    accounts_free(asker->accounts);
    free(asker);
}

const char *asker_problem(const struct asker *asker)
{
    return asker->problem;
}

bool asker_was_unheard(const struct asker *asker)
{
    return asker->was_unheard;
}

bool asker_has_service(const struct asker *asker, enum endpoint_kind service)
{
    return asker->place->urls[service].ptr != NULL;
}

instant asker_now(const struct asker *asker)
{
    return (instant)((int64_t)clock_unmoved() + asker->ahead);
}

bool asker_is_shared(const struct asker *asker)
{
    return !asker->account;
}

/* ---- signing ---- */

static void add_header(struct fetch_client_request *request, struct fetch_header *headers,
                       const char *name, struct bytes value)
{
    headers[request->header_count++] = (struct fetch_header){ bytes_from_string(name), value };
}

/* Returns the string to sign as the service will compute it. */
static struct bytes string_to_sign(const struct asker *asker, struct arena *arena,
                                   const struct asking *asking,
                                   const struct fetch_client_request *request)
{
    struct http_header *headers = arena_array(arena, request->header_count + 1, sizeof *headers);
    struct url url = { .path = { NULL, 0 } };
    struct request seen = { .method_text = bytes_from_string(asking->method), .headers = headers };
    struct auth_target target = { .account = asker->account,
                                  .name = asker->place->account,
                                  .service = service_names[asking->service][0] };

    (void)url_parse(request->url, &url);
    target.path = seen.path = url.path;
    seen.query = url.query;
    for (size_t i = 0; i < request->header_count; i++) {
        struct bytes name = arena_copy_lower(arena, request->headers[i].name);

        headers[seen.header_count++] = (struct http_header){
            .name = name, .value = bytes_trim(request->headers[i].value), .name_as_sent = name
        };
    }
    if (asking->body.ptr)
        headers[seen.header_count++] =
            (struct http_header){ .name = bytes_from_string("content-length"),
                                  .value = arena_printf(arena, "%zu", asking->body.len) };
    return shared_key_string(arena, &seen, &target);
}

static void sign(const struct asker *asker, struct arena *arena, const struct asking *asking,
                 struct fetch_client_request *request, struct fetch_header *headers)
{
    uint8_t signature[ACCOUNT_SIGNATURE_SIZE];
    struct bytes text;

    if (!asker->account)
        return;
    text = string_to_sign(asker, arena, asking, request);
    if (account_sign(asker->account, 0, text, signature))
        add_header(
            request, headers, "Authorization",
            arena_printf(arena, "SharedKey %.*s:%.*s", BYTES_ARG(asker->place->account),
                         BYTES_ARG(base64_encode(arena, bytes_of(signature, sizeof signature)))));
}

static struct bytes url_of(const struct asker *asker, struct arena *arena,
                           const struct asking *asking)
{
    struct bytes base = asker->place->urls[asking->service], sas = asker->place->sas;
    struct text url;

    text_init(&url, arena, base.len + asking->path.len + asking->query.len + 64);
    text_add(&url, base);
    text_add(&url, asking->path);
    if (asking->path.len == 0)
        text_add_char(&url, '/');
    if (asking->query.len > 0) {
        text_add_char(&url, '?');
        text_add(&url, asking->query);
    }
    if (!asker->account) {
        text_add_char(&url, asking->query.len > 0 ? '&' : '?');
        text_add(&url, sas);
    }
    return text_bytes(&url);
}

/* Always returns true. */
static bool note_date(struct asker *asker, const struct fetch_client_answer *answer)
{
    instant date;

    if (instant_parse_http(fetch_head_find(&answer->head, "date"), &date))
        asker->ahead = (int64_t)date - (int64_t)clock_unmoved();
    return true;
}

/* Sends the request once. Returns false if there is no response. */
static bool ask_once(struct asker *asker, struct arena *arena, const struct asking *asking,
                     struct fetch_client_answer *ret_answer)
{
    struct fetch_header headers[ASKER_HEADERS_MAX + SIGNED_MORE];
    struct fetch_client_request request = {
        .method = asking->method,
        .url = url_of(asker, arena, asking),
        .headers = headers,
        .header_count = asking->header_count,
        .body = asking->body,
        .answer_max =
            asking->range_bytes > 0 ? (size_t)asking->range_bytes + 4096 : ASKER_LISTING_MAX,
        .range_length = asking->range_bytes,
    };
    char date[INSTANT_HTTP_SIZE];

    if (asking->header_count > 0)
        memcpy(headers, asking->headers, asking->header_count * sizeof headers[0]);
    instant_format_http(clock_unmoved(), date);
    add_header(&request, headers, "x-ms-date", bytes_from_string(date));
    add_header(&request, headers, "x-ms-version",
               bytes_from_string(asking->service == ENDPOINT_TABLE ? "2019-02-02" : ASKER_VERSION));
    sign(asker, arena, asking, &request, headers);
    return fetch_client_ask(asker->client, arena, &request, ret_answer) &&
           note_date(asker, ret_answer);
}

/* ---- retries ---- */

static bool is_worth_a_try(const struct fetch_client_answer *answer)
{
    return answer->status == 429 || answer->status == 408 || answer->status == 500 ||
           answer->status == 502 || answer->status == 503 || answer->status == 504;
}

static void keep_problem(struct asker *asker, const struct asking *asking, bool answered,
                         const struct fetch_client_answer *answer)
{
    struct bytes code = fetch_head_find(&answer->head, "x-ms-error-code");

    if (answered)
        snprintf(asker->problem, sizeof asker->problem, "%s %s %.*s: %d %.*s", asking->method,
                 service_names[asking->service], BYTES_ARG(asking->path), answer->status,
                 BYTES_ARG(code));
    else
        snprintf(asker->problem, sizeof asker->problem, "%s %s %.*s: %s", asking->method,
                 service_names[asking->service], BYTES_ARG(asking->path),
                 fetch_client_problem(asker->client));
}

bool asker_ask(struct asker *asker, struct arena *arena, const struct asking *asking,
               struct fetch_client_answer *ret_answer)
{
    unsigned pause = PAUSE_MS;
    bool answered = false;

    *ret_answer = (struct fetch_client_answer){ .status = 0 };
    if (asking->header_count > ASKER_HEADERS_MAX) {
        snprintf(asker->problem, sizeof asker->problem, "%.*s has more than %u headers",
                 BYTES_ARG(asking->path), ASKER_HEADERS_MAX);
        return false;
    }
    for (unsigned i = 0; i < TRIES_MAX; i++) {
        if (i > 0) {
            thread_sleep_ns((uint64_t)pause * 1000000);
            pause *= 2;
        }
        answered = ask_once(asker, arena, asking, ret_answer);
        if ((answered && !is_worth_a_try(ret_answer)) || asking->is_probe)
            break;
    }
    asker->was_unheard = !answered;
    if (answered && (ret_answer->status / 100 == 2 || ret_answer->status == asking->accepted))
        return true;
    keep_problem(asker, asking, answered, ret_answer);
    return false;
}
