/* Probes for tracers (USDT): an instruction that does nothing, and a note in the program file that says where it is
 * and where its arguments are. docs/monitoring.md. Inside service/ only. source: sourceware.org/systemtap/wiki/UserSpaceProbeImplementation */
#ifndef LAGRA_OBSERVE_PROBES_H
#define LAGRA_OBSERVE_PROBES_H

#include <sys/sdt.h>

/* A request begins. request: a number of its own while it lasts; service: "blob" */
#define PROBE_BEGIN(request, service)  DTRACE_PROBE2(lagra, request__begin, request, service)
/* It leaves a stage (enum request_stage) for another. */
#define PROBE_STAGE(request, from, to) DTRACE_PROBE3(lagra, request__stage, request, from, to)
/* It is over. operation: its name; status: 0, if it has none */
#define PROBE_END(request, operation, status)                                                      \
    DTRACE_PROBE3(lagra, request__end, request, operation, status)

#endif
