/* Signs users in and out of the console, and creates the shared access signatures that its pages
 * use. */
#include <string.h>

#include "auth/sas_make.h"
#include "base/address.h"
#include "base/clock.h"
#include "base/encode.h"
#include "base/log.h"
#include "console/console_private.h"
#include "console/guard.h"
#include "observe/access_log.h"

/* Lifetime of a SAS; the pages request a new one in time. Shorter than the maximum duration of a
 * session, longer than its idle timeout. */
#define SAS_MINUTES 60u
/* All permissions of an account SAS, in the order of Create-account-SAS. */
#define SAS_OF_ALL  "sv=2022-11-02&ss=bqtf&srt=sco&sp=rwdxylacuptfi"
/* Characters that the SDKs do not encode. */
#define KEPT        "!*'()"

/* ---- signing in ---- */

/* Parses "192.0.2.1:5000" or "[2001:db8::1]:5000"; all other texts count as one address. */
static void read_peer(struct bytes peer, uint8_t ret_address[ADDRESS_SIZE])
{
    while (peer.len > 0 && peer.ptr[peer.len - 1] != ':')
        peer.len--;
    if (peer.len > 0)
        peer.len--;
    if (peer.len > 1 && peer.ptr[0] == '[')
        peer = bytes_of(peer.ptr + 1, peer.len - 2);
    if (!address_parse(peer, ret_address))
        memset(ret_address, 0, ADDRESS_SIZE);
}

/* Checks a key, for a session of its account, or a link, for a session of an operator. Returns
 * false if neither is valid. */
static bool is_entitled(struct api_call *call, const struct account **ret_account, size_t *ret_key)
{
    struct console *console = call->console;
    const struct account *account;
    bool is_good;

    *ret_account = NULL;
    *ret_key = 0;
    if (call->given[2].ptr) {
        lock_acquire(&console->lock);
        is_good = link_use(&console->sessions, call->given[2], clock_monotonic_ms());
        lock_release(&console->lock);
        return is_good;
    }
    account = accounts_find(console->options.accounts, call->given[0]);
    is_good = account_find_key(account, call->given[1], ret_key);
    *ret_account = account;
    return is_good && !account_refuses_keys(account);
}

static void set_cookie(struct api_call *call, const char *value, const char *more)
{
    const struct request *request = &call->exchange->request;
    struct arena *arena = call->exchange->arena;

    response_header(&call->exchange->response, bytes_from_string("Set-Cookie"),
                    arena_printf(arena,
                                 "%.*s=%s; Path=" CONSOLE_PATH "; HttpOnly; SameSite=Strict%s%s",
                                 BYTES_ARG(guard_cookie_name(arena, request)), value,
                                 request->secure ? "; Secure" : "", more));
}

static enum http_step begin_session(struct api_call *call, const struct account *account,
                                    size_t key)
{
    struct console *console = call->console;
    struct session copy = { .is_taken = false };
    struct session *session;

    lock_acquire(&console->lock);
    session = console_session_begin(&console->sessions, account, key, clock_monotonic_ms());
    if (session)
        copy = *session;
    lock_release(&console->lock);
    if (!copy.is_taken)
        return api_fail(call, 403, "AuthenticationFailed", "The key was changed just now.");
    set_cookie(call, copy.cookie, "");
    json_write_member(&call->out, "token",
                      arena_copy(call->exchange->arena, bytes_from_string(copy.token)));
    audit_note("a user signed in to the console",
               account ? account_name(account) : bytes_from_string("operator"));
    return api_answer(call);
}

enum http_step api_sign_in(struct api_call *call)
{
    struct bytes peer = call->exchange->request.peer;
    uint8_t address[ADDRESS_SIZE];
    const struct account *account;
    size_t key;

    if (!call->given[2].ptr && (!call->given[0].ptr || !call->given[1].ptr))
        return api_fail(call, 400, "InvalidArgument",
                        "An account and a key, or a link, are required.");
    read_peer(peer, address);
    if (!logons_may_try(call->console->logons, address, clock_wall())) {
        response_header_string(&call->exchange->response, "Retry-After", "1");
        return api_fail(call, 429, "TooManyFailures",
                        "Too many wrong keys; try again in a few seconds.");
    }
    if (is_entitled(call, &account, &key))
        return begin_session(call, account, key);
    logons_failed(call->console->logons, address, clock_wall());
    log_line(LOG_WARN, "refused a sign-in to the console from %.*s", BYTES_ARG(peer));
    return api_fail(call, 403, "AuthenticationFailed",
                    call->given[2].ptr ? "The link has been used, or is older than five minutes."
                                       : "Wrong account or key.");
}

