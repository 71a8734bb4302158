/* See other_cells.h. */
#include "service/other_cells.h"

#include <string.h>

#include "base/log.h"
#include "service/own_request.h"

#define VERSION 1

/* ---- at the root ---- */

bool other_cells_matter(const struct call *call)
{
    return call->endpoint->cells && call->operation->functions->merged_path && !call->is_for_cell;
}

static struct bytes write_request(const struct call *call)
{
    const struct bytes query = call->request->query;
    struct text out;

    text_init(&out, call->arena, 512);
    encode_u8(&out, VERSION);
    encode_bytes(&out, bytes_from_string(call->service->name));
    encode_bytes(&out, arena_printf(call->arena, "/%.*s%s/%s", BYTES_ARG(call->account_name),
                                    call->secondary ? "-secondary" : "",
                                    call->operation->functions->merged_path));
    encode_bytes(&out, query.ptr ? query : bytes_of("", 0));
    encode_bytes(&out, call->version);
    return text_bytes(&out);
}

/* Returns how many cells beside our own may have containers of the account. */
static unsigned choose_cells(const struct call *call, uint32_t cells[CLUSTER_CELLS_MAX])
{
    const struct other_cells *of = call->endpoint->cells;
    unsigned count = route_cells(of->peers->route, cells), kept = 0;

    for (unsigned i = 0; i < count; i++)
        if (cells[i] != of->own)
            cells[kept++] = cells[i];
    return kept;
}

static enum error read_page(struct call *call, uint32_t cell, const struct peer_response *response,
                            struct cell_page *ret_page)
{
    const struct merged_pages *merged = &call->input.merged;

    if (response->status == 503)
        return E_ServerBusy;
    if (response->status == 200 && cell_page_read(call->arena, response->body, &merged->from,
                                                  merged->max, ret_page))
        return OK;
    log_line(LOG_ERROR, "cell %u: no page for %s (status %d)", (unsigned)cell,
             call->operation->name, response->status);
    return E_InternalError;
}

enum error other_cells_fetch(struct call *call)
{
    uint32_t cells[CLUSTER_CELLS_MAX];
    unsigned count = choose_cells(call, cells);
    struct peer_call *calls[CLUSTER_CELLS_MAX];
    struct cell_page *pages = arena_array(call->arena, count, sizeof *pages);
    struct peer_request request = { .path = OTHER_CELLS_PATH,
                                    .body = write_request(call),
                                    .response_max = PEER_BODY_MAX,
                                    .is_repeatable = true };
    enum error e = OK;

    for (unsigned i = 0; i < count; i++) {
        request.cell = cells[i];
        calls[i] = peer_begin(call->endpoint->cells->peers, &request, call->arena);
    }
    for (unsigned i = 0; i < count; i++) {
        struct peer_response response;
        enum error of_cell = peer_end(calls[i], &response) == PEER_OK
                                 ? read_page(call, cells[i], &response, &pages[i])
                                 : E_ServerBusy;

        e = e ? e : of_cell;
    }
    call->input.merged.pages = pages;
    call->input.merged.count = e ? 0 : count;
    return e;
}

/* ---- at another cell ---- */

struct list_request {
    const struct endpoint *endpoint;
    struct bytes path, query, version;
};

static const struct endpoint *find_endpoint(const struct endpoint_set *all, struct bytes service)
{
    for (size_t i = 0; i < all->count; i++)
        if (bytes_is(service, all->endpoints[i].service->name))
            return &all->endpoints[i];
    return NULL;
}

/* What the head of a request can have there. */
static bool is_visible(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] <= ' ' || text.ptr[i] >= 0x7f)
            return false;
    return true;
}

static bool read_request(const struct endpoint_set *all, struct bytes body,
                         struct list_request *ret_request)
{
    struct decoder in;

    decoder_init(&in, body);
    if (decode_u8(&in) != VERSION)
        return false;
    ret_request->endpoint = find_endpoint(all, decode_bytes(&in));
    ret_request->path = decode_bytes(&in);
    ret_request->query = decode_bytes(&in);
    ret_request->version = decode_bytes(&in);
    return decoder_ok(&in) && ret_request->endpoint && ret_request->path.len > 0 &&
           ret_request->path.ptr[0] == '/' && is_visible(ret_request->path) &&
           !memchr(ret_request->path.ptr, '?', ret_request->path.len) &&
           is_visible(ret_request->query) && is_visible(ret_request->version);
}

int other_cells_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body)
{
    static const struct bytes version = BYTES("x-ms-version");
    struct list_request request;
    struct http_header header;
    struct own_answer answer;

    if (!read_request(context, body, &request))
        return 400;
    header = (struct http_header){ version, request.version, version };
    own_request_run(request.endpoint, arena,
                    &(struct own_request){ .method = METHOD_GET,
                                           .path = request.path,
                                           .query = request.query,
                                           .headers = &header,
                                           .header_count = 1,
                                           .is_for_cell = true },
                    &answer);
    if (answer.error)
        return answer.error == E_ServerBusy ? 503 : 500;
    text_add(ret_body, answer.response.body);
    return 200;
}
