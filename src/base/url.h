/* Absolute URLs of the schemes http and https, taken apart and nothing more: no part is decoded.
 * rfc: 3986 3. Pure; any bytes may come. */
#ifndef LAGRA_BASE_URL_H
#define LAGRA_BASE_URL_H

#include "base/arena.h"

struct url {
    bool secure;            /* https */
    struct bytes host;      /* without the brackets of an IPv6 address; 1 byte or more */
    bool is_ipv6;           /* it had brackets */
    uint16_t port;          /* that of the scheme when none was given; not 0 */
    struct bytes authority; /* host and port as they stand in the URL: for a Host header */
    struct bytes path;      /* from the first '/'; "/" if the URL has none */
    struct bytes query;     /* without '?'; ptr NULL: none */
};

/* All parts point into text. False: not such a URL; a user name or a fragment in it; bytes other
 * than visible ASCII and those above it (which a host has not either). */
bool url_parse(struct bytes text, struct url *ret_url);
/* Returns the URL with a blank in its path or query as "%20", and a backslash in its path as '/': so
 * .NET's Uri reads what clients write, and with it the service. Scheme and authority are unchanged. */
struct bytes url_normal(struct arena *arena, struct bytes text);
/* The URL without its parameters of this name (lower case; names in URLs may have any), the rest as
 * it is. */
struct bytes url_without(struct arena *arena, struct bytes text, const char *name);
/* Takes the first parameter off a query: *ret_name before its '=', *ret_value behind it (ptr NULL: it has none). Neither is
 * decoded. Between "&&" is one of an empty name and no value, behind the last '&' is none. False: there are no more. */
bool url_take_parameter(struct bytes *query, struct bytes *ret_name, struct bytes *ret_value);
/* Returns a decoded path as the URI class of the Blob service normalizes it: '\\' is '/', segments lose
 * the dots at their end, a segment of dots only is removed, and ".." removes the one before it too.
 * The result is the path itself if nothing changes. decision: 39 */
struct bytes url_normalize_path(struct arena *arena, struct bytes path);
/* A loopback name or address: localhost, *.localhost, 127.0.0.0/8, ::1. Says nothing of what it
 * resolves to. */
bool url_host_is_local(struct bytes host);

#endif
