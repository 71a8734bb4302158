/* Logons that failed, counted by the address that they came from, so that keys cannot be tried at will: an
 * address may fail LOGONS_FAILED_MAX times at once, and then once in LOGON_FORGOTTEN_S. Beyond that its
 * logons wait (session_setup_hold()), and are refused unseen in the end, right ones too, or a wrong key would
 * be told from a right one. decision: 359
 *
 * An IPv6 address counts with all of its /64. The table has a fixed size; where it is full, the address that has
 * failed least is forgotten. Any thread. */
#ifndef LAGRA_AUTH_LOGONS_H
#define LAGRA_AUTH_LOGONS_H

#include "base/dates.h"

#define LOGONS_FAILED_MAX 50u
#define LOGON_FORGOTTEN_S 1u
/* So long a logon is held up before it is refused. */
#define LOGON_PATIENCE_S  10u

struct logons;
struct logons *logons_new(void);
void logons_free(struct logons *logons);

/* Whether a logon from there is to be looked at.
 *
 * address  16 bytes; IPv4 as mapped into IPv6
 * now      by the wall clock; one that was set back forgets nothing at once */
bool logons_may_try(struct logons *logons, const uint8_t address[16], instant now);
/* One has failed. */
void logons_failed(struct logons *logons, const uint8_t address[16], instant now);

#endif
