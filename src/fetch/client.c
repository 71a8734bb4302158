/* See client.h. Uses libcurl's easy interface, whose handle keeps the connection open. */
#include "fetch/client.h"

#include <stdlib.h>

#include "fetch/curl.h"

#define PATIENCE_S 60L
#define RATE_MIN   1024L

struct fetch_client {
    const struct curl_library *curl;
    CURL *easy;
    const char *ca_path;
    struct fetch_client_answer *answer; /* of the current request */
    struct text body;
    size_t answer_max;
    bool is_nonsense, is_too_long, is_unsendable;
    CURLcode code;
    char problem[CURL_ERROR_SIZE];
};

struct fetch_client *fetch_client_new(const char *ca_path)
{
    const struct curl_library *curl = curl_library_load();
    CURL *easy = curl ? curl->easy_init() : NULL;
    struct fetch_client *client;

    if (!easy)
        return NULL;
    client = xcalloc(1, sizeof *client);
    client->curl = curl;
    client->easy = easy;
    client->ca_path = ca_path;
    return client;
}

void fetch_client_free(struct fetch_client *client)
{
    if (!client)
        return;
    client->curl->easy_cleanup(client->easy);
    free(client);
}

static size_t take_header(char *data, size_t size, size_t count, void *context)
{
    struct fetch_client *client = context;

    client->is_nonsense = !fetch_head_line(&client->answer->head, bytes_of(data, size * count));
    return client->is_nonsense ? 0 : size * count;
}

static size_t take_body(char *data, size_t size, size_t count, void *context)
{
    struct fetch_client *client = context;
    size_t length = size * count;

    client->is_too_long = length > client->answer_max - client->body.len;
    if (client->is_too_long)
        return 0;
    text_add(&client->body, bytes_of(data, length));
    return length;
}

static bool is_sendable(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];

        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

/* Adds the headers; one without a value is written as "Name;", libcurl's syntax for it. Returns
 * false if one cannot be sent. */
static bool add_headers(const struct fetch_client *client, struct arena *arena,
                        const struct fetch_client_request *request, struct curl_slist **headers)
{
    bool has_type = false;

    for (size_t i = 0; i < request->header_count; i++) {
        const struct fetch_header *header = &request->headers[i];
        struct bytes line;

        has_type |= bytes_is_nocase(header->name, "content-type");

        if (header->name.len == 0 || !is_sendable(header->name) || !is_sendable(header->value) ||
            memchr(header->name.ptr, ':', header->name.len))
            return false;
        if (header->value.len == 0)
            line = arena_printf(arena, "%.*s;%c", BYTES_ARG(header->name), '\0');
        else
            line = arena_printf(arena, "%.*s: %.*s%c", BYTES_ARG(header->name),
                                BYTES_ARG(header->value), '\0');
        *headers = client->curl->slist_append(*headers, line.ptr);
    }
    /* Disable libcurl's own headers: Expect, and the form Content-Type. */
    *headers = client->curl->slist_append(*headers, "Expect:");
    if (!has_type)
        *headers = client->curl->slist_append(*headers, "Content-Type:");
    return true;
}

static void set_request(const struct fetch_client *client, struct arena *arena,
                        const struct fetch_client_request *request, struct curl_slist *headers)
{
    const struct curl_library *curl = client->curl;
    CURL *easy = client->easy;

    curl->easy_reset(easy);
    curl->easy_setopt(easy, CURLOPT_URL, arena_string(arena, request->url));
    curl->easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    if (request->body.ptr) {
        curl->easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
        curl->easy_setopt(easy, CURLOPT_POSTFIELDS, request->body.ptr);
    }
    if (strcmp(request->method, "HEAD") == 0)
        curl->easy_setopt(easy, CURLOPT_NOBODY, 1L);
    else
        curl->easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
}

/* Sets the server, the time limits, and the callbacks for the response. */
static void set_options(struct fetch_client *client)
{
    const struct curl_library *curl = client->curl;
    CURL *easy = client->easy;

    curl_set_common(curl, easy, client->ca_path, client->problem);
    curl->easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, RATE_MIN);
    curl->easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, PATIENCE_S);
    curl->easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    curl->easy_setopt(easy, CURLOPT_HEADERDATA, client);
    curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl->easy_setopt(easy, CURLOPT_WRITEDATA, client);
}

bool fetch_client_ask(struct fetch_client *client, struct arena *arena,
                      const struct fetch_client_request *request,
                      struct fetch_client_answer *ret_answer)
{
    struct curl_slist *headers = NULL;

    *ret_answer = (struct fetch_client_answer){ .head.arena = arena };
    client->answer = ret_answer;
    client->answer_max = request->answer_max;
    client->is_nonsense = client->is_too_long = false;
    client->code = CURLE_OK;
    client->problem[0] = '\0';
    text_init(&client->body, arena,
              request->range_length > 0 ? (size_t)request->range_length : 1024);
    client->is_unsendable = !add_headers(client, arena, request, &headers);
    if (!client->is_unsendable) {
        set_request(client, arena, request, headers);
        set_options(client);
        client->code = client->curl->easy_perform(client->easy);
    }
    client->curl->slist_free_all(headers);
    ret_answer->status = ret_answer->head.status;
    ret_answer->body = text_bytes(&client->body);
    return !client->is_unsendable && client->code == CURLE_OK && ret_answer->status >= 200;
}

const char *fetch_client_problem(const struct fetch_client *client)
{
    if (client->is_unsendable)
        return "a value contains a character that is invalid in a header";
    if (client->is_nonsense)
        return "the response header is malformed or too long";
    if (client->is_too_long)
        return "the response is too long";
    if (client->problem[0])
        return client->problem;
    return client->curl->easy_strerror(client->code);
}
