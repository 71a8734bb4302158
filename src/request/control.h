/* Test builds (LAGRA_GATES) only, nothing otherwise: control requests under /$lagra/ (base/gate.h
 * lists them), and the reply log: a JSON line for each answer, to the file that LAGRA_REPLY_LOG
 * names, for the check of all replies against the operation tables. */
#ifndef LAGRA_REQUEST_CONTROL_H
#define LAGRA_REQUEST_CONTROL_H

#include "request/request_private.h"

#ifdef LAGRA_GATES
/* True: it was a control request, and its response is made. */
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
