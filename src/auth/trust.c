/* Verification of bearer tokens: see trust.h. */
#include "auth/trust_private.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/encode.h"

struct trust {
    bool basic, is_confined;
    struct bytes issuer;   /* owned */
    struct bytes audience; /* owned; ptr NULL if none */
    struct key_set *keys;
    struct places *places;
    struct roles *roles;  /* NULL if there are none */
    struct trust *before; /* the trust that it replaced */
};

struct trust_holder {
    _Atomic(struct trust *) now;
};

/* Far larger than issuers' tokens; http/ limits headers to less. */
#define TOKEN_MAX_BYTES 16384

static struct bytes own(const char *text)
{
    return bytes_from_string(text ? xstrdup(text) : NULL);
}

static bool read_files(struct trust *trust, const struct trust_options *options,
                       struct trust_problem *ret_problem)
{
    trust->keys = key_set_new(options->keys, ret_problem);
    if (trust->keys)
        trust->places = places_new(options->accounts, ret_problem);
    if (trust->places && options->roles.ptr)
        trust->roles = roles_new(options->roles, trust->places, ret_problem);
    return trust->places && (trust->roles || !options->roles.ptr);
}

struct trust *trust_new(const struct trust_options *options, struct trust_problem *ret_problem)
{
    struct trust *trust = xcalloc(1, sizeof *trust);

    trust->basic = options->basic;
    trust->is_confined = options->is_confined;
    if (options->basic)
        return trust;
    trust->issuer = own(options->issuer);
    trust->audience = own(options->audience);
    if (read_files(trust, options, ret_problem))
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
    places_free(trust->places);
    free((char *)trust->issuer.ptr);
    free((char *)trust->audience.ptr);
    free(trust);
}

bool trust_is_confined(const struct trust *trust)
{
    return trust->is_confined;
}

size_t trust_unplaced(const struct trust *trust)
{
    return trust->roles ? roles_unplaced(trust->roles) : 0;
}

/* ---- the current trust ---- */

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

/* The members of a token's header and claims that are used. Values of others may be nested deeply.
 * rfc: 7519 4.1, 7515 4.1 */
enum { ALG, KID, CRIT, HEADERS };
static const char *const header_names[HEADERS] = { "alg", "kid", "crit" };
enum { ISS, AUD, EXP, NBF, IAT, OID, SUB, TID, GROUPS, CLAIMS };
static const char *const claim_names[CLAIMS] = { "iss", "aud", "exp", "nbf",   "iat",
                                                 "oid", "sub", "tid", "groups" };
#define PART_DEPTH 16

static enum error refuse(struct bytes *ret_detail, const char *detail)
{
    *ret_detail = bytes_from_string(detail);
    return E_AuthenticationFailed;
}

/* Azurite's wording. */
static const char malformed[] = "Authentication scheme Bearer is not supported.";

/* Reads a NumericDate: seconds since 1970, possibly with a fraction. */
static bool read_date(const struct json_member *claim, double *ret_seconds)
{
    return json_number(claim, ret_seconds) && *ret_seconds >= 0;
}

static enum error check_times(const struct trust *trust, const struct json_member *claims,
                              instant now, struct bytes *ret_detail)
{
    double seconds = (double)(now - INSTANT_UNIX_EPOCH) / (double)TICKS_PER_SECOND;
    double start = 0, end = 0, issued;
    bool has_start = read_date(&claims[NBF], &start);

    if (!read_date(&claims[EXP], &end) || (claims[NBF].kind != JSON_ABSENT && !has_start) ||
        (trust->basic && (!has_start || !read_date(&claims[IAT], &issued))))
        return refuse(ret_detail, malformed);
    if (seconds < start)
        return refuse(ret_detail, "Lifetime validation failed.");
    if (seconds >= end)
        return refuse(ret_detail, "Lifetime validation failed. The token is expired.");
    return OK;
}

/* The issuers accepted in development mode: Microsoft's, as in Azurite. */
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

/* Azure Storage's application id, the same in every tenant. decision: 251 */
#define STORAGE_ID "e406a681-f3d4-42a8-90b6-c2b029497af1"

/* Matches "blob.core.windows.net", in any of Azure's clouds. */
static bool is_service_host(struct bytes host, const char *service)
{
    static const char *const clouds[] = { "core.windows.net", "core.chinacloudapi.cn",
                                          "core.usgovcloudapi.net", "core.cloudapi.de" };
    struct bytes first, cloud;

    bytes_cut(host, '.', &first, &cloud);
    for (size_t i = 0; i < sizeof clouds / sizeof clouds[0]; i++) {
        if (bytes_is(first, service) && bytes_is(cloud, clouds[i]))
            return true;
    }
    return false;
}

/* Matches "https://storage.azure.com" or "https://account.blob.core.windows.net", each with
 * optional slash; in development mode for any account, like Azurite. */
static bool is_audience(const struct trust *trust, struct bytes audience, struct bytes account,
                        const char *service)
{
    static const struct bytes scheme = BYTES("https://");
    struct bytes name, host;

    if (trust->audience.ptr && bytes_equal(audience, trust->audience))
        return true;
    if (bytes_is(audience, STORAGE_ID))
        return true;
    if (audience.len > 0 && audience.ptr[audience.len - 1] == '/')
        audience.len--;
    if (bytes_is(audience, "https://storage.azure.com"))
        return true;
    if (!bytes_has_prefix(audience, scheme))
        return false;
    bytes_cut(bytes_from(audience, scheme.len), '.', &name, &host);
    return is_service_host(host, service) && (trust->basic || bytes_equal(name, account));
}

