/* See proxy_header.h. Section numbers refer to the protocol's specification. */
#include "net/proxy_header.h"

#include "base/crc.h"
#include "base/endian.h"

static bool may_begin(struct bytes input, struct bytes with)
{
    return memcmp(input.ptr, with.ptr, input.len < with.len ? input.len : with.len) == 0;
}

/* ---- version 1: section 2.1 ---- */

#define LINE_MAX_BYTES 107u

static const struct bytes line_begin = BYTES("PROXY ");

/* Parses a port without leading zeros. */
static bool parse_port(struct bytes text, uint16_t *ret_port)
{
    uint64_t port;

    if (!bytes_parse_u64(text, UINT16_MAX, &port) || (text.len > 1 && text.ptr[0] == '0'))
        return false;
    *ret_port = (uint16_t)port;
    return true;
}

static bool parse_of_family(struct bytes text, bool is_v4, uint8_t ret_address[ADDRESS_SIZE])
{
    bool has_colon = text.len > 0 && memchr(text.ptr, ':', text.len);

    return has_colon != is_v4 && address_parse(text, ret_address);
}

/* Parses "TCP4 192.0.2.1 192.0.2.2 5000 443". Everything after "UNKNOWN" is ignored. */
static bool read_line(struct bytes line, struct proxy_header *header)
{
    struct bytes family, source, destination, source_port, destination_port;
    uint8_t unused[ADDRESS_SIZE];
    uint16_t unused_port;
    bool is_v4;

    bytes_cut(line, ' ', &family, &line);
    if (bytes_is(family, "UNKNOWN"))
        return true;
    is_v4 = bytes_is(family, "TCP4");
    if (!is_v4 && !bytes_is(family, "TCP6"))
        return false;
    bytes_cut(line, ' ', &source, &line);
    bytes_cut(line, ' ', &destination, &line);
    bytes_cut(line, ' ', &source_port, &destination_port);
    header->has_client = true;
    return parse_of_family(source, is_v4, header->client) &&
           parse_of_family(destination, is_v4, unused) && parse_port(source_port, &header->port) &&
           parse_port(destination_port, &unused_port);
}

static enum proxy_found find_line(struct bytes input, struct proxy_header *header)
{
    size_t looked_at = input.len < LINE_MAX_BYTES ? input.len : LINE_MAX_BYTES;
    const char *end = memchr(input.ptr, '\n', looked_at);
    struct bytes line;

    if (!end)
        return input.len < LINE_MAX_BYTES ? PROXY_PART : PROXY_MALFORMED;
    header->size = (size_t)(end - input.ptr) + 1;
    if (header->size < line_begin.len + 2 || end[-1] != '\r')
        return PROXY_MALFORMED;
    line = bytes_of(input.ptr, header->size - 2);
    if (memchr(line.ptr, '\r', line.len) || memchr(line.ptr, '\0', line.len))
        return PROXY_MALFORMED;
    return read_line(bytes_from(line, line_begin.len), header) ? PROXY_WHOLE : PROXY_MALFORMED;
}

/* ---- version 2: section 2.2 ---- */

/* Signature (12 bytes), version and command, family and transport, length of the rest (2,
 * big-endian). */
#define FIXED_BYTES    16u
#define VERSION        0x20
#define COMMAND_LOCAL  0
#define COMMAND_PROXY  1
#define FAMILY_UNSPEC  0
#define FAMILY_INET    1
#define FAMILY_INET6   2
#define FAMILY_UNIX    3
#define TRANSPORT_NONE 0
#define TRANSPORT_TCP  1

static const struct bytes signature = BYTES("\r\n\r\n\0\r\nQUIT\n");

/* Bytes of source and destination addresses, including ports if the family has them. */
static const uint16_t address_bytes[] = {
    [FAMILY_UNSPEC] = 0, [FAMILY_INET] = 12, [FAMILY_INET6] = 36, [FAMILY_UNIX] = 216
};

/* Type, length (2), value. Section 2.2.1 */
#define TLV_BYTES   3u
#define TLV_CRC32C  0x03
#define TLV_SSL     0x20
#define SSL_BYTES   5u   /* client, verify (4); more fields follow */
#define SSL_IS_USED 0x01 /* bit of the client byte */

