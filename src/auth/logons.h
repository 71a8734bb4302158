/* Counts failed logons by client address to slow down guessing of keys: an address may fail
 * LOGONS_FAILED_MAX times at once, and then once per LOGON_FORGOTTEN_S. Beyond that its logons are
 * delayed (session_setup_hold()) and finally refused unchecked, even with a correct key, because
 * otherwise the response would reveal whether the key is correct. decision: 359
 *
 * An IPv6 address counts as its /64. The table has a fixed size; if it is full, the address with
 * the fewest failures is dropped. Thread-safe. */
#ifndef LAGRA_AUTH_LOGONS_H
#define LAGRA_AUTH_LOGONS_H

#include "base/dates.h"

#define LOGONS_FAILED_MAX 50u
#define LOGON_FORGOTTEN_S 1u
/* Delay before a logon is refused. */
#define LOGON_PATIENCE_S  10u

struct logons;
struct logons *logons_new(void);
void logons_free(struct logons *logons);

/* Returns true if a logon from the address may be checked.
 *
 * address  16 bytes; IPv4 as mapped into IPv6
 * now      wall clock; setting it back does not reset counts at once */
bool logons_may_try(struct logons *logons, const uint8_t address[16], instant now);
/* Counts a failed logon. */
void logons_failed(struct logons *logons, const uint8_t address[16], instant now);

#endif
