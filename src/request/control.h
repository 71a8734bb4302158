/* Control requests of test builds (LAGRA_GATES) under /$lagra/, listed in base/gate.h. Also writes
 * a JSON line for each response to the file LAGRA_REPLY_LOG, with which tests/reply_check checks
 * responses against the operation tables. */
#ifndef LAGRA_REQUEST_CONTROL_H
#define LAGRA_REQUEST_CONTROL_H

#include "request/request_private.h"

#ifdef LAGRA_GATES
/* Returns true if it was a control request, whose response is then ready. */
bool control_request(struct exchange *exchange);
void control_reply(const struct work *work);
#else
static inline bool control_request(struct exchange *exchange)
{
    (void)exchange;
    return false;
}
static inline void control_reply(const struct work *work)
{
    (void)work;
}
#endif

#endif
