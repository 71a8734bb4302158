/* See fetch.h. Over libcurl's multi interface, so that the caller pulls the bytes at his own pace:
 * what has come lies in a buffer, and the transfer pauses while that is full. */
#include "fetch/fetch.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define BUFFER_BYTES   (1u << 20)
#define RECEIVE_BYTES  (256L << 10)
#define HEADERS_MAX    128u
#define HEAD_BYTES_MAX (64u << 10)
#define CONNECT_S      30L
/* Slower for so long: given up. */
#define RATE_MIN       1024L
#define RATE_S         60L
/* How soon a stop is noticed. */
#define LOOK_MS        200

struct fetcher {
    struct fetcher_options options;
    atomic_bool stopping;
};

struct fetch {
    struct fetcher *fetcher;
    struct arena *arena; /* the head */
    CURL *easy;
    CURLM *multi;
    struct curl_slist *headers_sent;
    bool over; /* the transfer; how: `code` */
    CURLcode code;
    bool refused;       /* an address was not permitted */
    bool head_complete; /* of the answer that is no redirect */
    long status;        /* of the head that is coming in */
    struct fetch_header headers[HEADERS_MAX];
    size_t header_count;
    size_t head_bytes;
    char *buffer;
    size_t begin, end; /* of what has not been read */
    bool paused;
    char problem[CURL_ERROR_SIZE];
};

struct fetcher *fetcher_new(const struct fetcher_options *options)
{
    struct fetcher *fetcher;

    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return NULL;
    fetcher = xcalloc(1, sizeof *fetcher);
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
    curl_global_cleanup();
    free(fetcher);
}

/* ---- what libcurl calls ---- */

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

static void begin_head(struct fetch *fetch, struct bytes line)
{
    struct bytes version, rest;
    uint64_t status = 0;

    bytes_cut(line, ' ', &version, &rest);
    if (rest.len >= 3)
        bytes_parse_u64(bytes_of(rest.ptr, 3), 999, &status);
    fetch->status = (long)status;
    fetch->header_count = 0;
}

static bool is_redirect(const struct fetch *fetch)
{
    return fetch->status / 100 == 3 && fetch->status != 304 && fetch_header(fetch, "location").ptr;
}

/* Of each head on the way: of redirects, of 100 Continue, of the answer. */
static size_t take_header(char *data, size_t size, size_t count, void *context)
{
    struct fetch *fetch = context;
    size_t length = size * count;
    struct bytes line = bytes_of(data, length), name, value;

    fetch->head_bytes += length;
    if (fetch->head_bytes > HEAD_BYTES_MAX)
        return 0;
    while (line.len > 0 && (line.ptr[line.len - 1] == '\n' || line.ptr[line.len - 1] == '\r'))
        line.len--;
    if (bytes_has_prefix(line, bytes_from_string("HTTP/"))) {
        begin_head(fetch, line);
    } else if (line.len == 0) {
        fetch->head_complete = fetch->status >= 200 && !is_redirect(fetch);
    } else if (!fetch->head_complete && fetch->header_count < HEADERS_MAX) {
        bytes_cut(line, ':', &name, &value);
        if (value.ptr)
            fetch->headers[fetch->header_count++] = (struct fetch_header){
                .name = arena_copy_lower(fetch->arena, bytes_trim(name)),
                .value = arena_copy(fetch->arena, bytes_trim(value)),
            };
    }
    return length;
}

