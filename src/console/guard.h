/* How browsers may use responses of the console, and its cookie. Which requests it takes: http/site.h. Inside of
 * console/ only. decision: 551 */
#ifndef LAGRA_CONSOLE_GUARD_H
#define LAGRA_CONSOLE_GUARD_H

#include "http/http.h"

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
