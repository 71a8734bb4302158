/* Parsers of HTTP tokens, shared by head.c, chunks.c and multipart.c. Internal to http/. */
#ifndef LAGRA_HTTP_TOKENS_H
#define LAGRA_HTTP_TOKENS_H

#include "http/http.h"

/* Returns METHOD_OTHER for a method without its own value. Methods are case-sensitive. */
enum http_method http_method_of(struct bytes text);
/* Writes the lower-case name of a header to `to`, name.len bytes. Returns false if it is not a
 * token. rfc: 9110 5.6.2 */
bool http_lower_name(struct bytes name, char *to);
/* Writes the token at the start of a line to `to` in lower case; `to` must have space for the
 * entire line. Returns the token's length, or 0 if the line does not start with a token. */
size_t http_lower_token(struct bytes line, char *to);
bool http_is_token(struct bytes text);
/* Checks the host[:port] of a URL or Host header: a name, an IPv4 address, or an address in
 * brackets. Refuses an empty host or a user name. rfc: 9112 3.2; 3986 3.2.2, 3.2.3 */
bool http_is_host(struct bytes text);

#endif
