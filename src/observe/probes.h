/* Probes for tracers (USDT). A probe is a no-op instruction, and a note in the executable that
 * records its address and the location of its arguments. See docs/monitoring.md.
 * source: sourceware.org/systemtap/wiki/UserSpaceProbeImplementation */
#ifndef LAGRA_OBSERVE_PROBES_H
#define LAGRA_OBSERVE_PROBES_H

#include <sys/sdt.h>

/* A request starts. request: identifies the request until it ends; service: "blob" */
#define PROBE_BEGIN(request, service)  DTRACE_PROBE2(lagra, request__begin, request, service)
/* The request moves from one stage (enum request_stage) to another. */
#define PROBE_STAGE(request, from, to) DTRACE_PROBE3(lagra, request__stage, request, from, to)
/* The request has ended. operation: its name; status: 0 without a response */
#define PROBE_END(request, operation, status)                                                      \
    DTRACE_PROBE3(lagra, request__end, request, operation, status)

#endif
