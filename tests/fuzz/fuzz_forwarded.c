/* Headers of a request that a trusted proxy sent: a line each, "name: value". What is refused is 400; what is read
 * lies in the headers, and the client is no trusted proxy where somebody else was named. */
#include <stdlib.h>

#include "fuzz.h"
#include "http/forwarded.h"

#define LINES_MAX 64u

static const char *const names[] = { "forwarded", "x-forwarded-for", "x-forwarded-proto",
                                     "x-forwarded-host" };

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* A line's first character says which header it is of. */
static size_t read_lines(struct bytes text, struct http_header headers[LINES_MAX])
{
    size_t count = 0;

    while (text.ptr && text.len > 0 && count < LINES_MAX) {
        struct bytes line;

        bytes_cut(text, '\n', &line, &text);
        if (line.len == 0)
            continue;
        headers[count].name = bytes_from_string(names[(unsigned char)line.ptr[0] % 4]);
        headers[count++].value = bytes_trim(bytes_from(line, 1));
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct http_header headers[LINES_MAX];
    struct bytes text = bytes_of(size > 0 ? (const void *)data : "", size);
    struct request request = { .headers = headers, .header_count = read_lines(text, headers) };
    struct address_list proxies = { .count = 0 };
    struct forwarded f;
    int refusal;

    require(address_list_parse(bytes_from_string("10.0.0.0/8"), &proxies));
    refusal = forwarded_read(&request, &proxies, &f);
    require(refusal == 0 || refusal == 400);
    if (refusal != 0)
        return 0;
    require(!f.host.ptr || (f.host.len > 0 && f.host.ptr >= text.ptr &&
                            f.host.ptr + f.host.len <= text.ptr + text.len));
    require(!f.client_is_known || f.has_client);
    return 0;
}
