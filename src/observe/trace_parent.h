/* The trace that a request is part of, as its client says. Pure. Any thread. source: w3.org/TR/trace-context-1 3.2 */
#ifndef LAGRA_OBSERVE_TRACE_PARENT_H
#define LAGRA_OBSERVE_TRACE_PARENT_H

#include "base/bytes.h"

#define TRACE_ID_LENGTH 32u

/* The trace id in a header traceparent: 32 hexadecimal digits in lower case, within it; ptr NULL: the header is not
 * there, or not of the form. */
struct bytes trace_parent_id(struct bytes traceparent);

#endif
