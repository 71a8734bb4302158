/* See fetch.h. Uses libcurl's multi interface, so that the caller pulls the bytes at its own pace:
 * received bytes are buffered, and the transfer pauses while the buffer is full. */
#include "fetch/head.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "fetch/curl.h"

#define BUFFER_BYTES       (1u << 20)
#define RECEIVE_BYTES      (256L << 10)
/* Maximum body of a redirect. */
#define REDIRECT_BYTES_MAX (256L << 10)
/* Maximum delay until a stop is noticed. */
#define LOOK_MS            200

struct fetcher {
    struct fetcher_options options;
    atomic_bool stopping;
};

struct fetch {
    struct fetcher *fetcher;
    const struct curl_library *curl; /* NULL if it cannot be loaded */
    struct arena *arena;             /* for the response header and the request */
    CURL *easy;
    CURLM *multi;
    struct curl_slist *headers_sent;
    bool over; /* the transfer has finished, with result `code` */
    CURLcode code;
    bool refused;     /* an address was not permitted */
    bool is_nonsense; /* the header is malformed or too long */
    struct fetch_head head;
    char *buffer;
    size_t begin, end; /* of unread bytes in the buffer */
    bool paused;
    uint64_t waited_ns; /* time spent waiting in the current measuring interval */
    uint64_t came;      /* bytes received in that interval */
    bool is_slow;
    char problem[CURL_ERROR_SIZE];
};

struct fetcher *fetcher_new(const struct fetcher_options *options)
{
    struct fetcher *fetcher = xcalloc(1, sizeof *fetcher);

    fetcher->options = *options;
    atomic_init(&fetcher->stopping, false);
    return fetcher;
}

void fetcher_stop(struct fetcher *fetcher)
{
    atomic_store(&fetcher->stopping, true);
}

void fetcher_free(struct fetcher *fetcher)
{
    curl_library_release();
    free(fetcher);
}

/* ---- callbacks for libcurl ---- */

static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct fetch *fetch = context;
    const struct fetcher_options *options = &fetch->fetcher->options;

    if (purpose != CURLSOCKTYPE_IPCXN ||
        (!options->trusts_all && !addresses_permit(&options->allowed, &address->addr))) {
        fetch->refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* Called for each header line of redirects, of 100 Continue, of the response, and for trailers. */
static size_t take_header(char *data, size_t size, size_t count, void *context)
{
    struct fetch *fetch = context;
    size_t length = size * count;

    fetch->is_nonsense = !fetch_head_line(&fetch->head, bytes_of(data, length));
    return fetch->is_nonsense ? 0 : length;
}

static size_t take_body(char *data, size_t size, size_t count, void *context)
{
    struct fetch *fetch = context;
    size_t length = size * count;

    if (!fetch->head.is_complete) {
        fetch->is_nonsense = true; /* libcurl does not pass bodies of redirects */
        return 0;
    }
    if (fetch->begin == fetch->end)
        fetch->begin = fetch->end = 0;
    if (length > BUFFER_BYTES - fetch->end) {
        fetch->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    memcpy(fetch->buffer + fetch->end, data, length);
    fetch->end += length;
    fetch->came += length;
    return length;
}

/* ---- requests ---- */

static void add_headers(struct fetch *fetch, const struct fetch_asked *asked)
{
    for (size_t i = 0; i < asked->header_count; i++) {
        struct bytes line =
            arena_printf(fetch->arena, "%.*s: %.*s%c", BYTES_ARG(asked->headers[i].name),
                         BYTES_ARG(asked->headers[i].value), '\0');

        fetch->headers_sent = fetch->curl->slist_append(fetch->headers_sent, line.ptr);
    }
}

/* Sets all options that determine the destination and the duration. */
static void set_options(struct fetch *fetch, const struct fetch_asked *asked)
{
    const char *url = arena_string(fetch->arena, asked->url);
    bool secure =
        bytes_has_prefix(arena_copy_lower(fetch->arena, asked->url), bytes_from_string("https:"));
    const struct curl_library *curl = fetch->curl;
    CURL *easy = fetch->easy;

    curl_set_common(curl, easy, fetch->fetcher->options.ca_path, fetch->problem);
    curl->easy_setopt(easy, CURLOPT_URL, url);
    curl->easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
    curl->easy_setopt(easy, CURLOPT_HAPROXYPROTOCOL, asked->introduces ? 1L : 0L);
    curl->easy_setopt(easy, CURLOPT_NOBODY, asked->head_only ? 1L : 0L);
    curl->easy_setopt(easy, CURLOPT_CUSTOMREQUEST, asked->method);
    curl->easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
    curl->easy_setopt(easy, CURLOPT_MAXREDIRS, (long)FETCH_REDIRECTS_MAX);
    curl->easy_setopt(easy, CURLOPT_TIMEOUT, (long)asked->seconds_max);
    curl->easy_setopt(easy, CURLOPT_BUFFERSIZE, RECEIVE_BYTES);
    if (fetch->fetcher->options.local_path)
        curl->easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, fetch->fetcher->options.local_path);
    if (asked->body.ptr) {
        curl->easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)asked->body.len);
        curl->easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, asked->body.ptr);
    }
    if (fetch->fetcher->options.trusts_all) {
        curl->easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl->easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
}

