/* Which addresses this server connects to on behalf of its clients. A client names a URL; whatever
 * its host resolves to, what is not the public internet is refused unless the operator has allowed
 * it. Pure. rfc: 6890 2.2 */
#ifndef LAGRA_FETCH_ADDRESSES_H
#define LAGRA_FETCH_ADDRESSES_H

#include <sys/socket.h>

#include "base/bytes.h"

#define ADDRESS_BLOCKS_MAX 64

/* Addresses that begin with the same bits. IPv4 is written as IPv6: ::ffff:a.b.c.d. */
struct address_block {
    uint8_t address[16];
    unsigned bits; /* 0..128 */
};

struct address_list {
    struct address_block blocks[ADDRESS_BLOCKS_MAX];
    size_t count;
};

/* "127.0.0.1,10.0.0.0/8,fd00::/8": adds them. False: malformed, or too many. */
bool addresses_parse(struct bytes text, struct address_list *list);
/* May it be connected to? IPv4 addresses within IPv6 ones (mapped) are judged as what they are.
 * allowed: beyond the public internet */
bool addresses_permit(const struct address_list *allowed, const struct sockaddr *address);

#endif
