/* A request as it comes in by a connection: its head, and behind it a body in chunks. However the
 * bytes are cut into pieces, the same is found; what is read lies in the head, and is read again
 * from its own text. */
#include <stdlib.h>

#include "fuzz.h"
#include "http/chunks.h"
#include "http/head.h"
#include "http/request.h"

#define CUTS_MAX 600u /* longer inputs are not cut in two at every place */

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* ---- heads ---- */

static enum head_found find_by_pieces(struct bytes input, size_t first, size_t step,
                                      struct head_scan *scan)
{
    enum head_found found = HEAD_PART;

    *scan = (struct head_scan){ .begin = 0 };
    for (size_t there = first; found == HEAD_PART; there += step) {
        found = head_find(scan, bytes_of(input.ptr, there < input.len ? there : input.len));
        if (there >= input.len)
            break;
    }
    return found;
}

static void check_cut(struct bytes input, size_t first, size_t step, enum head_found found,
                      const struct head_scan *expected)
{
    struct head_scan scan;

    require(find_by_pieces(input, first, step, &scan) == found);
    require(scan.begin == expected->begin && scan.lines == expected->lines &&
            scan.end == expected->end && scan.line == expected->line);
}

/* Empty lines before the head are dropped meanwhile, as the server does it. */
static void check_dropping(struct bytes input, enum head_found found,
                           const struct head_scan *expected)
{
    struct head_scan scan = { .begin = 0 };
    enum head_found seen = HEAD_PART;
    size_t dropped = 0;

    for (size_t there = 1; there <= input.len && seen == HEAD_PART; there++) {
        size_t begin = scan.begin;

        head_forget(&scan, begin);
        dropped += begin;
        seen = head_find(&scan, bytes_of(input.ptr + dropped, there - dropped));
    }
    require(seen == found);
    require(found != HEAD_WHOLE ||
            (scan.begin + dropped == expected->begin && scan.end + dropped == expected->end));
}

static bool lies_in(struct bytes part, struct bytes whole)
{
    return part.ptr >= whole.ptr && part.ptr + part.len <= whole.ptr + whole.len;
}

static void check_request(const struct request *request, struct bytes head)
{
    require(lies_in(request->method_text, head) && request->method_text.len > 0);
    require(lies_in(request->path, head) || bytes_is(request->path, "/"));
    require(request->path.ptr[0] == '/' && !memchr(request->path.ptr, '#', request->path.len));
    require(!request->authority.ptr ||
            (lies_in(request->authority, head) && request->authority.len > 0 &&
             !memchr(request->authority.ptr, '@', request->authority.len)));
    require(!request->query.ptr || lies_in(request->query, head));
    require(!memchr(request->path.ptr, '?', request->path.len));
    require(request->header_count <= HEAD_HEADERS_MAX);
    for (size_t i = 0; i < request->header_count; i++) {
        const struct http_header *h = &request->headers[i];

        require(h->name.len > 0 && h->name.len == h->name_as_sent.len);
        require(bytes_equal_nocase(h->name, h->name_as_sent));
        require(lies_in(h->name_as_sent, head) && lies_in(h->value, head));
        for (size_t at = 0; at < h->value.len; at++)
            require((unsigned char)h->value.ptr[at] >= ' ' || h->value.ptr[at] == '\t');
    }
}

static struct bytes write_again(struct arena *arena, const struct request *request, unsigned minor)
{
    struct text text;

    text_init(&text, arena, 1024);
    text_add(&text, request->method_text);
    text_add_string(&text, " ");
    text_add(&text, request->path);
    if (request->query.ptr) {
        text_add_string(&text, "?");
        text_add(&text, request->query);
    }
    text_printf(&text, " HTTP/1.%u\r\n", minor);
    for (size_t i = 0; i < request->header_count; i++) {
        text_add(&text, request->headers[i].name_as_sent);
        text_add_string(&text, ":");
        text_add(&text, request->headers[i].value);
        text_add_string(&text, "\r\n");
    }
    text_add_string(&text, "\r\n");
    return text_bytes(&text);
}