static void set_callbacks(struct fetch *fetch)
{
    const struct curl_library *curl = fetch->curl;
    CURL *easy = fetch->easy;

    curl->easy_setopt(easy, CURLOPT_HTTPHEADER, fetch->headers_sent);
    curl->easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl->easy_setopt(easy, CURLOPT_OPENSOCKETDATA, fetch);
    curl->easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    curl->easy_setopt(easy, CURLOPT_HEADERDATA, fetch);
    curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl->easy_setopt(easy, CURLOPT_WRITEDATA, fetch);
}

/* libcurl reads the bodies of redirects to their ends, which may be large. */
static bool has_too_much_before_head(const struct fetch *fetch)
{
    curl_off_t passed_over = 0;

    if (fetch->head.is_complete || fetch->over ||
        fetch->curl->easy_getinfo(fetch->easy, CURLINFO_SIZE_DOWNLOAD_T, &passed_over) != CURLE_OK)
        return false;
    return passed_over > REDIRECT_BYTES_MAX;
}

/* Waits briefly for bytes. */
static bool wait_for_bytes(struct fetch *fetch)
{
    uint64_t from = clock_monotonic_ns();
    bool polled = fetch->curl->multi_poll(fetch->multi, NULL, 0, LOOK_MS, NULL) == CURLM_OK;

    fetch->waited_ns += clock_monotonic_ns() - from;
    return polled;
}

/* The rate is measured per interval: an average over the entire transfer would let one that started
 * fast stall for days. */
static bool is_slow(struct fetch *fetch)
{
    const struct fetcher_options *options = &fetch->fetcher->options;
    uint64_t timeout_ms = options->timeout_ms > 0 ? options->timeout_ms : FETCH_PATIENCE_MS;

    if (fetch->waited_ns < timeout_ms * 1000000u)
        return false;
    fetch->is_slow = fetch->came < timeout_ms * FETCH_RATE_MIN / 1000;
    fetch->waited_ns = fetch->came = 0;
    return fetch->is_slow;
}

/* Runs one iteration of the transfer. */
static enum fetch_result step(struct fetch *fetch)
{
    int running = 0, left = 0;
    CURLMsg *message;

    if (atomic_load(&fetch->fetcher->stopping))
        return FETCH_STOPPED;
    if (fetch->curl->multi_perform(fetch->multi, &running) != CURLM_OK)
        return FETCH_FAILED;
    while ((message = fetch->curl->multi_info_read(fetch->multi, &left))) {
        fetch->over = true;
        fetch->code = message->data.result;
    }
    if (has_too_much_before_head(fetch)) {
        fetch->is_nonsense = true;
        return FETCH_FAILED;
    }
    if (fetch->over || fetch->begin != fetch->end || fetch->paused)
        return FETCH_OK;
    return wait_for_bytes(fetch) && !is_slow(fetch) ? FETCH_OK : FETCH_FAILED;
}

