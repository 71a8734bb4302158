/* The logs of requests as the program starts and stops them. Main thread. */
#ifndef LAGRA_PROGRAM_REQUEST_LOGS_H
#define LAGRA_PROGRAM_REQUEST_LOGS_H

#include "program/options.h"

/* Before anything is served. returns false, after saying why on stderr; request_logs_stop() is due all the same */
bool request_logs_start(const struct options *options);
/* When nothing is served any more: writes what is left. */
void request_logs_stop(void);

#endif
