/* Internet addresses of both versions as 16 bytes (IPv4 as the mapped ::ffff:a.b.c.d), and lists of
 * CIDR blocks configured by an operator. Pure. Thread-safe. */
#ifndef LAGRA_BASE_ADDRESS_H
#define LAGRA_BASE_ADDRESS_H

#include "base/bytes.h"

struct sockaddr;

#define ADDRESS_SIZE       16
#define ADDRESS_V4_BEGIN   12 /* offset of an IPv4 address */
#define ADDRESS_BLOCKS_MAX 64
#define ADDRESS_TEXT_MAX   64 /* "[ipv6]:port" and a NUL */

/* Parses "192.0.2.1" or "2001:db8::1". Returns false if the text is neither. */
bool address_parse(struct bytes text, uint8_t ret_address[ADDRESS_SIZE]);
/* Reads the address and port from a socket address. Returns false for other address families. */
bool address_from(const struct sockaddr *from, uint8_t ret_address[ADDRESS_SIZE],
                  uint16_t *ret_port);
bool address_is_v4(const uint8_t address[ADDRESS_SIZE]);
/* Converts the four bytes of an IPv4 address in network order. */
void address_from_v4(const void *bytes, uint8_t ret_address[ADDRESS_SIZE]);
/* Writes "192.0.2.1:5000" or "[2001:db8::1]:5000", NUL-terminated. */
void address_write(const uint8_t address[ADDRESS_SIZE], uint16_t port, char to[ADDRESS_TEXT_MAX]);

/* Parses the output of address_write(). Returns false for all other text. */
bool address_read(struct bytes text, uint8_t ret_address[ADDRESS_SIZE], uint16_t *ret_port);

/* A CIDR block. */
struct address_block {
    uint8_t address[ADDRESS_SIZE];
    unsigned bits; /* 0..128 */
};

struct address_list {
    struct address_block blocks[ADDRESS_BLOCKS_MAX];
    size_t count;
};

/* Returns true if the first `bits` bits of both are equal. */
bool address_begins_with(const uint8_t *address, const uint8_t *prefix, unsigned bits);
/* Adds blocks given as "127.0.0.1,10.0.0.0/8,fd00::/8" to the list. Returns false if the text is
 * malformed or the list is full. */
bool address_list_parse(struct bytes text, struct address_list *list);
/* Returns true if one of the blocks contains the address. Mapped IPv4 addresses match IPv4
 * blocks. */
bool address_list_has(const struct address_list *list, const uint8_t address[ADDRESS_SIZE]);

#endif
