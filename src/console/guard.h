/* Restricts how browsers may use responses of the console, and manages its cookie. The requests it
 * accepts: http/site.h. Internal to console/. decision: 551 */
#ifndef LAGRA_CONSOLE_GUARD_H
#define LAGRA_CONSOLE_GUARD_H

#include "http/http.h"

/* Returns true if the request loads data, as opposed to a script, style or frame, which stored data
 * must never become. */
bool guard_is_for_data(const struct request *request);

/* Add the headers of a response of the console itself, and of a relayed one, which is at most
 * displayed as text or image or downloaded, and never executed. */
void guard_answer(struct response *response);
void guard_relayed(struct response *response);

/* Returns the console's cookie for this port; ptr NULL if there is none. */
struct bytes guard_cookie(struct arena *arena, const struct request *request);
/* Returns its name, in the arena. It contains the port, because cookies are shared by all ports of
 * a host. */
struct bytes guard_cookie_name(struct arena *arena, const struct request *request);

#endif
