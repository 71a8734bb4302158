/* Splits absolute http and https URLs into parts, without decoding. rfc: 3986 3. Pure; any input
 * is safe. */
#ifndef LAGRA_BASE_URL_H
#define LAGRA_BASE_URL_H

#include "base/arena.h"

struct url {
    bool secure;            /* https */
    struct bytes host;      /* without the brackets of an IPv6 address; 1 byte or more */
    bool is_ipv6;           /* had brackets */
    uint16_t port;          /* the scheme's default port if none was given; never 0 */
    struct bytes authority; /* host and port as in the URL, for a Host header */
    struct bytes path;      /* from the first '/'; "/" if the URL has none */
    struct bytes query;     /* without '?'; ptr NULL if none */
};

/* Splits a URL; all parts point into the text. Returns false if it is invalid, has another scheme,
 * a user name or a fragment, or contains invisible ASCII characters (or, in the host, any non-ASCII
 * characters). */
bool url_parse(struct bytes text, struct url *ret_url);
/* Returns the URL with spaces in its path or query as "%20" and backslashes in its path as '/',
 * which is how .NET's Uri, and therefore the service, reads it. Scheme and authority are
 * unchanged. */
struct bytes url_normal(struct arena *arena, struct bytes text);
/* Returns the URL without its parameters of this name (in lower case; the comparison ignores
 * case), otherwise unchanged. */
struct bytes url_without(struct arena *arena, struct bytes text, const char *name);
/* Removes the first parameter from a query: *ret_name before its '=', *ret_value after it (ptr NULL
 * without '='). Does not decode. The empty name in "&&" counts as a parameter, but an empty end
 * after the last '&' does not. Returns false at the end. */
bool url_take_parameter(struct bytes *query, struct bytes *ret_name, struct bytes *ret_value);
/* Returns a decoded path, normalized like by the URI class of the Blob service: '\\' becomes '/',
 * segments lose trailing dots, a segment of only dots is removed, and ".." also removes the one
 * before it. The result is the path itself if nothing changes. decision: 39 */
struct bytes url_normalize_path(struct arena *arena, struct bytes path);
/* Returns true for loopback names and addresses: localhost, *.localhost, 127.0.0.0/8, ::1. Does not
 * resolve the name. */
bool url_host_is_local(struct bytes host);

#endif
