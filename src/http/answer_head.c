/* See answer_head.h. */
#include "http/answer_head.h"

#include <assert.h>

#include "base/log.h"
#include "http/head.h"

/* rfc: 9110 15, 4918 11, 6585. decision: 40 */
static const struct {
    int status;
    struct bytes reason;
} reasons[] = {
    { 100, BYTES("Continue") },
    { 200, BYTES("OK") },
    { 201, BYTES("Created") },
    { 202, BYTES("Accepted") },
    { 203, BYTES("Non-Authoritative Information") },
    { 204, BYTES("No Content") },
    { 205, BYTES("Reset Content") },
    { 206, BYTES("Partial Content") },
    { 207, BYTES("Multi-Status") },
    { 300, BYTES("Multiple Choices") },
    { 301, BYTES("Moved Permanently") },
    { 302, BYTES("Found") },
    { 303, BYTES("See Other") },
    { 304, BYTES("Not Modified") },
    { 307, BYTES("Temporary Redirect") },
    { 308, BYTES("Permanent Redirect") },
    { 400, BYTES("Bad Request") },
    { 401, BYTES("Unauthorized") },
    { 402, BYTES("Payment Required") },
    { 403, BYTES("Forbidden") },
    { 404, BYTES("Not Found") },
    { 405, BYTES("Method Not Allowed") },
    { 406, BYTES("Not Acceptable") },
    { 408, BYTES("Request Timeout") },
    { 409, BYTES("Conflict") },
    { 410, BYTES("Gone") },
    { 411, BYTES("Length Required") },
    { 412, BYTES("Precondition Failed") },
    { 413, BYTES("Content Too Large") },
    { 414, BYTES("URI Too Long") },
    { 415, BYTES("Unsupported Media Type") },
    { 416, BYTES("Range Not Satisfiable") },
    { 417, BYTES("Expectation Failed") },
    { 421, BYTES("Misdirected Request") },
    { 422, BYTES("Unprocessable Content") },
    { 424, BYTES("Failed Dependency") },
    { 426, BYTES("Upgrade Required") },
    { 428, BYTES("Precondition Required") },
    { 429, BYTES("Too Many Requests") },
    { 431, BYTES("Request Header Fields Too Large") },
    { 500, BYTES("Internal Server Error") },
    { 501, BYTES("Not Implemented") },
    { 502, BYTES("Bad Gateway") },
    { 503, BYTES("Service Unavailable") },
    { 504, BYTES("Gateway Timeout") },
    { 505, BYTES("HTTP Version Not Supported") },
    { 507, BYTES("Insufficient Storage") },
};

struct bytes http_reason(int status)
{
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        if (reasons[i].status == status)
            return reasons[i].reason;
    }
    return (struct bytes)BYTES("Unknown");
}

void date_text_set(struct date_text *date, instant now)
{
    uint64_t second = instant_seconds(now);

    if (second == date->second)
        return;
    date->second = second;
    instant_format_http(now, date->text);
}

/* ---- headers that cannot be sent ---- */

/* Maximum size of the application's headers; the server's own need about 300 bytes */
#define HEADERS_BYTES_MAX (ANSWER_HEAD_BYTES - 1024)

/* Returns false for a value with control characters, or one longer than any request could have
 * stored. */
static bool can_be_sent(const struct http_header *header)
{
    return header->value.len <= HEAD_HEADERS_SIZE_MAX && !http_has_control(header->value, '\t');
}

static size_t line_size(const struct http_header *header)
{
    return header->name.len + header->value.len + sizeof ": \r\n" - 1;
}

static void drop(struct response *response, size_t i)
{
    const struct http_header *header = &response->headers[i];

    log_line(LOG_INFO, "response header %.*s omitted because it cannot be sent",
             BYTES_ARG(header->name));
    assert(i < response->header_count);
    response->header_count--;
    memmove(&response->headers[i], &response->headers[i + 1],
            (response->header_count - i) * sizeof *header);
}

static size_t longest(const struct response *response)
{
    size_t at = 0;

    for (size_t i = 1; i < response->header_count; i++) {
        if (line_size(&response->headers[i]) > line_size(&response->headers[at]))
            at = i;
    }
    return at;
}

void response_drop_unsendable(struct response *response)
{
    size_t size = 0;

    for (size_t i = response->header_count; i > 0; i--) {
        if (!can_be_sent(&response->headers[i - 1]))
            drop(response, i - 1);
        else
            size += line_size(&response->headers[i - 1]);
    }
    while (size > HEADERS_BYTES_MAX) {
        size_t at = longest(response);

        assert(response->header_count > 0 && line_size(&response->headers[at]) <= size);
        size -= line_size(&response->headers[at]);
        drop(response, at);
    }
}

/* ---- formatting ---- */

/* Writes text into a buffer that may be too small. */
struct writer {
    char *at;
    size_t room;
    bool failed;
};

static void put(struct writer *to, struct bytes text)
{
    if (text.len > to->room) {
        to->failed = true;
        return;
    }
    if (text.len > 0)
        memcpy(to->at, text.ptr, text.len);
    to->at += text.len;
    to->room -= text.len;
}

static void put_literal(struct writer *to, const char *text)
{
    put(to, bytes_from_string(text));
}

static void put_number(struct writer *to, uint64_t number)
{
    char digits[DECIMAL_DIGITS];

    put(to, bytes_decimal(number, digits));
}

static void put_header(struct writer *to, const struct http_header *header)
{
    put(to, header->name);
    put_literal(to, ": ");
    put(to, header->value);
    put_literal(to, "\r\n");
    to->failed |= !can_be_sent(header);
}

size_t answer_head_write(const struct response *response, const struct date_text *date,
                         enum connection_header connection, char *to, size_t room)
{
    struct writer w = { .at = to, .room = room };

    assert(response->header_count <= response->header_capacity);
    put_literal(&w, "HTTP/1.1 ");
    put_number(&w, (uint64_t)response->status);
    put_literal(&w, " ");
    put(&w, http_reason(response->status));
    put_literal(&w, "\r\nDate: ");
    put(&w, bytes_of(date->text, INSTANT_HTTP_SIZE - 1));
    if (connection == CONNECTION_CLOSE)
        put_literal(&w, "\r\nConnection: close");
    else if (connection == CONNECTION_KEEP_ALIVE)
        put_literal(&w, "\r\nConnection: Keep-Alive");
    put_literal(&w, "\r\n");
    for (size_t i = 0; i < response->header_count; i++)
        put_header(&w, &response->headers[i]);
    if (!status_has_no_body(response->status)) {
        put_literal(&w, "Content-Length: ");
        put_number(&w, response_length(response));
        put_literal(&w, "\r\n");
    }
    put_literal(&w, "\r\n");
    assert((size_t)(w.at - to) + w.room == room);
    return w.failed ? 0 : (size_t)(w.at - to);
}
