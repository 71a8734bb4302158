/* The trace that a request belongs to, as specified by the client. Pure. Thread-safe.
 * source: w3.org/TR/trace-context-1 3.2 */
#ifndef LAGRA_OBSERVE_TRACE_PARENT_H
#define LAGRA_OBSERVE_TRACE_PARENT_H

#include "base/bytes.h"

#define TRACE_ID_LENGTH 32u

/* Returns the trace id in a traceparent header: 32 lower-case hexadecimal digits, which point into
 * the header. Returns ptr NULL if the header is missing or malformed. */
struct bytes trace_parent_id(struct bytes traceparent);

#endif