static size_t take_body(char *data, size_t size, size_t count, void *context)
{
    struct fetch *fetch = context;
    size_t length = size * count;

    if (!fetch->head_complete)
        return length; /* of a redirect */
    if (fetch->begin == fetch->end)
        fetch->begin = fetch->end = 0;
    if (length > BUFFER_BYTES - fetch->end) {
        fetch->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    memcpy(fetch->buffer + fetch->end, data, length);
    fetch->end += length;
    return length;
}

/* ---- asking ---- */

static void add_headers(struct fetch *fetch, const struct fetch_asked *asked)
{
    for (size_t i = 0; i < asked->header_count; i++) {
        struct bytes line =
            arena_printf(fetch->arena, "%.*s: %.*s%c", BYTES_ARG(asked->headers[i].name),
                         BYTES_ARG(asked->headers[i].value), '\0');

        fetch->headers_sent = curl_slist_append(fetch->headers_sent, line.ptr);
    }
}

/* Every option that decides whom it talks to, and how long. */
static void set_options(struct fetch *fetch, const struct fetch_asked *asked)
{
    const char *url = arena_string(fetch->arena, asked->url);
    bool secure =
        bytes_has_prefix(arena_copy_lower(fetch->arena, asked->url), bytes_from_string("https:"));
    CURL *easy = fetch->easy;

    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_NOBODY, asked->head_only ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(easy, CURLOPT_MAXREDIRS, (long)FETCH_REDIRECTS_MAX);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, RATE_MIN);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, RATE_S);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT, (long)asked->seconds_max);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, RECEIVE_BYTES);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "Lagra/" LAGRA_VERSION);
    if (fetch->fetcher->options.ca_path)
        curl_easy_setopt(easy, CURLOPT_CAINFO, fetch->fetcher->options.ca_path);
    if (fetch->fetcher->options.trusts_all) {
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
}

static void set_callbacks(struct fetch *fetch)
{
    CURL *easy = fetch->easy;

    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fetch->headers_sent);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, fetch->problem);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, fetch);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, fetch);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, fetch);
}

/* Lets the transfer go on for a moment. */
static enum fetch_result step(struct fetch *fetch)
{
    int running = 0, left = 0;
    CURLMsg *message;

    if (atomic_load(&fetch->fetcher->stopping))
        return FETCH_STOPPED;
    if (curl_multi_perform(fetch->multi, &running) != CURLM_OK)
        return FETCH_FAILED;
    while ((message = curl_multi_info_read(fetch->multi, &left))) {
        fetch->over = true;
        fetch->code = message->data.result;
    }
    if (!fetch->over && fetch->begin == fetch->end && !fetch->paused &&
        curl_multi_poll(fetch->multi, NULL, 0, LOOK_MS, NULL) != CURLM_OK)
        return FETCH_FAILED;
    return FETCH_OK;
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
    fetch->arena = arena_new(1u << 20);
    fetch->buffer = xmalloc(BUFFER_BYTES);
    fetch->easy = curl_easy_init();
    fetch->multi = curl_multi_init();
    if (!fetch->easy || !fetch->multi)
        return FETCH_FAILED;
    add_headers(fetch, asked);
    set_options(fetch, asked);
    set_callbacks(fetch);
    if (curl_multi_add_handle(fetch->multi, fetch->easy) != CURLM_OK)
        return FETCH_FAILED;
    while (!result && !fetch->head_complete && !fetch->over)
        result = step(fetch);
    if (!result && (!fetch->head_complete || (fetch->over && fetch->code != CURLE_OK)))
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
            curl_easy_pause(fetch->easy, CURLPAUSE_CONT);
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
    return (int)fetch->status;
}

struct bytes fetch_header(const struct fetch *fetch, const char *name)
{
    for (size_t i = fetch->header_count; i > 0; i--) {
        if (bytes_is(fetch->headers[i - 1].name, name))
            return fetch->headers[i - 1].value;
    }
    return (struct bytes){ NULL, 0 };
}

size_t fetch_header_count(const struct fetch *fetch)
{
    return fetch->header_count;
}

struct fetch_header fetch_header_at(const struct fetch *fetch, size_t i)
{
    return fetch->headers[i];
}

const char *fetch_problem(const struct fetch *fetch)
{
    if (fetch->refused)
        return "its address is not permitted";
    if (fetch->problem[0])
        return fetch->problem;
    return curl_easy_strerror(fetch->code);
}

void fetch_close(struct fetch *fetch)
{
    if (fetch->multi && fetch->easy)
        curl_multi_remove_handle(fetch->multi, fetch->easy);
    if (fetch->easy)
        curl_easy_cleanup(fetch->easy);
    if (fetch->multi)
        curl_multi_cleanup(fetch->multi);
    curl_slist_free_all(fetch->headers_sent);
    free(fetch->buffer);
    arena_free(fetch->arena);
    free(fetch);
}
