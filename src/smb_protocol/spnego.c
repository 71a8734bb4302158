/* See spnego.h. */
#include "smb_protocol/spnego.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/random.h>

#include "smb_protocol/der.h"

/* 1.3.6.1.5.5.2 and 1.3.6.1.4.1.311.2.2.10, without tag and length */
static const struct bytes oid_spnego = BYTES("\x2B\x06\x01\x05\x05\x02");
static const struct bytes oid_ntlm = BYTES("\x2B\x06\x01\x04\x01\x82\x37\x02\x02\x0A");

/* negState. rfc: 4178 4.2.2 */
enum neg_state { ACCEPT_COMPLETED = 0, ACCEPT_INCOMPLETE = 1, REQUEST_MIC = 3 };

enum state {
    EXPECTS_FIRST, /* no token received yet */
    RAW,           /* raw NTLM tokens */
    NEGOTIATING,   /* NegTokenResp expected */
    ENDED,
};

struct spnego {
    struct ntlm *ntlm;
    enum state state;
    struct bytes methods; /* mechTypes as received, which mechListMIC signs; owned */
    bool must_sign;       /* the client must sign them */
};

/* ---- writing ---- */

static struct bytes put_one(struct arena *arena, uint8_t tag, struct bytes part)
{
    return der_put(arena, tag, &part, 1);
}

struct bytes spnego_offer(struct arena *arena)
{
    static const struct bytes hint = BYTES("not_defined_in_RFC4178@please_ignore");
    struct bytes types = put_one(arena, DER_SEQUENCE, put_one(arena, DER_OID, oid_ntlm));
    struct bytes hints =
        put_one(arena, DER_SEQUENCE,
                put_one(arena, DER_CONTEXT(0), put_one(arena, DER_GENERAL_TEXT, hint)));
    struct bytes parts[] = { put_one(arena, DER_CONTEXT(0), types),
                             put_one(arena, DER_CONTEXT(3), hints) };
    struct bytes body[] = {
        put_one(arena, DER_OID, oid_spnego),
        put_one(arena, DER_CONTEXT(0), der_put(arena, DER_SEQUENCE, parts, 2)),
    };

    return der_put(arena, DER_APPLICATION, body, 2);
}

/* Builds a NegTokenResp. method, token, mic: ptr NULL to omit */
static struct bytes put_response(struct arena *arena, enum neg_state state, struct bytes method,
                                 struct bytes token, struct bytes mic)
{
    char state_byte = (char)state;
    struct bytes parts[4];
    size_t count = 0;

    parts[count++] =
        put_one(arena, DER_CONTEXT(0), put_one(arena, DER_ENUMERATED, bytes_of(&state_byte, 1)));
    if (method.ptr)
        parts[count++] = put_one(arena, DER_CONTEXT(1), put_one(arena, DER_OID, method));
    if (token.ptr)
        parts[count++] = put_one(arena, DER_CONTEXT(2), put_one(arena, DER_OCTET_STRING, token));
    if (mic.ptr)
        parts[count++] = put_one(arena, DER_CONTEXT(3), put_one(arena, DER_OCTET_STRING, mic));
    return put_one(arena, DER_CONTEXT(1), der_put(arena, DER_SEQUENCE, parts, count));
}

/* ---- reading ---- */

struct neg_token {
    struct bytes methods; /* mechTypes of NegTokenInit, with tag and length */
    struct bytes token;   /* ptr NULL if missing */
    struct bytes mic;     /* ptr NULL if missing */
};

/* Returns the contents of the optional element [n], or ptr NULL. */
static struct bytes take_optional(struct der *d, uint8_t n, uint8_t tag)
{
    struct der inner;
    struct bytes value;

    if (!der_next_is(d, (uint8_t)DER_CONTEXT(n)))
        return (struct bytes){ 0 };
    inner = der_enter(d, (uint8_t)DER_CONTEXT(n));
    value = der_take(&inner, tag, NULL);
    d->bad |= inner.bad;
    return value;
}

/* Parses NegTokenInit { mechTypes [0], reqFlags [1], mechToken [2], mechListMIC [3] }. In
 * NegTokenInit2, which only servers send, [3] contains the hints. rfc: 4178 4.2.1 */
static bool parse_init(struct bytes token, struct neg_token *ret)
{
    struct der whole = der_of(token), outer = der_enter(&whole, DER_APPLICATION), choice, fields,
               types;

    *ret = (struct neg_token){ 0 };
    if (!bytes_equal(der_take(&outer, DER_OID, NULL), oid_spnego))
        return false;
    choice = der_enter(&outer, DER_CONTEXT(0));
    fields = der_enter(&choice, DER_SEQUENCE);
    types = der_enter(&fields, DER_CONTEXT(0));
    der_take(&types, DER_SEQUENCE, &ret->methods);
    if (der_next_is(&fields, DER_CONTEXT(1)))
        der_skip(&fields);
    ret->token = take_optional(&fields, 2, DER_OCTET_STRING);
    ret->mic = take_optional(&fields, 3, DER_OCTET_STRING);
    return !types.bad && !fields.bad && der_at_end(&fields);
}

/* Parses NegTokenResp { negState [0], supportedMech [1], responseToken [2], mechListMIC [3] }. rfc:
 * 4178 4.2.2 */
