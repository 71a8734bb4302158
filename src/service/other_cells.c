/* See other_cells.h. */
#include "service/other_cells.h"

#include "base/log.h"
#include "service/names.h"
#include "service/placement.h"
#include "service/placement_move.h"

bool other_cells_matter(const struct call *call)
{
    const struct other_cells *cells = call->endpoint->cells;

    return cells && call->operation->functions->merged_path && !call->is_for_cell &&
           route_is_divided(cells->peers->route);
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

enum store_result other_cells_count(const struct endpoint *endpoint, struct bytes account,
                                    struct placed_count *ret_count)
{
    const struct other_cells *of = endpoint->cells;
    struct guid space = account_space(service_data_name(endpoint->service), account);
    uint32_t cells[CLUSTER_CELLS_MAX];
    unsigned count = of ? route_cells(of->peers->route, cells) : 0;

    *ret_count = (struct placed_count){ .cell_count = 0 };
    for (unsigned i = 0; i < count; i++) {
        int64_t placed = 0;
        enum store_result result =
            placement_count(endpoint->store, space, cells[i], STORE_MAY_BLOCK, &placed);

        if (result)
            return result;
        if (cells[i] == of->own || (placed <= 0 && !of->asks_all))
            continue;
        ret_count->cells[ret_count->cell_count++] = cells[i];
        ret_count->names += placed > 0 ? (uint64_t)placed : 0;
    }
    return STORE_OK;
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

static enum error fetch_pages(struct call *call, const uint32_t *cells, unsigned count)
{
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

enum error other_cells_count_moves(struct call *call)
{
    return !call->secondary && placement_count_moves(
                                   call->endpoint->store, service_data_name(call->service),
                                   call->account_name, STORE_MAY_BLOCK, &call->input.merged.moves)
               ? E_InternalError
               : OK;
}

enum error other_cells_fetch(struct call *call)
{
    struct placed_count placed;

    if (other_cells_count_moves(call) != OK)
        return E_InternalError;
    if (other_cells_count(call->endpoint, call->account_name, &placed) != STORE_OK)
        return E_InternalError;
    return placed.cell_count > 0 ? fetch_pages(call, placed.cells, placed.cell_count) : OK;
}
