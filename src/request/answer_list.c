/* Describes a large body by its pieces, for a front end that reads them from their files; see
 * cluster/piece_list.h. The flow's reader keeps the pieces until that front end has reported that
 * it is done. decision: 1385 */
#include "request/request_private.h"

#include <inttypes.h>

#include "cluster/forward.h"
#include "cluster/piece_list.h"

_Static_assert(LISTED_SECTOR_BYTES == PIECE_SECTOR_BYTES, "as in the store");
_Static_assert(LISTED_PIECE_BYTES == PIECE_MAX_BYTES, "as in the store");

static bool may_list(const struct flow *flow)
{
    return flow->exchange->request.takes_pieces && !flow->fault && !flow->is_not_listed &&
           !flow->work.call.is_structured &&
           flow->work.answer.content.length <= PIECE_LIST_BODY_MAX;
}

static void add_piece(struct flow *flow, const struct content_part *part)
{
    const struct piece *piece = part->piece;
    uint32_t first = part->offset / PIECE_SECTOR_BYTES;
    uint32_t begin = first * PIECE_SECTOR_BYTES;
    uint32_t upto = part->offset + (uint32_t)part->length;
    uint32_t end = (upto + PIECE_SECTOR_BYTES - 1) / PIECE_SECTOR_BYTES * PIECE_SECTOR_BYTES;
    struct listed listed = {
        .take = part->length,
        .extent = piece->extent,
        .length = (end < piece->length ? end : piece->length) - begin,
        .skip = part->offset - begin,
        .offset = piece->offset + begin,
    };

    piece_list_add_piece(&flow->list, &listed, piece->sector_crc + first);
}

/* Adds a part to the description. Returns false if it cannot be described. */
static bool add(struct flow *flow, const struct content_part *part)
{
    /* the front end does not have the key of an encrypted piece */
    if (part->piece &&
        (part->piece->seal || !piece_is_lent(flow->work.decision.store, part->piece)))
        return false;
    if (flow->list.len + (part->bytes ? part->length : 0) > PIECE_LIST_BYTES_MAX / 2 ||
        ++flow->listed_parts > PIECE_LIST_COUNT_MAX)
        return false;
    if (part->piece)
        add_piece(flow, part);
    else if (part->bytes)
        piece_list_add_bytes(&flow->list, bytes_of(part->bytes, (size_t)part->length));
    else
        piece_list_add_zeros(&flow->list, part->length);
    return true;
}

/* Restarts the reader, so that the body can be read instead. */
static enum list_state give_up(struct flow *flow)
{
    const struct answer_content *content = &flow->work.answer.content;

    flow->is_not_listed = true;
    content_reader_restart(flow->reader, content->offset, content->length);
    return LIST_NONE;
}

static void respond(struct flow *flow)
{
    struct answer *a = &flow->work.answer;

    answer_header(a, FORWARD_PIECES,
                  arena_printf(a->arena, "%" PRIu64, (uint64_t)a->content.length));
    a->response->body_kind = BODY_BYTES;
    a->response->body = text_bytes(&flow->list);
    a->response->described_length = a->content.length;
}

enum list_state answer_list(struct flow *flow, enum store_result *ret_result)
{
    uint64_t length = flow->work.answer.content.length;

    if (!may_list(flow))
        return LIST_NONE;
    if (flow->listed_parts == 0 && flow->list.len == 0) {
        text_init(&flow->list, flow->work.answer.arena, 1024);
        piece_list_start(&flow->list);
    }
    while (flow->listed < length) {
        struct content_part part;

        *ret_result = content_reader_part(flow->reader, &part);
        if (*ret_result == STORE_WAIT)
            return LIST_WAITS;
        if (*ret_result)
            return LIST_FAILED;
        if (!add(flow, &part))
            return give_up(flow);
        flow->listed += part.length;
    }
    respond(flow);
    return LIST_DONE;
}