static enum fetch_result ended(const struct fetch *fetch)
{
    if (fetch->refused || fetch->code == CURLE_TOO_MANY_REDIRECTS ||
        fetch->code == CURLE_UNSUPPORTED_PROTOCOL)
        return FETCH_REFUSED;
    return FETCH_FAILED;
}

enum fetch_result fetch_open(struct fetcher *fetcher, const struct fetch_asked *asked,
                             struct fetch **ret_fetch)
{
    struct fetch *fetch = xcalloc(1, sizeof *fetch);
    enum fetch_result result = FETCH_OK;

    *ret_fetch = fetch;
    fetch->fetcher = fetcher;
    fetch->arena = fetch->head.arena = arena_new(1u << 20);
    fetch->buffer = xmalloc(BUFFER_BYTES);
    fetch->curl = curl_library_load();
    if (!fetch->curl)
        return FETCH_FAILED;
    fetch->easy = fetch->curl->easy_init();
    fetch->multi = fetch->curl->multi_init();
    if (!fetch->easy || !fetch->multi)
        return FETCH_FAILED;
    add_headers(fetch, asked);
    set_options(fetch, asked);
    set_callbacks(fetch);
    if (fetch->curl->multi_add_handle(fetch->multi, fetch->easy) != CURLM_OK)
        return FETCH_FAILED;
    while (!result && !fetch->head.is_complete && !fetch->over)
        result = step(fetch);
    if (!result && (!fetch->head.is_complete || (fetch->over && fetch->code != CURLE_OK)))
        result = ended(fetch);
    return result;
}

enum fetch_result fetch_read(struct fetch *fetch, char *to, size_t max, size_t *ret_count)
{
    *ret_count = 0;
    while (fetch->begin == fetch->end && !fetch->over) {
        enum fetch_result result;

        if (fetch->paused) {
            fetch->paused = false;
            fetch->curl->easy_pause(fetch->easy, CURLPAUSE_CONT);
        }
        result = step(fetch);
        if (result)
            return result;
    }
    if (fetch->begin == fetch->end)
        return fetch->code == CURLE_OK ? FETCH_OK : ended(fetch);
    *ret_count = fetch->end - fetch->begin < max ? fetch->end - fetch->begin : max;
    memcpy(to, fetch->buffer + fetch->begin, *ret_count);
    fetch->begin += *ret_count;
    return FETCH_OK;
}

int fetch_status(const struct fetch *fetch)
{
    return fetch->head.status;
}

struct bytes fetch_header(const struct fetch *fetch, const char *name)
{
    return fetch_head_find(&fetch->head, name);
}

size_t fetch_header_count(const struct fetch *fetch)
{
    return fetch->head.header_count;
}

struct fetch_header fetch_header_at(const struct fetch *fetch, size_t i)
{
    return fetch->head.headers[i];
}

const char *fetch_problem(const struct fetch *fetch)
{
    if (fetch->refused)
        return "the address is not permitted";
    if (fetch->is_nonsense)
        return "the response header is malformed or too long";
    if (!fetch->curl)
        return "libcurl cannot be loaded";
    if (fetch->is_slow)
        return "the transfer is too slow";
    if (fetch->problem[0])
        return fetch->problem;
    return fetch->curl->easy_strerror(fetch->code);
}

void fetch_close(struct fetch *fetch)
{
    if (fetch->multi && fetch->easy)
        fetch->curl->multi_remove_handle(fetch->multi, fetch->easy);
    if (fetch->easy)
        fetch->curl->easy_cleanup(fetch->easy);
    if (fetch->multi)
        fetch->curl->multi_cleanup(fetch->multi);
    if (fetch->headers_sent)
        fetch->curl->slist_free_all(fetch->headers_sent);
    free(fetch->buffer);
    arena_free(fetch->arena);
    free(fetch);
}