/* Checks a single audience or a list. */
static bool has_audience(const struct trust *trust, const struct json_member *claim,
                         struct bytes account, const char *service, struct arena *arena)
{
    struct json_reader list;
    struct json_member one;

    if (claim->kind != JSON_LIST)
        return is_audience(trust, json_text(claim), account, service);
    json_list_init(&list, arena, claim->text, PART_DEPTH);
    while (json_next(&list, &one)) {
        if (is_audience(trust, json_text(&one), account, service))
            return true;
    }
    return false;
}

/* Ids become part of strings to sign and of XML. */
static bool is_id(struct bytes id)
{
    for (size_t i = 0; i < id.len; i++) {
        if (id.ptr[i] <= 0x20 || id.ptr[i] > 0x7e)
            return false;
    }
    return id.len <= PRINCIPAL_ID_MAX;
}

/* Returns false if the claim is not a list of ids. */
static bool read_groups(const struct json_member *claim, struct arena *arena,
                        struct principal *principal)
{
    struct bytes *groups;
    struct json_reader list;
    struct json_member one;

    if (!claim->text.ptr)
        return true;
    if (claim->kind != JSON_LIST)
        return false;
    groups = arena_array(arena, PRINCIPAL_GROUPS_MAX, sizeof groups[0]);
    json_list_init(&list, arena, claim->text, PART_DEPTH);
    while (json_next(&list, &one)) {
        struct bytes id = json_text(&one);

        if (!id.ptr || !is_id(id) || principal->group_count == PRINCIPAL_GROUPS_MAX)
            return false;
        groups[principal->group_count++] = arena_copy(arena, id);
    }
    principal->groups = groups;
    return !list.bad;
}

static enum error read_principal(const struct json_member *claims, struct arena *arena,
                                 struct principal *ret_principal, struct bytes *ret_detail)
{
    struct bytes oid = json_text(&claims[OID]), tid = json_text(&claims[TID]);

    if (!oid.ptr)
        oid = json_text(&claims[SUB]);
    if (!oid.ptr || !is_id(oid) || !is_id(tid))
        return refuse(ret_detail, malformed);
    *ret_principal = (struct principal){
        .oid = arena_copy(arena, oid),
        .tid = tid.ptr ? arena_copy(arena, tid) : bytes_from_string(""),
    };
    return read_groups(&claims[GROUPS], arena, ret_principal) ? OK : refuse(ret_detail, malformed);
}

static enum error check_claims(const struct trust *trust, const struct json_member *claims,
                               struct bytes account, const char *service, instant now,
                               struct arena *arena, struct principal *ret_principal,
                               struct bytes *ret_detail)
{
    enum error e = check_times(trust, claims, now, ret_detail);

    if (e)
        return e;
    if (!is_issuer(trust, json_text(&claims[ISS])))
        return refuse(ret_detail, "Invalid token issuer.");
    if (!has_audience(trust, &claims[AUD], account, service, arena))
        return refuse(ret_detail, "Invalid token audience.");
    return read_principal(claims, arena, ret_principal, ret_detail);
}

/* ---- the token ---- */

/* Decodes a part in base64url without padding as a JSON object. */
static bool read_part(struct arena *arena, struct bytes part, const char *const names[],
                      size_t count, struct json_member *ret_members)
{
    struct bytes text = base64url_decode(arena, part);

    return text.ptr && json_object_pick(arena, text, PART_DEPTH, names, count, ret_members);
}

/* text: header and claims as signed. Critical extensions ("crit") are not supported.
 * rfc: 7515 4.1.11 */
static bool is_signed(const struct trust *trust, const struct json_member *header,
                      struct bytes text, struct bytes signature, struct arena *arena)
{
    struct bytes bytes = base64url_decode(arena, signature);

    if (trust->basic)
        return true;
    return bytes.ptr && header[CRIT].kind == JSON_ABSENT &&
           key_set_signed(trust->keys, json_text(&header[ALG]), json_text(&header[KID]), text,
                          bytes);
}

enum error trust_check(const struct trust *trust, struct bytes token, struct bytes account,
                       const char *service, instant now, struct arena *arena,
                       struct principal *ret_principal, struct bytes *ret_detail)
{
    struct json_member header[HEADERS], claims[CLAIMS];
    struct bytes first, rest, second, signature;

    if (token.len > TOKEN_MAX_BYTES)
        return refuse(ret_detail, malformed);
    bytes_cut(token, '.', &first, &rest);
    bytes_cut(rest, '.', &second, &signature);
    if (!signature.ptr || !read_part(arena, first, header_names, HEADERS, header) ||
        !read_part(arena, second, claim_names, CLAIMS, claims))
        return refuse(ret_detail, malformed);
    if (!is_signed(trust, header, bytes_of(token.ptr, first.len + 1 + second.len), signature,
                   arena))
        return refuse(ret_detail, "Signature validation failed.");
    return check_claims(trust, claims, account, service, now, arena, ret_principal, ret_detail);
}
