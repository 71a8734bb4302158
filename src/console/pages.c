/* Serves the console's pages: static assets with an ETag, compressed for clients that accept gzip.
 * decision: 915 */
#include "console/assets.h"
#include "console/console_private.h"

static const struct asset *find_asset(struct bytes name)
{
    if (name.len == 0)
        name = bytes_from_string("index.html");
    for (size_t i = 0; i < console_asset_count; i++) {
        if (bytes_is(name, console_assets[i].name))
            return &console_assets[i];
    }
    return NULL;
}

/* Removes the next element of a comma-separated list. Returns false at the end. */
static bool next_element(struct bytes *list, struct bytes *ret_element)
{
    if (!list->ptr)
        return false;
    bytes_cut(*list, ',', ret_element, list);
    *ret_element = bytes_trim(*ret_element);
    return true;
}

/* Returns true for "q=0", "q=0.000" and similar. rfc: 9110 12.4.2 */
static bool is_weight_zero(struct bytes weight)
{
    if (weight.len < 3 || !bytes_is_nocase(bytes_of(weight.ptr, 2), "q="))
        return false;
    for (size_t i = 2; i < weight.len; i++) {
        if (weight.ptr[i] != '0' && weight.ptr[i] != '.')
            return false;
    }
    return true;
}

/* Returns true if the client accepts gzip, by name or by "*" if the name is not listed. Without
 * the header, clients get the plain form, which all can read. rfc: 9110 12.5.3 */
static bool accepts_gzip(const struct request *request)
{
    struct bytes list = request_header(request, "accept-encoding"), element;
    bool any = false;

    while (next_element(&list, &element)) {
        struct bytes coding, parameter;
        bool accepted;

        bytes_cut(element, ';', &coding, &parameter);
        coding = bytes_trim(coding);
        accepted = !parameter.ptr || !is_weight_zero(bytes_trim(parameter));
        if (bytes_is_nocase(coding, "gzip") || bytes_is_nocase(coding, "x-gzip"))
            return accepted;
        if (bytes_is(coding, "*"))
            any = accepted;
    }
    return any;
}

/* Returns true if the client already has the content with this ETag. rfc: 9110 13.1.2 */
static bool is_known(const struct request *request, struct bytes etag)
{
    struct bytes list = request_header(request, "if-none-match"), element;

    while (next_element(&list, &element)) {
        if (bytes_has_prefix(element, bytes_from_string("W/")))
            element = bytes_from(element, 2);
        if (bytes_is(element, "*") || bytes_equal(element, etag))
            return true;
    }
    return false;
}

static enum http_step go_to_pages(struct exchange *exchange)
{
    response_header_string(&exchange->response, "Location", CONSOLE_PATH);
    return console_answer(exchange, 302, "text/plain", bytes_from_string(CONSOLE_PATH "\n"));
}

static enum http_step send_asset(struct exchange *exchange, const struct asset *asset)
{
    struct response *response = &exchange->response;
    bool is_packed = accepts_gzip(&exchange->request);
    /* The bytes of the two forms differ, so each has its own strong ETag. */
    struct bytes etag =
        arena_printf(exchange->arena, "\"%s%s\"", asset->hash, is_packed ? "-gzip" : "");

    response_header(response, bytes_from_string("ETag"), etag);
    response_header_string(response, "Vary", "Accept-Encoding");
    /* Files with a hash in their names never change; index.html, which refers to them, is checked
     * each time. */
    response_header_string(response, "Cache-Control",
                           asset == find_asset(bytes_from_string("index.html"))
                               ? "no-cache"
                               : "private, max-age=31536000, immutable");
    if (is_known(&exchange->request, etag))
        return console_answer_unchanged(exchange);
    if (is_packed) {
        response_header_string(response, "Content-Encoding", "gzip");
        return console_answer(exchange, 200, asset->type, bytes_of(asset->gzip, asset->gzip_size));
    }
    return console_answer(exchange, 200, asset->type, bytes_of(asset->bytes, asset->size));
}

enum http_step pages_answer(struct exchange *exchange)
{
    const struct request *request = &exchange->request;
    struct response *response = &exchange->response;
    const struct asset *asset;

    if (!(request->method & (METHOD_GET | METHOD_HEAD))) {
        response_header_string(response, "Allow", "GET, HEAD");
        return console_refuse(exchange, 405, "NoSuchMethod", "Pages require GET.");
    }
    if (request->path.len < strlen(CONSOLE_PATH))
        return go_to_pages(exchange);
    asset = find_asset(bytes_from(request->path, strlen(CONSOLE_PATH)));
    if (!asset)
        return console_refuse(exchange, 404, "NoSuchPage", "The console has no such page.");
    return send_asset(exchange, asset);
}
