/* See fetch.h. */
#include "fetch/fetch.h"

/* Ranges that are not public: loopback, private, link-local, shared, documentation, multicast,
 * reserved. */
static const struct {
    uint8_t prefix[4];
    unsigned bits;
} special_v4[] = {
    { { 0 }, 8 },
    { { 10 }, 8 },
    { { 100, 64 }, 10 },
    { { 127 }, 8 },
    { { 169, 254 }, 16 },
    { { 172, 16 }, 12 },
    { { 192, 0, 0 }, 24 },
    { { 192, 0, 2 }, 24 },
    { { 192, 88, 99 }, 24 },
    { { 192, 168 }, 16 },
    { { 198, 18 }, 15 },
    { { 198, 51, 100 }, 24 },
    { { 203, 0, 113 }, 24 },
    { { 224 }, 4 },
    { { 240 }, 4 },
};

/* Exceptions within 2000::/3, the only public range: special ranges, and those with embedded IPv4
 * addresses. */
static const struct address_block special_v6[] = {
    { { 0x20, 0x01, 0x00 }, 23 },       /* Teredo, ORCHID, benchmarks .. */
    { { 0x20, 0x01, 0x0d, 0xb8 }, 32 }, /* documentation */
    { { 0x20, 0x02 }, 16 },             /* 6to4 */
    { { 0x3f, 0xff, 0x00 }, 20 },       /* documentation */
};

static bool is_public_v4(const uint8_t *address)
{
    for (size_t i = 0; i < sizeof special_v4 / sizeof special_v4[0]; i++) {
        if (address_begins_with(address, special_v4[i].prefix, special_v4[i].bits))
            return false;
    }
    return true;
}

static bool is_public(const uint8_t address[16])
{
    if (address_is_v4(address))
        return is_public_v4(address + ADDRESS_V4_BEGIN);
    if ((address[0] & 0xe0) != 0x20)
        return false;
    for (size_t i = 0; i < sizeof special_v6 / sizeof special_v6[0]; i++) {
        if (address_begins_with(address, special_v6[i].address, special_v6[i].bits))
            return false;
    }
    return true;
}

bool addresses_permit(const struct address_list *allowed, const struct sockaddr *address)
{
    uint8_t bytes[ADDRESS_SIZE];
    uint16_t port;

    return address_from(address, bytes, &port) &&
           (address_list_has(allowed, bytes) || is_public(bytes));
}
