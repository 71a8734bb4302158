/* The check of a bearer token: see trust.h. */
#include "auth/trust_private.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/encode.h"

struct trust {
    bool basic;
    struct bytes issuer;   /* owned */
    struct bytes audience; /* owned; ptr NULL: none */
    struct key_set *keys;
    struct roles *roles;  /* NULL: nobody has one */
    struct trust *before; /* that it took the place of */
};

struct trust_holder {
    _Atomic(struct trust *) now;
};

/* Far above what issuers make; http/ lets no head be larger. */
#define TOKEN_MAX_BYTES 16384

static struct bytes own(const char *text)
{
    return bytes_from_string(text ? xstrdup(text) : NULL);
}

struct trust *trust_new(const struct trust_options *options, const char **ret_problem)
{
    struct trust *trust = xcalloc(1, sizeof *trust);

    trust->basic = options->basic;
    if (options->basic)
        return trust;
    trust->issuer = own(options->issuer);
    trust->audience = own(options->audience);
    trust->keys = key_set_new(options->keys, ret_problem);
    if (trust->keys && options->roles.ptr) {
        trust->roles = roles_new(options->roles, ret_problem);
        if (!trust->roles) {
            trust_free(trust);
            return NULL;
        }
    }
    if (trust->keys)
        return trust;
    trust_free(trust);
    return NULL;
}

void trust_free(struct trust *trust)
{
    if (!trust)
        return;
    key_set_free(trust->keys);
    roles_free(trust->roles);
    free((char *)trust->issuer.ptr);
    free((char *)trust->audience.ptr);
    free(trust);
}

/* ---- what it is found by ---- */

struct trust_holder *trust_holder_new(struct trust *trust)
{
    struct trust_holder *holder = xcalloc(1, sizeof *holder);

    atomic_init(&holder->now, trust);
    return holder;
}

void trust_holder_free(struct trust_holder *holder)
{
    struct trust *trust, *before;

    if (!holder)
        return;
    for (trust = atomic_load(&holder->now); trust; trust = before) {
        before = trust->before;
        trust_free(trust);
    }
    free(holder);
}

void trust_replace(struct trust_holder *holder, struct trust *trust)
{
    trust->before = atomic_load(&holder->now);
    atomic_store(&holder->now, trust);
}

const struct trust *trust_now(const struct trust_holder *holder)
{
    return atomic_load(&holder->now);
}

unsigned trust_actions(const struct trust *trust, struct bytes oid, struct bytes account,
                       char service, struct bytes container)
{
    if (!trust)
        return 0;
    if (trust->basic)
        return ACTIONS_ALL;
    return trust->roles ? roles_actions(trust->roles, oid, account, service, container) : 0;
}

/* ---- claims ---- */

struct bytes json_text(const json_t *object, const char *name)
{
    const json_t *member = json_object_get(object, name);

    if (!json_is_string(member) || json_string_length(member) == 0)
        return (struct bytes){ NULL, 0 };
    return bytes_of(json_string_value(member), json_string_length(member));
}

static enum error refuse(struct bytes *ret_detail, const char *detail)
{
    *ret_detail = bytes_from_string(detail);
    return E_AuthenticationFailed;
}

/* In the words of Azurite. */
static const char malformed[] = "Authentication scheme Bearer is not supported.";

/* A NumericDate: whole or broken seconds since 1970. */
static bool read_date(const json_t *claims, const char *name, double *ret_seconds)
{
    const json_t *member = json_object_get(claims, name);

    if (!json_is_number(member))
        return false;
    *ret_seconds = json_number_value(member);
    return *ret_seconds >= 0;
}

static enum error check_times(const struct trust *trust, const json_t *claims, instant now,
                              struct bytes *ret_detail)
{
    double seconds = (double)(now - INSTANT_UNIX_EPOCH) / (double)TICKS_PER_SECOND;
    double start = 0, end = 0, issued;
    bool has_start = read_date(claims, "nbf", &start);

    if (!read_date(claims, "exp", &end) || (json_object_get(claims, "nbf") && !has_start) ||
        (trust->basic && (!has_start || !read_date(claims, "iat", &issued))))
        return refuse(ret_detail, malformed);
    if (seconds < start)
        return refuse(ret_detail, "Lifetime validation failed.");
    if (seconds >= end)
        return refuse(ret_detail, "Lifetime validation failed. The token is expired.");
    return OK;
}

/* The issuers of the development mode: Microsoft's, as Azurite has them. */
static bool is_microsofts(struct bytes issuer)
{
    static const struct bytes prefixes[] = {
        BYTES("https://sts.windows.net/"),
        BYTES("https://sts.microsoftonline.de/"),
        BYTES("https://sts.chinacloudapi.cn/"),
        BYTES("https://sts.windows-ppe.net/"),
    };

    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (bytes_has_prefix(issuer, prefixes[i]))
            return true;
    }
    return false;
}