enum http_step api_sign_out(struct api_call *call)
{
    struct console *console = call->console;
    struct session *session;

    lock_acquire(&console->lock);
    session = console_session_find(
        &console->sessions, bytes_of(call->session.cookie, SECRET_SIZE - 1), clock_monotonic_ms());
    if (session)
        console_session_end(session);
    lock_release(&console->lock);
    set_cookie(call, "", "; Max-Age=0");
    return api_answer(call);
}

/* ---- shared access signatures ---- */

/* Returns the account in the call, if the session is for it; otherwise NULL. */
static const struct account *find_account(const struct api_call *call)
{
    const struct account *account = accounts_find(call->console->options.accounts, call->given[0]);

    if (!account || account_is_disabled(account) ||
        (call->session.account && call->session.account != account))
        return NULL;
    return account;
}

/* Responds with the fields and their signature. */
static enum http_step sign(struct api_call *call, const struct account *account,
                           struct sas_making *making)
{
    struct arena *arena = call->exchange->arena;
    uint8_t signature[ACCOUNT_SIGNATURE_SIZE];
    struct bytes problem, text;

    making->account = account_name(account);
    text = sas_make_string(arena, making, &problem);
    if (!text.ptr)
        return api_fail(call, 400, "InvalidArgument", arena_string(arena, problem));
    if (!account_sign(account, call->session.key, text, signature))
        return api_fail(call, 401, "NotSignedIn", "The account no longer has this key.");
    text = base64_encode(arena, bytes_of(signature, sizeof signature));
    json_write_member(&call->out, "query",
                      arena_printf(arena, "%.*s&sig=%.*s", BYTES_ARG(making->query),
                                   BYTES_ARG(percent_encode(arena, text, KEPT))));
    return api_answer(call);
}

/* Creates a short-lived SAS for the entire account, for use by the pages themselves. */
enum http_step api_sas(struct api_call *call)
{
    const struct account *account = find_account(call);
    instant end = clock_wall() + SAS_MINUTES * 60 * TICKS_PER_SECOND;
    char expiry[INSTANT_ISO_SIZE];
    struct sas_making making = { .service = 'b' };

    if (!account)
        return api_fail(call, 404, "AccountNotFound",
                        "This session has no access to this account.");
    instant_format_iso(end, expiry);
    making.query = arena_printf(call->exchange->arena, SAS_OF_ALL "&se=%.19sZ", expiry);
    json_write_number(&call->out, "seconds", SAS_MINUTES * 60);
    return sign(call, account, &making);
}

/* Returns true if the text is the string to sign of a request for the access level or policies of
 * a container, queue, table or share. Only these requests are impossible with a shared access
 * signature.
 * rest: Authorize-with-Shared-Key */
static bool is_for_access(struct bytes text)
{
    static const char resource[] = "\ncomp:acl";

    return (bytes_has_prefix(text, bytes_from_string("GET\n")) ||
            bytes_has_prefix(text, bytes_from_string("PUT\n"))) &&
           memmem(text.ptr, text.len, resource, sizeof resource - 1);
}

/* Signs a request with the account's key for a page, which does not have the key. */
enum http_step api_sign_request(struct api_call *call)
{
    const struct account *account = find_account(call);
    struct bytes text = call->given[1];
    uint8_t signature[ACCOUNT_SIGNATURE_SIZE];

    if (!account)
        return api_fail(call, 404, "AccountNotFound", "There is no such account in this session.");
    if (!is_for_access(text))
        return api_fail(call, 400, "InvalidArgument", "Only requests with comp=acl can be signed.");
    if (!account_sign(account, call->session.key, text, signature))
        return api_fail(call, 401, "NotSignedIn", "The key is no longer one of the account.");
    json_write_member(&call->out, "signature",
                      base64_encode(call->exchange->arena, bytes_of(signature, sizeof signature)));
    return api_answer(call);
}

/* Creates a SAS for the page that creates signatures for others. */
enum http_step api_make_sas(struct api_call *call)
{
    const struct account *account = find_account(call);
    struct bytes service = call->given[1];
    struct sas_making making = { .query = call->given[4],
                                 .container = call->given[2],
                                 .object = call->given[3] };

    if (!account)
        return api_fail(call, 404, "AccountNotFound", "There is no such account in this session.");
    if (service.len != 1 || !memchr("bqtf", service.ptr[0], 4) || !making.query.ptr)
        return api_fail(call, 400, "InvalidArgument", "The service must be b, q, t or f.");
    making.service = service.ptr[0];
    audit_note("the console signed a shared access signature", account_name(account));
    return sign(call, account, &making);
}
