/* Restricts how browsers may use responses of the console, and manages its cookie. http/site.h
 * determines which requests it accepts. Internal to console/. decision: 551 */
#ifndef LAGRA_CONSOLE_GUARD_H
#define LAGRA_CONSOLE_GUARD_H

#include "http/http.h"

/* Returns true if the request loads data and not a script, style or frame, because stored data
 * must never be used as these. */
bool guard_is_for_data(const struct request *request);

/* Add headers to a response of the console itself, and to a relayed response, which can then only
 * be downloaded or displayed as text or an image, and never executed. */
void guard_answer(struct response *response);
void guard_relayed(struct response *response);

/* Returns the console's cookie for this port; ptr NULL if none exists. */
struct bytes guard_cookie(struct arena *arena, const struct request *request);
/* Returns the name of the cookie, in the arena. It contains the port, because all ports of a host
 * share cookies. */
struct bytes guard_cookie_name(struct arena *arena, const struct request *request);

#endif