static bool is_issuer(const struct trust *trust, struct bytes issuer)
{
    return trust->basic ? is_microsofts(issuer) : bytes_equal(issuer, trust->issuer);
}

/* "https://storage.azure.com" or "https://account.blob.core.windows.net", each also with a
 * slash. */
static bool is_audience(const struct trust *trust, struct bytes audience, struct bytes account,
                        const char *service, struct arena *arena)
{
    struct bytes own_url =
        arena_printf(arena, "https://%.*s.%s.core.windows.net", BYTES_ARG(account), service);

    if (trust->audience.ptr && bytes_equal(audience, trust->audience))
        return true;
    if (audience.len > 0 && audience.ptr[audience.len - 1] == '/')
        audience.len--;
    return bytes_is(audience, "https://storage.azure.com") || bytes_equal(audience, own_url);
}

/* One text, or a list of them. */
static bool has_audience(const struct trust *trust, const json_t *claims, struct bytes account,
                         const char *service, struct arena *arena)
{
    const json_t *list = json_object_get(claims, "aud");

    if (!json_is_array(list))
        return is_audience(trust, json_text(claims, "aud"), account, service, arena);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);

        if (json_is_string(one) &&
            is_audience(trust, bytes_of(json_string_value(one), json_string_length(one)), account,
                        service, arena))
            return true;
    }
    return false;
}

/* It becomes part of strings that are signed, and of XML. */
static bool is_id(struct bytes id)
{
    for (size_t i = 0; i < id.len; i++) {
        if (id.ptr[i] <= 0x20 || id.ptr[i] > 0x7e)
            return false;
    }
    return id.len <= PRINCIPAL_ID_MAX;
}

static enum error read_principal(const json_t *claims, struct arena *arena,
                                 struct principal *ret_principal, struct bytes *ret_detail)
{
    struct bytes oid = json_text(claims, "oid"), tid = json_text(claims, "tid");

    if (!oid.ptr)
        oid = json_text(claims, "sub");
    if (!oid.ptr || !is_id(oid) || !is_id(tid))
        return refuse(ret_detail, malformed);
    *ret_principal = (struct principal){
        .oid = arena_copy(arena, oid),
        .tid = tid.ptr ? arena_copy(arena, tid) : bytes_from_string(""),
    };
    return OK;
}

static enum error check_claims(const struct trust *trust, const json_t *claims,
                               struct bytes account, const char *service, instant now,
                               struct arena *arena, struct principal *ret_principal,
                               struct bytes *ret_detail)
{
    enum error e = check_times(trust, claims, now, ret_detail);

    if (e)
        return e;
    if (!is_issuer(trust, json_text(claims, "iss")))
        return refuse(ret_detail, "Invalid token issuer.");
    if (!has_audience(trust, claims, account, service, arena))
        return refuse(ret_detail, "Invalid token audience.");
    return read_principal(claims, arena, ret_principal, ret_detail);
}

/* ---- the token ---- */

/* A part in base64url without padding, as a JSON object; NULL: it is none. */
static json_t *read_part(struct arena *arena, struct bytes part)
{
    struct bytes text = base64url_decode(arena, part);
    json_t *json = text.ptr ? json_loadb(text.ptr, text.len, JSON_REJECT_DUPLICATES, NULL) : NULL;

    if (json_is_object(json))
        return json;
    json_decref(json);
    return NULL;
}

/* `text`: header and claims as they were signed. An extension that has to be understood ("crit") is
 * not. rfc: 7515 4.1.11 */
static bool is_signed(const struct trust *trust, const json_t *header, struct bytes text,
                      struct bytes signature, struct arena *arena)
{
    struct bytes bytes = base64url_decode(arena, signature);

    if (trust->basic)
        return true;
    return bytes.ptr && !json_object_get(header, "crit") &&
           key_set_signed(trust->keys, json_text(header, "alg"), json_text(header, "kid"), text,
                          bytes);
}

enum error trust_check(const struct trust *trust, struct bytes token, struct bytes account,
                       const char *service, instant now, struct arena *arena,
                       struct principal *ret_principal, struct bytes *ret_detail)
{
    struct bytes first, rest, second, signature;
    json_t *header, *claims;
    enum error e;

    if (token.len > TOKEN_MAX_BYTES)
        return refuse(ret_detail, malformed);
    bytes_cut(token, '.', &first, &rest);
    bytes_cut(rest, '.', &second, &signature);
    if (!signature.ptr)
        return refuse(ret_detail, malformed);
    header = read_part(arena, first);
    claims = read_part(arena, second);
    if (!header || !claims)
        e = refuse(ret_detail, malformed);
    else if (!is_signed(trust, header, bytes_of(token.ptr, first.len + 1 + second.len), signature,
                        arena))
        e = refuse(ret_detail, "Signature validation failed.");
    else
        e = check_claims(trust, claims, account, service, now, arena, ret_principal, ret_detail);
    json_decref(header);
    json_decref(claims);
    return e;
}
