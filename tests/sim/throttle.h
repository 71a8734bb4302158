/* Limits of the account, in one run of four: requests and bytes per second, capacity and number of
 * containers change while requests are in progress, and counts of the account's usage end, as those
 * of admin/usage_survey.h.
 *
 * The times of requests and their sizes bound what each may have been charged, and when. A request
 * that is refused with 503 or 507 must have been over a limit under the upper bounds, and one that
 * is not refused must have been within it under the lower bounds. A refused request must not
 * commit; its service's judge sees a request without a response.
 *
 * auth/account_limits.h; rest: Blob-Service-Error-Codes "ServerBusy"; decision: 460, 461 */
#ifndef LAGRA_SIM_THROTTLE_H
#define LAGRA_SIM_THROTTLE_H

#include "request.h"

struct account;

/* Replaces requests that the judge cannot follow. */
void throttle_draw(struct ask *ask);
/* Changes the limits until throttle_end(). Starts a thread. */
void throttle_start(const struct account *account);
/* Removes all limits. */
void throttle_end(void);

void throttle_asked(unsigned slot, const struct ask *ask);
/* Records the length of the request's body. is_read: GET or HEAD */
void throttle_sends(unsigned slot, uint64_t bytes, bool is_read);
/* After each commit, of whatever request. */
void throttle_committed(void);
/* Ends the request. Returns whether it was refused for a limit, which was right. */
bool throttle_refused(unsigned slot, const struct reply *answer, bool has_committed, bool may_fail);

#endif
