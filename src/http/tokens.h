/* Inside http/ only: what the readers of heads share (head.c, chunks.c, multipart.c). */
#ifndef LAGRA_HTTP_TOKENS_H
#define LAGRA_HTTP_TOKENS_H

#include "http/http.h"

/* METHOD_OTHER for a method without a value of its own. Methods are spelled exactly. */
enum http_method http_method_of(struct bytes text);
/* The name of a header in lower case into `to`, name.len bytes. False: it is not a token.
 * rfc: 9110 5.6.2 */
bool http_lower_name(struct bytes name, char *to);
/* The token that a line begins with, in lower case into `to`, which has room for the line. Returns
 * its length; 0: none. */
size_t http_lower_token(struct bytes line, char *to);
bool http_is_token(struct bytes text);
/* host[:port] of a URL, as Host has it too: a name, an IPv4 address, or an address in brackets.
 * Not empty; no user name. rfc: 9112 3.2; 3986 3.2.2, 3.2.3 */
bool http_is_host(struct bytes text);

#endif
