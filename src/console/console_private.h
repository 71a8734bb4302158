/* Inside of console/ only: the console, and a request to it. */
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

struct console {
    struct console_options options;
    struct logons *logons;    /* sign-ins that failed */
    struct lock lock;         /* RANK_CONSOLE */
    struct sessions sessions; /* under lock */
    struct history history;   /* under lock */
};

/* A copy of the session that the request is made in, and of now on asked for again; is_taken false: there is none. */
struct session console_session(struct console *console, const struct exchange *exchange,
                               bool is_asked_for);

/* ---- answers ---- */

/* type: static; body: in the exchange's arena or static. returns HTTP_RESPOND */
enum http_step console_answer(struct exchange *exchange, int status, const char *type,
                              struct bytes body);
/* Sends 304 with the headers that the caller has added. */
enum http_step console_answer_unchanged(struct exchange *exchange);
enum http_step console_refuse(struct exchange *exchange, int status, const char *code,
                              const char *why);

/* ---- what is asked ---- */

/* A page. */
enum http_step pages_answer(struct exchange *exchange);

/* A request to a service, passed on to it. In head(). */
enum http_step relay_request(struct exchange *exchange, struct console *console);

/* What the pages ask. */
#define API_BODY_MAX_BYTES ((size_t)16 << 10)
#define API_ARGUMENTS_MAX  5

struct api_call {
    struct exchange *exchange;
    struct console *console;
    const struct api_operation *operation;
    struct session session; /* is_taken false: nobody is signed in */
    struct text body;
    struct bytes given[API_ARGUMENTS_MAX]; /* by the row's list; ptr NULL: not given */
    struct text answer;
    struct json_writer out; /* into it: the members of the answer */
};
/* Whether a request that needs it has the token of its session, which no other site's page and no other port of this host
 * knows. False: or there is no session. */
bool api_has_token(const struct session *session, const struct request *request);
/* Returns true if a timer of a page sent the request: the session's user need not be there. decision: 920 */
bool api_is_timed(const struct request *request);
enum http_step api_head(struct exchange *exchange, struct console *console);
enum http_step api_body(struct exchange *exchange, struct bytes data, size_t *ret_taken);
enum http_step api_end(struct exchange *exchange);
void api_done(struct exchange *exchange);

/* The call fails, with the code in one word and a sentence. */
enum http_step api_fail(struct api_call *call, int status, const char *code, const char *why);
enum http_step api_answer(struct api_call *call);

/* The operations of the table in api.c. sign.c: */
enum http_step api_sign_in(struct api_call *call);
enum http_step api_sign_out(struct api_call *call);
enum http_step api_sas(struct api_call *call);
enum http_step api_make_sas(struct api_call *call);
enum http_step api_sign_request(struct api_call *call);

#endif
