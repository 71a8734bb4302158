/* See echo.h. */
#include "echo.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define ECHO_MAGIC 0x6563686Fu
#define SIP_BYTES  1000u

struct echo {
    unsigned magic;
    struct exchange *exchange;
    struct echo *next; /* in the list of paused ones */
    struct text body;
    bool paused_head;
    bool paused_body; /* the pause before the coming run of bytes is over */
    bool paused_end;
    bool paused_source;
    struct body_source source; /* see echo_of_source() */
    uint64_t length;
};

static char bytes_made[ECHO_BYTES_MAX];
static FILE *file_made;
static _Atomic unsigned heads;
static _Atomic unsigned dones;

/* ---- the thread that ends pauses ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_t resumer;
static struct echo *paused;   /* under lock */
static unsigned paused_count; /* under lock */
static bool holds;            /* under lock */
static bool ends;             /* under lock */

static void *resumer_run(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    while (!ends || paused) {
        struct echo *list = paused;

        if (!list || holds) {
            pthread_cond_wait(&changed, &lock);
            continue;
        }
        paused = NULL;
        paused_count = 0;
        pthread_mutex_unlock(&lock);
        while (list) {
            struct echo *next = list->next; /* the exchange may be gone after the resume */

            exchange_resume(list->exchange);
            list = next;
        }
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static enum http_step pause_now(struct echo *echo)
{
    exchange_suspend(echo->exchange);
    pthread_mutex_lock(&lock);
    echo->next = paused;
    paused = echo;
    paused_count++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return HTTP_WAIT;
}

/* ---- pauses until the worker's round of turns is over ---- */

static _Thread_local struct echo *of_round;

static void on_round(void)
{
    struct echo *list = of_round;

    of_round = NULL;
    while (list) {
        struct echo *next = list->next; /* the exchange may be gone after the resume */

        exchange_resume(list->exchange);
        list = next;
    }
}

static enum http_step pause_for_round(struct echo *echo)
{
    exchange_suspend(echo->exchange);
    echo->next = of_round;
    of_round = echo;
    return HTTP_WAIT;
}

static void hold(bool held)
{
    pthread_mutex_lock(&lock);
    holds = held;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

void echo_hold(void)
{
    hold(true);
}

void echo_release(void)
{
    hold(false);
}

unsigned echo_held(void)
{
    unsigned count;

    pthread_mutex_lock(&lock);
    count = paused_count;
    pthread_mutex_unlock(&lock);
    return count;
}

/* ---- what the request says ---- */

static bool says(const struct exchange *exchange, const char *word)
{
    struct bytes rest = exchange->request.query;
    struct bytes one;

    while (rest.ptr) {
        bytes_cut(rest, '&', &one, &rest);
        if (bytes_is(one, word))
            return true;
    }
    return false;
}

static bool asks_for(const struct exchange *exchange, const char *prefix)
{
    return bytes_has_prefix(exchange->request.path, bytes_from_string(prefix));
}

/* The number after the prefix, and the one after a further '/'. */
static void numbers(const struct exchange *exchange, const char *prefix, uint64_t *ret_first,
                    uint64_t *ret_second)
{
    struct bytes first;
    struct bytes second;

    *ret_first = *ret_second = 0;
    bytes_cut(bytes_from(exchange->request.path, strlen(prefix)), '/', &first, &second);
    bytes_parse_u64(first, ECHO_BYTES_MAX, ret_first);
    bytes_parse_u64(second, ECHO_BYTES_MAX, ret_second);
}

static struct echo *echo_of(struct exchange *exchange)
{
    struct echo *echo = exchange->application;

    assert(echo && echo->magic == ECHO_MAGIC);
    return echo;
}

/* ---- answers ---- */

static enum http_step respond(struct exchange *exchange, int status, struct bytes body)
{
    struct response *response = &exchange->response;

    response->status = status;
    response_header_string(response, "Content-Type", "text/plain");
    response_header_string(response, "x-ms-version", "2025-11-05");
    response_header_string(response, "x-empty", "");
    response->body_kind = body.len > 0 ? BODY_BYTES : BODY_NONE;
    response->body = body;
    return HTTP_RESPOND;
}

static struct bytes describe(struct exchange *exchange)
{
    const struct request *request = &exchange->request;
    struct text text;

    text_init(&text, exchange->arena, 1024);
    text_printf(&text, "%.*s\n%.*s\n", BYTES_ARG(request->method_text), BYTES_ARG(request->path));
    if (request->query.ptr)
        text_printf(&text, "?%.*s\n", BYTES_ARG(request->query));
    for (size_t i = 0; i < request->header_count; i++) {
        const struct http_header *h = &request->headers[i];

        text_printf(&text, "%.*s (%.*s): %.*s\n", BYTES_ARG(h->name), BYTES_ARG(h->name_as_sent),
                    BYTES_ARG(h->value));
    }
    return text_bytes(&text);
}

static struct echo *echo_of_source(struct body_source *source)
{
    return (struct echo *)(void *)((char *)source - offsetof(struct echo, source));
}

static long read_source(struct body_source *source, uint64_t at, char *to, size_t max)
{
    struct echo *echo = echo_of_source(source);

    if (says(echo->exchange, "source")) {
        echo->paused_source = !echo->paused_source;
        if (echo->paused_source) {
            pause_now(echo);
            return BODY_WAIT;
        }
    }
    if (says(echo->exchange, "fail") && at >= echo->length / 2)
        return BODY_FAILED;
    if (says(echo->exchange, "sip") && max > SIP_BYTES)
        max = SIP_BYTES;
    memcpy(to, bytes_made + at, max);
    return (long)max;
}

static enum http_step respond_stream(struct echo *echo)
{
    struct exchange *exchange = echo->exchange;
    struct response *response = &exchange->response;
    uint64_t first;
    uint64_t second;

    respond(exchange, 200, bytes_of("", 0));
    if (asks_for(exchange, "/file/")) {
        numbers(exchange, "/file/", &first, &second);
        response->body_kind = BODY_FILE;
        response->fd = fileno(file_made);
        response->fd_offset = first;
        response->body_length = second;
    } else {
        numbers(exchange, "/source/", &first, &second);
        echo->source.read = read_source;
        echo->length = first;
        response->body_kind = BODY_SOURCE;
        response->source = &echo->source;
        response->body_length = first;
    }
    return HTTP_RESPOND;
}

/* ---- the application ---- */

static enum http_step on_head(struct exchange *exchange)
{
    struct echo *echo = exchange->application;

    if (!echo) {
        atomic_fetch_add(&heads, 1);
        echo = arena_alloc(exchange->arena, sizeof *echo);
        echo->magic = ECHO_MAGIC;
        echo->exchange = exchange;
        text_init(&echo->body, exchange->arena, 0);
        exchange->application = echo;
    }
    if (exchange->server_is_busy)
        return respond(exchange, 503, (struct bytes)BYTES("busy"));
    if (says(exchange, "trust"))
        exchange_authenticate(exchange);
    if (says(exchange, "head") && !echo->paused_head) {
        echo->paused_head = true;
        return pause_now(echo);
    }
    if (bytes_is(exchange->request.path, "/cut"))
        return HTTP_CUT;
    if (bytes_is(exchange->request.path, "/refuse"))
        return respond(exchange, 403, (struct bytes)BYTES("refused"));
    return HTTP_WANT_BODY;
}

static enum http_step on_body(struct exchange *exchange, struct bytes data, size_t *ret_taken)
{
    struct echo *echo = echo_of(exchange);

    *ret_taken = 0;
    if (says(exchange, "body") && !echo->paused_body) {
        echo->paused_body = true;
        return pause_now(echo);
    }
    echo->paused_body = false;
    if (bytes_is(exchange->request.path, "/refuse-late"))
        return respond(exchange, 409, (struct bytes)BYTES("refused late"));
    if (says(exchange, "sip") && data.len > SIP_BYTES)
        data.len = SIP_BYTES;
    text_add(&echo->body, data);
    *ret_taken = data.len;
    if (says(exchange, "after"))
        return pause_now(echo);
    return HTTP_WANT_BODY;
}

/* What comes with a blob. */
static const char *const blob_headers[][2] = {
    { "Last-Modified", "Sat, 21 Nov 2026 07:44:39 GMT" },
    { "ETag", "\"0x8DE28F0A1B2C3D4\"" },
    { "Content-MD5", "XUFAKrxLKna5cZ2REBfFkg==" },
    { "Accept-Ranges", "bytes" },
    { "Server", "Lagra" },
    { "x-ms-request-id", "6f1d7a3c-001e-0040-1234-5b6c7d000000" },
    { "x-ms-client-request-id", "3f2c1b0a-7777-4b4b-9c9c-1234567890ab" },
    { "x-ms-lease-status", "unlocked" },
    { "x-ms-lease-state", "available" },
    { "x-ms-blob-type", "BlockBlob" },
    { "x-ms-server-encrypted", "true" },
    { "x-ms-creation-time", "Sat, 21 Nov 2026 07:44:39 GMT" },
};

static enum http_step on_end(struct exchange *exchange)
{
    struct echo *echo = echo_of(exchange);
    uint64_t first;
    uint64_t second;

    if (says(exchange, "end") && !echo->paused_end) {
        echo->paused_end = true;
        return pause_now(echo);
    }
    if (says(exchange, "round") && !echo->paused_end) {
        echo->paused_end = true;
        if (exchange->others_follow)
            return pause_for_round(echo);
        on_round();
    }
    if (says(exchange, "blob-headers")) {
        for (size_t i = 0; i < sizeof blob_headers / sizeof blob_headers[0]; i++)
            response_header_string(&exchange->response, blob_headers[i][0], blob_headers[i][1]);
    }
    if (says(exchange, "large-headers")) {
        for (int i = 0; i < 64; i++)
            response_header(&exchange->response, arena_printf(exchange->arena, "x-large-%d", i),
                            bytes_of(bytes_made, 100));
    }
    if (asks_for(exchange, "/echo"))
        return respond(exchange, 200, text_bytes(&echo->body));
    if (asks_for(exchange, "/request"))
        return respond(exchange, 200, describe(exchange));
    if (asks_for(exchange, "/file/") || asks_for(exchange, "/source/"))
        return respond_stream(echo);
    if (asks_for(exchange, "/bytes/")) {
        numbers(exchange, "/bytes/", &first, &second);
        return respond(exchange, 200, bytes_of(bytes_made, (size_t)first));
    }
    return respond(exchange, 404, bytes_of("", 0));
}

static void on_done(struct exchange *exchange)
{
    echo_of(exchange)->magic = 0;
    atomic_fetch_add(&dones, 1);
}

const struct http_application echo_application = {
    .head = on_head,
    .body = on_body,
    .end = on_end,
    .done = on_done,
    .round = on_round,
};

unsigned echo_heads(void)
{
    return atomic_load(&heads);
}

unsigned echo_dones(void)
{
    return atomic_load(&dones);
}

const char *echo_bytes(void)
{
    return bytes_made;
}

void echo_start(void)
{
    size_t written;
    int result;

    for (size_t i = 0; i < ECHO_BYTES_MAX; i++)
        bytes_made[i] = (char)('a' + i % 26);
    file_made = tmpfile();
    assert(file_made);
    written = fwrite(bytes_made, 1, ECHO_BYTES_MAX, file_made);
    result = fflush(file_made);
    assert(written == ECHO_BYTES_MAX && result == 0);
    ends = false;
    result = pthread_create(&resumer, NULL, resumer_run, NULL);
    assert(result == 0);
}

void echo_stop(void)
{
    pthread_mutex_lock(&lock);
    ends = true;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(resumer, NULL);
    fclose(file_made);
}
