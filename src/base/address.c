/* See address.h. */
#include "base/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

static const uint8_t mapped[ADDRESS_V4_BEGIN] = { [10] = 0xff, [11] = 0xff };

/* ---- single addresses ---- */

/* Parses an IPv4 or IPv6 address. *ret_is_v4: the text was an IPv4 address */
static bool parse(struct bytes text, uint8_t to[ADDRESS_SIZE], bool *ret_is_v4)
{
    char name[INET6_ADDRSTRLEN] = "";

    if (text.len == 0 || text.len >= sizeof name || memchr(text.ptr, '\0', text.len))
        return false;
    memcpy(name, text.ptr, text.len);
    memcpy(to, mapped, sizeof mapped);
    *ret_is_v4 = inet_pton(AF_INET, name, to + ADDRESS_V4_BEGIN) == 1;
    return *ret_is_v4 || inet_pton(AF_INET6, name, to) == 1;
}

bool address_parse(struct bytes text, uint8_t ret_address[ADDRESS_SIZE])
{
    uint8_t address[ADDRESS_SIZE];
    bool is_v4;

    if (!parse(text, address, &is_v4))
        return false;
    memcpy(ret_address, address, sizeof address);
    return true;
}

void address_from_v4(const void *bytes, uint8_t ret_address[ADDRESS_SIZE])
{
    memcpy(ret_address, mapped, sizeof mapped);
    memcpy(ret_address + ADDRESS_V4_BEGIN, bytes, 4);
}

bool address_from(const struct sockaddr *from, uint8_t ret_address[ADDRESS_SIZE],
                  uint16_t *ret_port)
{
    if (from->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)from;

        address_from_v4(&v4->sin_addr, ret_address);
        *ret_port = ntohs(v4->sin_port);
        return true;
    }
    if (from->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)from;

        memcpy(ret_address, &v6->sin6_addr, ADDRESS_SIZE);
        *ret_port = ntohs(v6->sin6_port);
        return true;
    }
    return false;
}

bool address_is_v4(const uint8_t address[ADDRESS_SIZE])
{
    return memcmp(address, mapped, sizeof mapped) == 0;
}

void address_write(const uint8_t address[ADDRESS_SIZE], uint16_t port, char to[ADDRESS_TEXT_MAX])
{
    bool is_v4 = address_is_v4(address);
    char text[INET6_ADDRSTRLEN] = "";

    if (is_v4)
        inet_ntop(AF_INET, address + ADDRESS_V4_BEGIN, text, sizeof text);
    else
        inet_ntop(AF_INET6, address, text, sizeof text);
    snprintf(to, ADDRESS_TEXT_MAX, is_v4 ? "%s:%u" : "[%s]:%u", text, port);
}

/* Splits at the last colon, because an IPv6 address is in brackets. To accept only one spelling,
 * compares the text with the output of address_write(). */
bool address_read(struct bytes text, uint8_t ret_address[ADDRESS_SIZE], uint16_t *ret_port)
{
    char written[ADDRESS_TEXT_MAX];
    uint8_t address[ADDRESS_SIZE];
    size_t colon = text.len;
    struct bytes name;
    uint64_t port;

    while (colon > 0 && text.ptr[colon - 1] != ':')
        colon--;
    if (colon < 2 || !bytes_parse_u64(bytes_from(text, colon), UINT16_MAX, &port))
        return false;
    name = bytes_of(text.ptr, colon - 1);
    if (name.len > 2 && name.ptr[0] == '[' && name.ptr[name.len - 1] == ']')
        name = bytes_of(name.ptr + 1, name.len - 2);
    if (!address_parse(name, address))
        return false;
    address_write(address, (uint16_t)port, written);
    if (!bytes_is(text, written))
        return false;
    memcpy(ret_address, address, sizeof address);
    *ret_port = (uint16_t)port;
    return true;
}

/* ---- blocks ---- */

bool address_begins_with(const uint8_t *address, const uint8_t *prefix, unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;
    uint8_t mask = (uint8_t)(0xff00u >> rest);

    if (memcmp(address, prefix, whole) != 0)
        return false;
    return rest == 0 || ((address[whole] ^ prefix[whole]) & mask) == 0;
}

static bool parse_block(struct bytes text, struct address_block *ret_block)
{
    struct address_block block = { .bits = 0 };
    struct bytes address, bits;
    uint64_t count = 0;
    bool is_v4;

    bytes_cut(bytes_trim(text), '/', &address, &bits);
    if (!parse(address, block.address, &is_v4))
        return false;
    if (!bits.ptr)
        count = is_v4 ? 32 : 128;
    else if (!bytes_parse_u64(bits, is_v4 ? 32 : 128, &count))
        return false;
    block.bits = (unsigned)count + (is_v4 ? 8 * ADDRESS_V4_BEGIN : 0);
    *ret_block = block;
    return true;
}

bool address_list_parse(struct bytes text, struct address_list *list)
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

bool address_list_has(const struct address_list *list, const uint8_t address[ADDRESS_SIZE])
{
    for (size_t i = 0; i < list->count; i++) {
        if (address_begins_with(address, list->blocks[i].address, list->blocks[i].bits))
            return true;
    }
    return false;
}