/* Verifies the CRC-32C of the complete header, computed with zeros in place of the checksum. */
static bool sum_is_right(struct bytes whole, struct bytes sum)
{
    static const char zeros[4];
    size_t at = (size_t)(sum.ptr - whole.ptr);
    uint32_t crc;

    if (sum.len != sizeof zeros)
        return false;
    crc = crc32c(0, whole.ptr, at);
    crc = crc32c(crc, zeros, sizeof zeros);
    crc = crc32c(crc, whole.ptr + at + sizeof zeros, whole.len - at - sizeof zeros);
    return crc == be32_get(sum.ptr);
}

static bool read_tlvs(struct bytes whole, struct bytes rest, struct proxy_header *header)
{
    bool has_sum = false, has_ssl = false;

    while (rest.len > 0) {
        struct bytes value;
        uint8_t type = (uint8_t)rest.ptr[0];

        if (rest.len < TLV_BYTES || be16_get(rest.ptr + 1) > rest.len - TLV_BYTES)
            return false;
        value = bytes_of(rest.ptr + TLV_BYTES, be16_get(rest.ptr + 1));
        rest = bytes_from(rest, TLV_BYTES + value.len);
        if (type == TLV_CRC32C) {
            if (has_sum || !sum_is_right(whole, value))
                return false;
            has_sum = true;
        } else if (type == TLV_SSL) {
            if (has_ssl || value.len < SSL_BYTES)
                return false;
            has_ssl = true;
            header->is_tls = (value.ptr[0] & SSL_IS_USED) != 0;
        }
    }
    return true;
}

static void read_source(struct bytes rest, uint8_t family, struct proxy_header *header)
{
    header->has_client = true;
    if (family == FAMILY_INET) {
        address_from_v4(rest.ptr, header->client);
        header->port = be16_get(rest.ptr + 8);
    } else {
        memcpy(header->client, rest.ptr, ADDRESS_SIZE);
        header->port = be16_get(rest.ptr + 2 * ADDRESS_SIZE);
    }
}

static bool read_binary(struct bytes whole, struct proxy_header *header)
{
    struct bytes rest = bytes_from(whole, FIXED_BYTES);
    uint8_t command = (uint8_t)whole.ptr[12] & 0xf;
    uint8_t family = (uint8_t)whole.ptr[13] >> 4;
    uint8_t transport = (uint8_t)whole.ptr[13] & 0xf;

    if (((uint8_t)whole.ptr[12] & 0xf0) != VERSION || command > COMMAND_PROXY)
        return false;
    if (command == COMMAND_LOCAL)
        return true; /* the rest must be ignored */
    if (family > FAMILY_UNIX || transport > TRANSPORT_TCP || rest.len < address_bytes[family])
        return false;
    if (family == FAMILY_INET || family == FAMILY_INET6) {
        if (transport != TRANSPORT_TCP)
            return false;
        read_source(rest, family, header);
    }
    return read_tlvs(whole, bytes_from(rest, address_bytes[family]), header);
}

static enum proxy_found find_binary(struct bytes input, struct proxy_header *header)
{
    if (input.len < FIXED_BYTES)
        return PROXY_PART;
    header->size = FIXED_BYTES + be16_get(input.ptr + 14);
    if (header->size > PROXY_HEADER_MAX)
        return PROXY_MALFORMED;
    if (input.len < header->size)
        return PROXY_PART;
    return read_binary(bytes_of(input.ptr, header->size), header) ? PROXY_WHOLE : PROXY_MALFORMED;
}

/* ---- both versions ---- */

enum proxy_found proxy_header_find(struct bytes input, struct proxy_header *ret_header)
{
    struct proxy_header header = { .size = 0 };
    enum proxy_found found = PROXY_MALFORMED;

    if (input.len == 0)
        return PROXY_PART;
    if (may_begin(input, line_begin))
        found = find_line(input, &header);
    else if (may_begin(input, signature))
        found = find_binary(input, &header);
    if (found == PROXY_WHOLE)
        *ret_header = header;
    return found;
}
