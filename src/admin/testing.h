/* Requests for tests of clients on the management port of a server started with --testing
 * (docs/fault-injection.md):
 *
 *   GET, DELETE /-/faults            all fault rules (request/faults.h): shows, drops
 *   GET, PUT, DELETE /-/faults/NAME  one of them
 *   GET, PUT /-/time                 the server's clock: shows, moves forward
 *   GET /-/snapshots                 saved states of the store (saved_states.h)
 *   PUT, DELETE /-/snapshots/NAME    saves or drops one
 *   PUT /-/snapshots/NAME/loaded     restores it
 *
 * Bodies and responses are JSON; an error is {"error":"a sentence"}. There is no POST and no CORS,
 * so that a page in a browser on this machine cannot change anything. */
#ifndef LAGRA_ADMIN_TESTING_H
#define LAGRA_ADMIN_TESTING_H

#include "admin/management.h"

/* Returns true for one of the paths above. */
bool testing_is_asked(const struct request *request);
/* Callbacks of struct http_application for such a request. */
enum http_step testing_head(struct exchange *exchange, const struct management *management);
enum http_step testing_body(struct exchange *exchange, struct bytes data, size_t *ret_taken);
enum http_step testing_end(struct exchange *exchange, const struct management *management);

#endif
