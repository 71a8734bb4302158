/* The addresses that this server connects to on behalf of its clients. A client supplies a URL;
 * whatever its host resolves to, addresses outside of the public internet are refused unless the
 * operator has allowed them. Pure. rfc: 6890 2.2 */
#ifndef LAGRA_FETCH_ADDRESSES_H
#define LAGRA_FETCH_ADDRESSES_H

#include <sys/socket.h>

#include "base/address.h"

/* Returns true if connections to the address are permitted. Mapped IPv4 addresses are treated as
 * IPv4. allowed: in addition to the public internet */
bool addresses_permit(const struct address_list *allowed, const struct sockaddr *address);

#endif
