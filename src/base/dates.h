/* Dates: instants and their text forms in HTTP and Azure. Thread-safe and async-signal-safe: no
 * time zone, no lock, no locale. */
#ifndef LAGRA_BASE_DATES_H
#define LAGRA_BASE_DATES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

/* 100 ns ticks since 0001-01-01T00:00:00Z (proleptic Gregorian, no leap seconds). 0 means never. */
typedef uint64_t instant;

#define INSTANT_MAX        UINT64_MAX /* later than all others: never */
#define TICKS_PER_SECOND   10000000ull
#define TICKS_PER_DAY      (86400 * TICKS_PER_SECOND)
/* 1970-01-01 as an instant. */
#define INSTANT_UNIX_EPOCH 621355968000000000ull

/* Returns whole seconds since 0001-01-01, the resolution of Last-Modified and of dates in
 * conditions. */
static inline uint64_t instant_seconds(instant t)
{
    return t / TICKS_PER_SECOND;
}

/* Writes "Sun, 06 Nov 1994 08:49:37 GMT"; rfc: 9110 5.6.7. INSTANT_HTTP_SIZE includes the NUL. */
#define INSTANT_HTTP_SIZE 30
void instant_format_http(instant t, char buffer[INSTANT_HTTP_SIZE]);
/* Writes "2019-05-09T01:19:17.1234567Z", for snapshots and XML dates. */
#define INSTANT_ISO_SIZE 29
void instant_format_iso(instant t, char buffer[INSTANT_ISO_SIZE]);
/* Parses the three date forms of rfc: 9110 5.6.7. A two-digit year is interpreted relative to the
 * wall clock. */
bool instant_parse_http(struct bytes text, instant *ret_instant);
/* Parses yyyy-mm-ddThh:mm:ss[.f{1,7}]Z and the shorter forms that SAS and policies allow
 * (yyyy-mm-dd, yyyy-mm-ddThh:mmZ). */
bool instant_parse_iso(struct bytes text, instant *ret_instant);

#endif
