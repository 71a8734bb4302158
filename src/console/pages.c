/* The pages of the console, as they lie in the program: gzip, which all browsers take. */
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

static enum http_step go_to_pages(struct exchange *exchange)
{
    response_header_string(&exchange->response, "Location", CONSOLE_PATH);
    return console_answer(exchange, 302, "text/plain", bytes_from_string(CONSOLE_PATH "\n"));
}

enum http_step pages_answer(struct exchange *exchange)
{
    const struct request *request = &exchange->request;
    struct response *response = &exchange->response;
    const struct asset *asset;

    if (!(request->method & (METHOD_GET | METHOD_HEAD))) {
        response_header_string(response, "Allow", "GET, HEAD");
        return console_refuse(exchange, 405, "NoSuchMethod", "Pages are asked for by GET.");
    }
    if (request->path.len < strlen(CONSOLE_PATH))
        return go_to_pages(exchange);
    asset = find_asset(bytes_from(request->path, strlen(CONSOLE_PATH)));
    if (!asset)
        return console_refuse(exchange, 404, "NoSuchPage", "The console has no such page.");
    /* A name with a hash in it is of one content for ever. */
    if (asset != find_asset(bytes_from_string("index.html")))
        response_header_string(response, "Cache-Control", "private, max-age=31536000, immutable");
    response_header_string(response, "Content-Encoding", "gzip");
    return console_answer(exchange, 200, asset->type, bytes_of(asset->bytes, asset->size));
}
