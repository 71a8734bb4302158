/* Records of placements that several files use; see placement.h, placement_move.h. */
#include "base/codec.h"
#include "cluster/peer.h"
#include "service/placement.h"
#include "service/placement_private.h"
#include "service/small_record.h"

#define PAYLOAD_VERSION    1
/* Timeout of a request by the thread that runs tasks. */
#define REQUEST_TIMEOUT_MS 2000u
#define RESPONSE_MAX       1024u

const struct bytes placement_own_key = BYTES("o");
const struct bytes move_sealed_key = BYTES("v");

/* ---- task payload ---- */

struct bytes placement_payload(struct arena *arena, const char *service, struct bytes account)
{
    struct text out;

    text_init(&out, arena, 64);
    encode_u8(&out, PAYLOAD_VERSION);
    encode_bytes(&out, bytes_from_string(service));
    encode_bytes(&out, account);
    return text_bytes(&out);
}

bool placement_payload_read(struct bytes payload, struct bytes *ret_service,
                            struct bytes *ret_account)
{
    struct decoder in;

    decoder_init(&in, payload);
    if (decode_u8(&in) != PAYLOAD_VERSION)
        return false;
    *ret_service = decode_bytes(&in);
    *ret_account = decode_bytes(&in);
    return decoder_ok(&in);
}

/* ---- other cells ---- */

static bool has_owner(const struct peers *peers, uint32_t cell)
{
    struct owner_target target;
    uint64_t started_ns;

    return route_find(peers->route, cell, &target, &started_ns) == ROUTE_FOUND;
}

int placement_ask(const struct endpoint *endpoint, uint32_t cell, const char *path,
                  struct bytes body, struct arena *arena)
{
    const struct peer_request request = { .cell = cell,
                                          .path = path,
                                          .body = body,
                                          .response_max = RESPONSE_MAX,
                                          .timeout_ms = REQUEST_TIMEOUT_MS,
                                          .is_repeatable = true };
    struct peer_response response;

    if (!endpoint || !endpoint->peers || !has_owner(endpoint->peers, cell))
        return 0;
    return peer_ask(endpoint->peers, &request, arena, &response) == PEER_OK ? response.status : 0;
}

/* ---- sealed names ---- */

enum store_result move_read_sealed(struct read_view *of, struct arena *arena, struct move *ret_move)
{
    uint64_t numbers[4];
    enum store_result result =
        small_record_read(of, arena, move_sealed_key, "the record of a move", numbers, 4);

    ret_move->from = (uint32_t)numbers[0];
    ret_move->to = (uint32_t)numbers[1];
    ret_move->before = numbers[2];
    ret_move->incarnation = numbers[3];
    return result;
}

enum store_result placement_sealed(struct decision *d, struct read_view *of, uint64_t placement,
                                   bool *ret_is_sealed)
{
    struct move move;
    enum store_result result = move_read_sealed(of, d->arena, &move);

    *ret_is_sealed = !result && placement < move.incarnation;
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}
