/* The two forms of a time on the wire, read without the server's code. */
#ifndef LAGRA_SIM_TIMES_H
#define LAGRA_SIM_TIMES_H

#include <stdint.h>

/* A snapshot's time in ticks of 100 ns since the year 1; 0: not of that form. */
uint64_t times_ticks(const char *time);
/* The other way round. */
void times_format(uint64_t ticks, char to[32]);
/* The version of a container that was deleted then: hexadecimal digits of 100 ns since 1601. */
void times_deleted(uint64_t ticks, char to[20]);
/* Unix seconds of an HTTP date; 0: not of that form. */
int64_t times_http_seconds(const char *date);

#endif
