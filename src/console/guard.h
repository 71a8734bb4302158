/* What a request to the console must have before anything else of it counts, and what its answers say to browsers.
 * Inside of console/ only. decision: 551 */
#ifndef LAGRA_CONSOLE_GUARD_H
#define LAGRA_CONSOLE_GUARD_H

#include "http/http.h"

/* Whether the host that it names is this server's beyond doubt: over TLS, whose certificate says so, any; else a name or
 * address of this machine. A page of a stranger's name that was pointed here (DNS rebinding) names that name. */
bool guard_knows_host(struct arena *arena, const struct request *request);
/* Whether a page of the console makes it, by what the browser says (Sec-Fetch-Site), or else by its Origin. source: W3C
 * Fetch Metadata; rfc: 6454 7 */
bool guard_is_own_page(const struct request *request);
/* Whether it loads data: not a script, a style, a frame or the like, which what is stored must never be. */
bool guard_is_for_data(const struct request *request);

/* The headers of an answer of the console itself, and of one that was relayed: that is shown as text, an image or a
 * download at most, and never runs. */
void guard_answer(struct response *response);
void guard_relayed(struct response *response);

/* The console's cookie of this port; ptr NULL: it has none. */
struct bytes guard_cookie(struct arena *arena, const struct request *request);
/* How that one is called: cookies belong to a host with all its ports. In the arena. */
struct bytes guard_cookie_name(struct arena *arena, const struct request *request);

#endif
