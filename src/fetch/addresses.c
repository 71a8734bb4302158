/* See addresses.h. */
#include "fetch/addresses.h"

#include <arpa/inet.h>
#include <netinet/in.h>

static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

/* What is not public: loopback, private, link-local, shared, documentation, multicast, reserved. */
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

/* Of 2000::/3, which is all that is public: what is special, or has an IPv4 address in it. */
static const struct address_block special_v6[] = {
    { { 0x20, 0x01, 0x00 }, 23 },       /* Teredo, ORCHID, benchmarks .. */
    { { 0x20, 0x01, 0x0d, 0xb8 }, 32 }, /* documentation */
    { { 0x20, 0x02 }, 16 },             /* 6to4 */
    { { 0x3f, 0xff, 0x00 }, 20 },       /* documentation */
};

static bool begins_with(const uint8_t *address, const uint8_t *prefix, unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;
    uint8_t mask = (uint8_t)(0xff00u >> rest);

    if (memcmp(address, prefix, whole) != 0)
        return false;
    return rest == 0 || ((address[whole] ^ prefix[whole]) & mask) == 0;
}

static bool is_mapped(const uint8_t address[16])
{
    return memcmp(address, mapped, sizeof mapped) == 0;
}

static bool is_public_v4(const uint8_t *address)
{
    for (size_t i = 0; i < sizeof special_v4 / sizeof special_v4[0]; i++) {
        if (begins_with(address, special_v4[i].prefix, special_v4[i].bits))
            return false;
    }
    return true;
}

static bool is_public(const uint8_t address[16])
{
    if (is_mapped(address))
        return is_public_v4(address + 12);
    if ((address[0] & 0xe0) != 0x20)
        return false;
    for (size_t i = 0; i < sizeof special_v6 / sizeof special_v6[0]; i++) {
        if (begins_with(address, special_v6[i].address, special_v6[i].bits))
            return false;
    }
    return true;
}

static bool as_v6(const struct sockaddr *from, uint8_t to[16])
{
    if (from->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)from;

        memcpy(to, mapped, sizeof mapped);
        memcpy(to + 12, &v4->sin_addr, 4);
        return true;
    }
    if (from->sa_family != AF_INET6)
        return false;
    memcpy(to, &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr, 16);
    return true;
}

bool addresses_permit(const struct address_list *allowed, const struct sockaddr *address)
{
    uint8_t bytes[16];

    if (!as_v6(address, bytes))
        return false;
    for (size_t i = 0; i < allowed->count; i++) {
        if (begins_with(bytes, allowed->blocks[i].address, allowed->blocks[i].bits))
            return true;
    }
    return is_public(bytes);
}

static bool parse_address(struct bytes text, struct address_block *block, bool *ret_is_v4)
{
    char name[INET6_ADDRSTRLEN] = "";

    if (text.len == 0 || text.len >= sizeof name)
        return false;
    memcpy(name, text.ptr, text.len);
    memcpy(block->address, mapped, sizeof mapped);
    *ret_is_v4 = inet_pton(AF_INET, name, block->address + 12) == 1;
    return *ret_is_v4 || inet_pton(AF_INET6, name, block->address) == 1;
}

static bool parse_block(struct bytes text, struct address_block *ret_block)
{
    struct address_block block = { .bits = 0 };
    struct bytes address, bits;
    uint64_t count = 0;
    bool is_v4;

    bytes_cut(bytes_trim(text), '/', &address, &bits);
    if (!parse_address(address, &block, &is_v4))
        return false;
    if (!bits.ptr)
        count = is_v4 ? 32 : 128;
    else if (!bytes_parse_u64(bits, is_v4 ? 32 : 128, &count))
        return false;
    block.bits = (unsigned)count + (is_v4 ? 96 : 0);
    *ret_block = block;
    return true;
}

bool addresses_parse(struct bytes text, struct address_list *list)
{
    while (text.ptr) {
        struct bytes one;

        bytes_cut(text, ',', &one, &text);
        if (list->count == ADDRESS_BLOCKS_MAX || !parse_block(one, &list->blocks[list->count]))
            return false;
        list->count++;
    }
    return true;
}
