/* Internal to console/: the console, and requests to it. */
#ifndef LAGRA_CONSOLE_PRIVATE_H
#define LAGRA_CONSOLE_PRIVATE_H

#include "auth/logons.h"
#include "base/json.h"
#include "base/lock.h"
#include "console/history.h"
#include "console/sessions.h"

#define CONSOLE_PATH "/console/"
#define API_PATH     CONSOLE_PATH "api/"
#define DATA_PATH    CONSOLE_PATH "data/"

/* Application for relayed requests: passes them to another application and restricts its
 * responses. */
struct relay {
    struct http_application application;
    const struct http_application *inner;
};

struct console {
    struct console_options options;
    struct relay relay;
    struct logons *logons;    /* throttles failed sign-ins */
    struct lock lock;         /* RANK_CONSOLE */
    struct sessions sessions; /* under lock */
    struct history history;   /* under lock */
};

/* Returns a copy of the request's session, and extends it if is_asked_for. In the copy, is_taken
 * is false if there is no session. */
struct session console_session(struct console *console, const struct exchange *exchange,
                               bool is_asked_for);

/* ---- responses ---- */

/* Fills in a response. type: static; body: in the exchange's arena or static. Returns
 * HTTP_RESPOND. */
enum http_step console_answer(struct exchange *exchange, int status, const char *type,
                              struct bytes body);
/* Responds with 304 and the headers that the caller has added. */
enum http_step console_answer_unchanged(struct exchange *exchange);
enum http_step console_refuse(struct exchange *exchange, int status, const char *code,
                              const char *why);

/* ---- requests ---- */

/* Responds with a page. */
enum http_step pages_answer(struct exchange *exchange);

/* inner: like console_options.services */
void relay_init(struct relay *relay, const struct http_application *inner);
/* Relays a request to a service. Called by head(). */
enum http_step relay_request(struct exchange *exchange, struct console *console);

/* Limits on requests of the pages to the server. */
#define API_BODY_MAX_BYTES ((size_t)16 << 10)
#define API_ARGUMENTS_MAX  5

struct api_call {
    struct exchange *exchange;
    struct console *console;
    const struct api_operation *operation;
    struct session session; /* session of the user; not signed in if is_taken is false */
    struct text body;
    /* in the order of the row's arguments; ptr NULL if absent */
    struct bytes given[API_ARGUMENTS_MAX];
    struct text answer;
    struct json_writer out; /* writes the members of `answer` */
};
/* Returns true if the request has the token of its session, which pages of other sites and of
 * other ports of this host do not know. Returns false if there is no session. */
bool api_has_token(const struct session *session, const struct request *request);
/* Returns true if a timer of a page sent the request, so that the user may be absent.
 * decision: 920 */
bool api_is_timed(const struct request *request);
enum http_step api_head(struct exchange *exchange, struct console *console);
enum http_step api_body(struct exchange *exchange, struct bytes data, size_t *ret_taken);
enum http_step api_end(struct exchange *exchange);
void api_done(struct exchange *exchange);

/* Fails the call with a one-word code and a message. */
enum http_step api_fail(struct api_call *call, int status, const char *code, const char *why);
enum http_step api_answer(struct api_call *call);

/* The operations of the table in api.c. sign.c: */
enum http_step api_sign_in(struct api_call *call);
enum http_step api_sign_out(struct api_call *call);
enum http_step api_sas(struct api_call *call);
enum http_step api_make_sas(struct api_call *call);
enum http_step api_sign_request(struct api_call *call);

#endif
