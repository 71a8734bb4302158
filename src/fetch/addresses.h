/* Which addresses this server connects to on behalf of its clients. A client names a URL; whatever
 * its host resolves to, what is not the public internet is refused unless the operator has allowed
 * it. Pure. rfc: 6890 2.2 */
#ifndef LAGRA_FETCH_ADDRESSES_H
#define LAGRA_FETCH_ADDRESSES_H

#include <sys/socket.h>

#include "base/address.h"

/* May it be connected to? IPv4 addresses within IPv6 ones (mapped) are judged as what they are.
 * allowed: beyond the public internet */
bool addresses_permit(const struct address_list *allowed, const struct sockaddr *address);

#endif