static void check_again(struct arena *arena, const struct request *request, unsigned minor)
{
    struct bytes head = write_again(arena, request, minor);
    struct request again = { .method_text = { NULL, 0 } };
    struct head_scan scan = { .begin = 0 };
    unsigned minor_again;

    require(head_find(&scan, head) == HEAD_WHOLE && scan.end == head.len);
    require(scan.lines == request->header_count + 1);
    require(head_read(arena, head, scan.lines, &again, &minor_again) == 0);
    require(minor_again == minor && bytes_equal(again.path, request->path));
    require(bytes_equal(again.query, request->query) && !again.query.ptr == !request->query.ptr);
    for (size_t i = 0; i < request->header_count; i++) {
        require(bytes_equal(again.headers[i].name, request->headers[i].name));
        require(bytes_equal(again.headers[i].value, request->headers[i].value));
    }
}

static void read_head(struct arena *arena, struct bytes head, size_t lines)
{
    struct request request = { .method_text = { NULL, 0 } };
    struct request_asks asks;
    unsigned minor;
    int refusal = head_read(arena, head, lines, &request, &minor);

    require(refusal == 0 || refusal == 400 || refusal == 431 || refusal == 505);
    if (refusal != 0)
        return;
    check_request(&request, head);
    check_again(arena, &request, minor);
    refusal = request_read(&request, minor, &asks);
    require(refusal != 0 || minor == 0 || request.authority.ptr);
    require(refusal == 0 || refusal == 400 || refusal == 413 || refusal == 417 || refusal == 501);
    require(refusal != 0 || request.content_length == HTTP_LENGTH_UNKNOWN ||
            request.content_length <= INT64_MAX);
}

/* ---- chunks ---- */

struct decoded {
    enum chunk_result result;
    size_t used;
    struct text data;
};

static void decode(struct arena *arena, struct bytes input, size_t step, struct decoded *to)
{
    struct chunks chunks = { .left = 0 };
    size_t there = 0;

    *to = (struct decoded){ .result = CHUNK_MORE };
    text_init(&to->data, arena, input.len);
    while (to->result == CHUNK_MORE || to->result == CHUNK_RUN) {
        size_t framing, run;

        to->result =
            chunks_next(&chunks, bytes_of(input.ptr + to->used, there - to->used), &framing, &run);
        require(framing + run <= there - to->used);
        require((to->result == CHUNK_RUN) == (run > 0));
        to->used += framing;
        if (to->result == CHUNK_RUN) {
            size_t taken = run > 1 ? run / 2 : 1;

            text_add(&to->data, bytes_of(input.ptr + to->used, taken));
            chunks_took(&chunks, taken);
            to->used += taken;
        } else if (to->result == CHUNK_MORE) {
            if (there == input.len)
                return;
            there = input.len - there < step ? input.len : there + step;
        }
    }
}

static void check_chunks(struct arena *arena, struct bytes input)
{
    struct decoded whole, pieces;

    decode(arena, input, input.len + 1, &whole);
    for (size_t step = 1; step < 8; step += 3) {
        decode(arena, input, step, &pieces);
        require(pieces.result == whole.result && pieces.used == whole.used);
        require(bytes_equal(text_bytes(&pieces.data), text_bytes(&whole.data)));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes input = bytes_of(size > 0 ? (const void *)data : "", size);
    struct arena *arena = arena_new((size_t)1 << 30);
    struct head_scan scan = { .begin = 0 };
    enum head_found found = head_find(&scan, input);

    check_cut(input, 0, 1, found, &scan);
    check_cut(input, 3, 7, found, &scan);
    check_dropping(input, found, &scan);
    for (size_t at = 0; at < input.len && input.len <= CUTS_MAX; at++)
        check_cut(input, at, input.len, found, &scan);
    if (found == HEAD_WHOLE) {
        struct bytes head = bytes_of(input.ptr + scan.begin, scan.end - scan.begin);

        read_head(arena, arena_copy(arena, head), scan.lines);
        check_chunks(arena, bytes_from(input, scan.end));
    }
    check_chunks(arena, input);
    arena_free(arena);
    return 0;
}
