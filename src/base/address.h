/* Addresses of the Internet, of either version as 16 bytes: IPv4 is written as IPv6, ::ffff:a.b.c.d. And lists of
 * blocks of them, as an operator names them. Pure. Any thread. */
#ifndef LAGRA_BASE_ADDRESS_H
#define LAGRA_BASE_ADDRESS_H

#include "base/bytes.h"

struct sockaddr;

#define ADDRESS_SIZE       16
#define ADDRESS_V4_BEGIN   12 /* of an IPv4 address in them */
#define ADDRESS_BLOCKS_MAX 64
#define ADDRESS_TEXT_MAX   64 /* "[ipv6]:port" and a NUL */

/* "192.0.2.1" or "2001:db8::1". False: it is neither. */
bool address_parse(struct bytes text, uint8_t ret_address[ADDRESS_SIZE]);
/* False: of another family. */
bool address_from(const struct sockaddr *from, uint8_t ret_address[ADDRESS_SIZE],
                  uint16_t *ret_port);
bool address_is_v4(const uint8_t address[ADDRESS_SIZE]);
/* Of the four bytes of an IPv4 address, as it is sent. */
void address_from_v4(const void *bytes, uint8_t ret_address[ADDRESS_SIZE]);
/* "192.0.2.1:5000" or "[2001:db8::1]:5000", ends with a NUL. */
void address_write(const uint8_t address[ADDRESS_SIZE], uint16_t port, char to[ADDRESS_TEXT_MAX]);

/* Reads what address_write() has written. Returns false if it is anything else. */
bool address_read(struct bytes text, uint8_t ret_address[ADDRESS_SIZE], uint16_t *ret_port);

/* Addresses that begin with the same bits. */
struct address_block {
    uint8_t address[ADDRESS_SIZE];
    unsigned bits; /* 0..128 */
};

struct address_list {
    struct address_block blocks[ADDRESS_BLOCKS_MAX];
    size_t count;
};

/* Whether the first `bits` bits of both are the same. */
bool address_begins_with(const uint8_t *address, const uint8_t *prefix, unsigned bits);
/* "127.0.0.1,10.0.0.0/8,fd00::/8": adds them. False: malformed, or too many. */
bool address_list_parse(struct bytes text, struct address_list *list);
/* Is it in one of the blocks? IPv4 addresses within IPv6 ones (mapped) are judged as what they are. */
bool address_list_has(const struct address_list *list, const uint8_t address[ADDRESS_SIZE]);

#endif