static bool parse_response(struct bytes token, struct neg_token *ret)
{
    struct der whole = der_of(token), choice = der_enter(&whole, DER_CONTEXT(1)),
               fields = der_enter(&choice, DER_SEQUENCE);

    *ret = (struct neg_token){ 0 };
    take_optional(&fields, 0, DER_ENUMERATED);
    take_optional(&fields, 1, DER_OID);
    ret->token = take_optional(&fields, 2, DER_OCTET_STRING);
    ret->mic = take_optional(&fields, 3, DER_OCTET_STRING);
    return !fields.bad && der_at_end(&fields);
}

/* Returns the index of NTLM among the mechanisms, or -1 if it is missing or the list malformed. */
static int place_of_ntlm(struct bytes methods)
{
    struct der whole = der_of(methods), list = der_enter(&whole, DER_SEQUENCE);
    int place = 0;

    for (; !der_at_end(&list); place++)
        if (bytes_equal(der_take(&list, DER_OID, NULL), oid_ntlm))
            return place;
    return -1;
}

/* ---- acceptor ---- */

struct spnego *spnego_new(const struct accounts *accounts,
                          const uint8_t challenge[NTLM_CHALLENGE_SIZE])
{
    struct spnego *spnego = xcalloc(1, sizeof *spnego);
    uint8_t random[NTLM_CHALLENGE_SIZE];
    ssize_t got;

    if (!challenge) {
        /* Requests this small are never returned in part. */
        got = getrandom(random, sizeof random, 0);
        assert(got == (ssize_t)sizeof random);
        challenge = random;
    }
    spnego->ntlm = ntlm_new(accounts, challenge);
    return spnego;
}

void spnego_free(struct spnego *spnego)
{
    if (!spnego)
        return;
    ntlm_free(spnego->ntlm);
    free((char *)spnego->methods.ptr);
    free(spnego);
}

/* Builds the last token, with mechListMIC if the client sent one. */
static enum spnego_step finish(struct spnego *spnego, struct arena *arena, struct bytes client_mic,
                               struct bytes *ret_token)
{
    static const struct bytes none;
    uint8_t mic[NTLM_SIGNATURE_SIZE];

    if (client_mic.ptr ? !ntlm_signed_by_client(spnego->ntlm, spnego->methods, client_mic)
                       : spnego->must_sign)
        return SPNEGO_REFUSED;
    ntlm_sign_as_server(spnego->ntlm, spnego->methods, mic);
    *ret_token = put_response(arena, ACCEPT_COMPLETED, none, none,
                              client_mic.ptr ? bytes_of(mic, sizeof mic) : none);
    return SPNEGO_DONE;
}

/* Processes a wrapped NTLM token. method: supportedMech of the response; ptr NULL if already
 * sent */
static enum spnego_step step_wrapped(struct spnego *spnego, struct arena *arena,
                                     const struct neg_token *t, instant now, struct bytes method,
                                     struct bytes *ret_token)
{
    static const struct bytes none;
    struct bytes reply;
    enum spnego_step step;

    if (!t->token.ptr)
        return SPNEGO_MALFORMED;
    step = ntlm_step(spnego->ntlm, arena, t->token, now, &reply);
    if (step == SPNEGO_MORE)
        *ret_token = put_response(arena, ACCEPT_INCOMPLETE, method, reply, none);
    return step == SPNEGO_DONE ? finish(spnego, arena, t->mic, ret_token) : step;
}

/* Maximum size of the mechanisms, which are stored before the client is authenticated. */
#define METHODS_MAX 1024

static enum spnego_step step_first(struct spnego *spnego, struct arena *arena, struct bytes token,
                                   instant now, struct bytes *ret_token)
{
    static const struct bytes none;
    struct neg_token t;
    int place;

    if (!parse_init(token, &t) || t.methods.len > METHODS_MAX)
        return SPNEGO_MALFORMED;
    place = place_of_ntlm(t.methods);
    if (place < 0)
        return SPNEGO_REFUSED;
    spnego->methods =
        bytes_of(memcpy(xmalloc(t.methods.len), t.methods.ptr, t.methods.len), t.methods.len);
    spnego->must_sign = place > 0;
    spnego->state = NEGOTIATING;
    if (place == 0 && t.token.ptr)
        return step_wrapped(spnego, arena, &t, now, oid_ntlm, ret_token);
    *ret_token =
        put_response(arena, place > 0 ? REQUEST_MIC : ACCEPT_INCOMPLETE, oid_ntlm, none, none);
    return SPNEGO_MORE;
}

enum spnego_step spnego_step(struct spnego *spnego, struct arena *arena, struct bytes token,
                             instant now, struct bytes *ret_token)
{
    static const struct bytes none = BYTES(""), named;
    struct neg_token t;
    enum spnego_step step = SPNEGO_MALFORMED;

    assert(spnego->state != ENDED);
    *ret_token = none;
    if (spnego->state == EXPECTS_FIRST && ntlm_is_token(token))
        spnego->state = RAW;
    if (token.len > SPNEGO_TOKEN_MAX)
        step = SPNEGO_MALFORMED;
    else if (spnego->state == RAW)
        step = ntlm_step(spnego->ntlm, arena, token, now, ret_token);
    else if (spnego->state == EXPECTS_FIRST)
        step = step_first(spnego, arena, token, now, ret_token);
    else if (parse_response(token, &t))
        step = step_wrapped(spnego, arena, &t, now, named, ret_token);
    if (step != SPNEGO_MORE)
        spnego->state = ENDED;
    return step;
}

const struct account *spnego_account(const struct spnego *spnego)
{
    return ntlm_account(spnego->ntlm);
}

struct bytes spnego_session_key(const struct spnego *spnego)
{
    return ntlm_session_key(spnego->ntlm);
}
