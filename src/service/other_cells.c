/* See other_cells.h. */
#include "service/other_cells.h"

#include "base/log.h"

bool other_cells_matter(const struct call *call)
{
    return call->endpoint->cells && call->operation->functions->merged_path && !call->is_for_cell;
}

static struct bytes write_request(const struct call *call)
{
    const struct bytes query = call->request->query;
    struct text out;

    text_init(&out, call->arena, 512);
    encode_u8(&out, OTHER_CELLS_VERSION);
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
    if (response->status == 200 &&
        cell_page_read(call->arena, response->body, &merged->from, merged->max, ret_page))
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
