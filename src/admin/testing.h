/* What the tests of clients ask at the management port of a server that is started with --testing (docs/testing.md):
 *
 *   GET, DELETE /-/faults            all rules of faults (service/faults.h): shown, dropped
 *   GET, PUT, DELETE /-/faults/NAME  one of them
 *   GET, PUT /-/time                 the server's clock: shown, moved forward
 *   GET /-/snapshots                 states of the store that were saved (saved_states.h)
 *   PUT, DELETE /-/snapshots/NAME    saves one, drops it
 *   PUT /-/snapshots/NAME/loaded     goes back to it
 *
 * Bodies and answers are JSON; a refusal is {"error":"a sentence"}. Nothing is changed by POST, and nothing is said of
 * other origins, so that a page in a browser on this machine can change nothing. */
#ifndef LAGRA_ADMIN_TESTING_H
#define LAGRA_ADMIN_TESTING_H

#include "admin/management.h"

/* Is it one of the paths above? */
bool testing_is_asked(const struct request *request);
/* For struct http_application, of such a request. */
enum http_step testing_head(struct exchange *exchange, const struct management *management);
enum http_step testing_body(struct exchange *exchange, struct bytes data, size_t *ret_taken);
enum http_step testing_end(struct exchange *exchange, const struct management *management);

#endif
