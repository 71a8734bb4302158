/* Requests that control a server started with --testing, on its management port
 * (docs/fault-injection.md):
 *
 *   GET, DELETE /-/faults            show or drop all fault rules (request/faults.h)
 *   GET, PUT, DELETE /-/faults/NAME  show, create or drop a rule
 *   GET, PUT /-/time                 show the server's clock, or move it forward
 *   GET /-/snapshots                 list the saved states of the store (saved_states.h)
 *   PUT, DELETE /-/snapshots/NAME    save or drop a state
 *   PUT /-/snapshots/NAME/loaded     restore a state
 *
 * Bodies and responses are JSON; an error is {"error":"a sentence"}. POST and CORS are not
 * supported, so that web pages in a browser on this machine cannot change anything. */
#ifndef LAGRA_ADMIN_TESTING_H
#define LAGRA_ADMIN_TESTING_H

#include "admin/management.h"

/* Returns true if the request has one of the paths above. */
bool is_testing_request(const struct request *request);
/* Callbacks of struct http_application for such a request. */
enum http_step testing_head(struct exchange *exchange, const struct management *management);
enum http_step testing_body(struct exchange *exchange, struct bytes data, size_t *ret_taken);
enum http_step testing_end(struct exchange *exchange, const struct management *management);

#endif
