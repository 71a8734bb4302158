/* See envelope.h. */
#include "cluster/envelope.h"

#include <assert.h>

#include "base/endian.h"
#include "cluster/protocol.h"

#define HOPS           1
#define CLIENT_KNOWN   1u
#define CLIENT_TLS     2u
#define WAS_FORWARDED  4u
#define HAS_AUTHORITY  8u
#define ANNOUNCES      16u
#define TAKES_PIECES   32u
#define ALL_FLAGS      63u
#define FLAGS_BEFORE_6 31u

#define VERSION_AT     4u
#define SERVICE_AT     5u
#define FLAGS_AT       6u
#define HOPS_AT        7u
#define CELL_AT        8u
#define INCARNATION_AT 12u
#define ADDRESS_AT     20u
#define PORT_AT        36u
#define LENGTH_AT      38u
#define PLACEMENT_AT   40u
#define RENEWED_AT     48u
#define REQUEST_AT     56u

static const struct bytes begin = BYTES("LgFw");

size_t envelope_write(const struct envelope *envelope, char to[INTRODUCTION_MAX])
{
    const struct http_introduction *said = &envelope->said;
    size_t length = said->authority.ptr ? said->authority.len : 0;

    assert(length <= ENVELOPE_AUTHORITY_MAX && envelope->service < ENVELOPE_SERVICES);
    memset(to, 0, ENVELOPE_BYTES);
    memcpy(to, begin.ptr, begin.len);
    to[VERSION_AT] = (char)envelope->version;
    to[SERVICE_AT] = (char)envelope->service;
    to[FLAGS_AT] =
        (char)((said->client_is_known ? CLIENT_KNOWN : 0) | (said->is_tls ? CLIENT_TLS : 0) |
               (said->is_forwarded ? WAS_FORWARDED : 0) | (said->expects ? ANNOUNCES : 0) |
               (said->authority.ptr ? HAS_AUTHORITY : 0) |
               (said->takes_pieces && envelope->version >= PROTOCOL_PIECES ? TAKES_PIECES : 0));
    to[HOPS_AT] = HOPS;
    be32_put(to + CELL_AT, envelope->cell);
    be64_put(to + INCARNATION_AT, envelope->incarnation);
    if (said->client_is_known) {
        memcpy(to + ADDRESS_AT, said->client, ADDRESS_SIZE);
        be16_put(to + PORT_AT, said->port);
    }
    be16_put(to + LENGTH_AT, (uint16_t)length);
    be64_put(to + PLACEMENT_AT, said->placement);
    memcpy(to + REQUEST_AT, said->request.b, sizeof said->request.b);
    be64_put(to + RENEWED_AT, envelope->renewed_ns);
    if (length > 0)
        memcpy(to + ENVELOPE_BYTES, said->authority.ptr, length);
    return ENVELOPE_BYTES + length;
}

static bool is_understood(unsigned version)
{
    struct protocol_range own = protocol_own();

    return version >= own.oldest && version <= own.newest;
}

/* Reads the fixed part. Accepts only the encoding that envelope_write() produces for given
 * values. */
static bool read_fixed(const char *from, struct envelope *envelope, size_t *ret_length)
{
    static const char zeros[ADDRESS_SIZE];
    struct http_introduction *said = &envelope->said;
    unsigned flags = (uint8_t)from[FLAGS_AT];

    *ret_length = be16_get(from + LENGTH_AT);
    envelope->version = (uint8_t)from[VERSION_AT];
    envelope->service = (uint8_t)from[SERVICE_AT];
    envelope->cell = be32_get(from + CELL_AT);
    envelope->incarnation = be64_get(from + INCARNATION_AT);
    said->client_is_known = flags & CLIENT_KNOWN;
    said->is_tls = flags & CLIENT_TLS;
    said->is_forwarded = flags & WAS_FORWARDED;
    said->expects = flags & ANNOUNCES;
    said->takes_pieces = flags & TAKES_PIECES;
    said->placement = be64_get(from + PLACEMENT_AT);
    memcpy(said->request.b, from + REQUEST_AT, sizeof said->request.b);
    envelope->renewed_ns = be64_get(from + RENEWED_AT);
    memcpy(said->client, from + ADDRESS_AT, ADDRESS_SIZE);
    said->port = be16_get(from + PORT_AT);
    if (!said->client_is_known &&
        (memcmp(said->client, zeros, sizeof zeros) != 0 || said->port != 0))
        return false;
    if (envelope->service == ENVELOPE_OF_PEER &&
        (flags != 0 || said->placement > 0 || !guid_is_zero(&said->request)))
        return false;
    if ((flags & HAS_AUTHORITY) ? *ret_length > ENVELOPE_AUTHORITY_MAX : *ret_length > 0)
        return false;
    if (envelope->version < PROTOCOL_PIECES && (flags & ~FLAGS_BEFORE_6) != 0)
        return false;
    return (flags & ~ALL_FLAGS) == 0 && from[HOPS_AT] == HOPS &&
           envelope->service < ENVELOPE_SERVICES && envelope->cell > 0 && envelope->incarnation > 0;
}

enum http_introduced envelope_read(struct bytes input, struct envelope *ret_envelope)
{
    size_t looked_at = input.len < begin.len ? input.len : begin.len;
    size_t length;

    memset(ret_envelope, 0, sizeof *ret_envelope);
    if (looked_at > 0 && memcmp(input.ptr, begin.ptr, looked_at) != 0)
        return INTRODUCTION_MALFORMED;
    if (input.len > VERSION_AT && !is_understood((uint8_t)input.ptr[VERSION_AT]))
        return INTRODUCTION_MALFORMED;
    if (input.len < ENVELOPE_BYTES)
        return INTRODUCTION_PART;
    if (!read_fixed(input.ptr, ret_envelope, &length))
        return INTRODUCTION_MALFORMED;
    if (input.len < ENVELOPE_BYTES + length)
        return INTRODUCTION_PART;
    ret_envelope->said.size = ENVELOPE_BYTES + length;
    if ((uint8_t)input.ptr[FLAGS_AT] & HAS_AUTHORITY)
        ret_envelope->said.authority = bytes_of(input.ptr + ENVELOPE_BYTES, length);
    return INTRODUCTION_WHOLE;
}
