/* Shared access signatures: the strings that they sign, in every version, and what refuses them.
 * rest: Create-account-SAS, Create-service-SAS, Create-user-delegation-SAS, SAS-error-codes */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "auth/sas_private.h"
#include "base/encode.h"
#include "sas_vectors.h"

#include <nettle/hmac.h>

#include <cmocka.h>

#define VECTORS (sizeof sas_vectors / sizeof sas_vectors[0])

static struct arena *arena;
static struct accounts *accounts;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new(256u << 20);
    accounts = accounts_new();
    accounts_add_development(accounts);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    accounts_free(accounts);
    arena_free(arena);
    return 0;
}

/* All vectors are valid then. */
static instant in_time(void)
{
    instant at;

    assert_true(instant_parse_iso(bytes_from_string("2026-01-02T03:30:00Z"), &at));
    return at;
}

static struct bytes name_of(const char *text)
{
    return *text ? bytes_from_string(text) : bytes_of(NULL, 0);
}

struct probe {
    struct request request;
    struct http_header headers[4];
    struct auth_target target;
};

/* The query with the signature that the server's own user delegation key makes: the clients'
 * vectors were made with a key that is no server's. */
static struct bytes delegated_query(const struct sas_vector *vector, const struct account *account)
{
    struct bytes query = bytes_from_string(vector->query), string, sig;
    struct delegation_key key = { .user_tid = { NULL, 0 } };
    struct sas_fields fields;
    struct hmac_sha256_ctx hmac;
    uint8_t value[DELEGATION_KEY_SIZE], digest[SHA256_DIGEST_SIZE];

    assert_true(sas_fields_read(arena, query, &fields));
    key.oid = fields.is[SAS_KEY_OID];
    key.tid = fields.is[SAS_KEY_TID];
    key.service = fields.is[SAS_KEY_SERVICE];
    key.version = fields.is[SAS_KEY_VERSION];
    key.user_tid = fields.is[SAS_KEY_USER_TID];
    assert_true(instant_parse_iso(fields.is[SAS_KEY_START], &key.start) &&
                instant_parse_iso(fields.is[SAS_KEY_EXPIRY], &key.expiry));
    account_delegation_key(account, arena, &key, value);
    string = bytes_from_string(vector->string);
    hmac_sha256_set_key(&hmac, sizeof value, value);
    hmac_sha256_update(&hmac, string.len, (const uint8_t *)string.ptr);
    hmac_sha256_digest(&hmac, sizeof digest, digest);
    sig = percent_encode(arena, base64_encode(arena, bytes_of(digest, sizeof digest)), "");
    query.len = (size_t)(strstr(query.ptr, "&sig=") - query.ptr);
    return arena_printf(arena, "%.*s&sig=%.*s", BYTES_ARG(query), BYTES_ARG(sig));
}

static void make_probe(const struct sas_vector *vector, struct probe *ret_probe)
{
    const struct account *account = accounts_find(accounts, bytes_from_string(DEVELOPMENT_ACCOUNT));

    *ret_probe = (struct probe){
        .request = { .method = METHOD_GET,
                     .method_text = BYTES("GET"),
                     .path = BYTES("/"),
                     .query = bytes_from_string(vector->query),
                     .peer = BYTES("10.0.0.5:1234"),
                     .secure = true },
        .target = { .account = account,
                    .name = account_name(account),
                    .service = vector->service,
                    .container = name_of(vector->container),
                    .object = name_of(vector->object) },
    };
    if (vector->delegated)
        ret_probe->request.query = delegated_query(vector, account);
    for (size_t i = 0; i < 4 && vector->headers[i].name; i++)
        ret_probe->headers[ret_probe->request.header_count++] =
            (struct http_header){ .name = bytes_from_string(vector->headers[i].name),
                                  .value = bytes_from_string(vector->headers[i].value) };
    ret_probe->request.headers = ret_probe->headers;
}

static struct bytes detail;
static struct identity identity;

static enum error ask_at(struct probe *probe, instant at)
{
    detail = bytes_of(NULL, 0);
    identity = (struct identity){ .kind = IDENTITY_ANONYMOUS };
    return authenticate(&probe->request, &probe->target, at, arena, &identity, &detail);
}

/* Rule: the string to sign is that of the clients' builders, field by field, version by version. */
static void strings_are_the_clients(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        struct probe probe;
        struct sas_fields fields;
        struct bytes text;

        make_probe(&sas_vectors[i], &probe);
        assert_true(sas_fields_read(arena, probe.request.query, &fields));
        sas_directory_find(arena, &probe.request, &probe.target, &fields);
        text = sas_string(arena, &probe.request, &fields, &probe.target);
        if (!bytes_is(text, sas_vectors[i].string))
            fail_msg("%s:\n%.*s\ninstead of\n%s", sas_vectors[i].what, BYTES_ARG(text),
                     sas_vectors[i].string);
    }
}

/* Those for one user need his token too: tests/clients/tokens.test.mjs. */
static bool is_admitted(const struct sas_vector *vector)
{
    return !strstr(vector->query, "sduoid=");
}

static enum sas_kind kind_of(const struct sas_vector *vector)
{
    if (strncmp(vector->what, "account", 7) == 0)
        return SAS_ACCOUNT;
    return vector->delegated ? SAS_DELEGATION : SAS_SERVICE;
}

/* Rule: what a client signed with the account's key is taken, within its time and not outside of
 * it. */
static void signed_ones_are_taken(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        const struct sas_vector *vector = &sas_vectors[i];
        bool of_policy = strstr(vector->query, "si=") != NULL;
        struct probe probe;
        enum error e;

        if (!is_admitted(vector))
            continue;
        make_probe(vector, &probe);
        e = ask_at(&probe, in_time());
        if (e)
            fail_msg("%s: %s %.*s", vector->what, error_code(e), BYTES_ARG(detail));
        assert_int_equal(identity.kind, IDENTITY_SAS);
        assert_int_equal(identity.sas->kind, kind_of(vector));
        e = ask_at(&probe, in_time() + 3600 * TICKS_PER_SECOND);
        assert_int_equal(e, of_policy ? OK : E_AuthenticationFailed);
        assert_true(of_policy ||
                    bytes_has_prefix(detail, bytes_from_string("Signature not valid")));
        e = ask_at(&probe, in_time() - 3600 * TICKS_PER_SECOND);
        assert_int_equal(
            e, strstr(vector->query, "&st=") || vector->delegated ? E_AuthenticationFailed : OK);
    }
}

/* Rule: it opens from its start on, and no longer at its expiry. rest: Create-service-SAS */
static void times_are_to_the_tick(void **state)
{
    const struct sas_vector *vector = sas_vectors;
    struct sas_fields fields;
    instant start, expiry;
    struct probe probe;

    (void)state;
    while (!is_admitted(vector) || !strstr(vector->query, "&st=") || strstr(vector->query, "si="))
        assert_true(++vector < sas_vectors + VECTORS);
    make_probe(vector, &probe);
    assert_true(sas_fields_read(arena, probe.request.query, &fields));
    assert_true(instant_parse_iso(fields.is[SAS_START], &start));
    assert_true(instant_parse_iso(fields.is[SAS_EXPIRY], &expiry));
    assert_int_equal(ask_at(&probe, start - 1), E_AuthenticationFailed);
    assert_int_equal(ask_at(&probe, start), OK);
    assert_int_equal(ask_at(&probe, expiry - 1), OK);
    assert_int_equal(ask_at(&probe, expiry), E_AuthenticationFailed);
}

/* Rule: a SAS may name an encryption scope, for what is written. decision: 71 */
static void encryption_scopes_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        struct probe probe;

        if (!is_admitted(&sas_vectors[i]))
            continue;
        make_probe(&sas_vectors[i], &probe);
        assert_int_equal(ask_at(&probe, in_time()), OK);
        assert_true(bytes_is(identity.sas->encryption_scope,
                             strstr(sas_vectors[i].query, "&ses=") ? "scope" : ""));
    }
}

/* Rule: nothing between two "&" is no parameter, before, between and behind those of a SAS. */
static void empty_parameters_are_passed_over(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        struct bytes query, first, rest;
        struct probe probe;

        if (!is_admitted(&sas_vectors[i]))
            continue;
        make_probe(&sas_vectors[i], &probe);
        query = probe.request.query;
        bytes_cut(query, '&', &first, &rest);
        probe.request.query =
            arena_printf(arena, "&&%.*s&&%.*s&", BYTES_ARG(first), BYTES_ARG(rest));
        if (ask_at(&probe, in_time()))
            fail_msg("%.*s", BYTES_ARG(probe.request.query));
    }
}

/* The query without, or with another, n-th parameter; ptr NULL: there are not so many. */
static struct bytes changed_query(struct bytes query, unsigned n, bool drop, struct bytes *ret_name)
{
    struct bytes pair, name, value;
    struct text out;

    text_init(&out, arena, query.len + 8);
    for (unsigned i = 0; query.len > 0; i++) {
        bytes_cut(query, '&', &pair, &query);
        if (i == n)
            bytes_cut(pair, '=', ret_name, &value);
        if (i == n && drop)
            continue;
        if (out.len > 0)
            text_add_char(&out, '&');
        bytes_cut(pair, '=', &name, &value);
        text_add(&out, pair);
        if (i == n)
            text_add_string(&out, "1");
        if (query.len == 0 && i < n)
            return bytes_of(NULL, 0);
    }
    return text_bytes(&out);
}

/* Rule: every parameter of a SAS is signed: none can be left out or changed. */
static void every_field_is_signed(void **state)
{
    unsigned changes = 0;

    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        struct bytes original;
        struct probe probe;

        if (!is_admitted(&sas_vectors[i]))
            continue;
        make_probe(&sas_vectors[i], &probe);
        original = probe.request.query;
        for (unsigned n = 0; n < 64; n++) {
            struct bytes name = { NULL, 0 };
            struct bytes query = changed_query(original, n / 2, n % 2, &name);

            if (!query.ptr || !name.ptr)
                break;
            probe.request.query = query;
            if (ask_at(&probe, in_time()) == OK && identity.kind == IDENTITY_SAS)
                fail_msg("%s without or with another %.*s", sas_vectors[i].what, BYTES_ARG(name));
            changes++;
        }
    }
    assert_true(changes > 1000);
}

/* Rule: a field that this kind or this version does not sign is refused, since anybody could have
 * added it. */
static void unsigned_fields_are_refused(void **state)
{
    static const char *const additions[] = { "sip=1.1.1.1", "spr=https", "rscc=a", "rsct=b",
                                             "saoid=c",     "scid=d",    "srh=e",  "srq=f",
                                             "skdutid=g",   "sduoid=h",  "sdd=1",  "ses=i",
                                             "si=j",        "sr=c",      "ss=b",   "srt=o",
                                             "suoid=k",     "skoid=l" };

    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        struct bytes original;
        struct probe probe;

        if (!is_admitted(&sas_vectors[i]))
            continue;
        make_probe(&sas_vectors[i], &probe);
        original = probe.request.query;
        for (size_t n = 0; n < sizeof additions / sizeof additions[0]; n++) {
            probe.request.query = arena_printf(arena, "%.*s&%s", BYTES_ARG(original), additions[n]);
            if (ask_at(&probe, in_time()) == OK)
                fail_msg("%s with %s", sas_vectors[i].what, additions[n]);
        }
    }
}

static const struct sas_vector *vector_of(const char *what)
{
    for (size_t i = 0; i < VECTORS; i++) {
        if (strcmp(sas_vectors[i].what, what) == 0)
            return &sas_vectors[i];
    }
    fail_msg("no vector %s", what);
    return NULL;
}

/* Rule: a SAS is of its account, container and blob, and opens no other. */
static void others_are_not_opened(void **state)
{
    struct probe probe;

    (void)state;
    make_probe(vector_of("service blob 2020-12-06"), &probe);
    probe.target.object = bytes_from_string("other");
    assert_int_equal(ask_at(&probe, in_time()), E_AuthenticationFailed);
    probe.target.object = bytes_of(NULL, 0); /* the container */
    assert_int_equal(ask_at(&probe, in_time()), E_AuthenticationFailed);
    make_probe(vector_of("service container 2020-12-06"), &probe);
    probe.target.object = bytes_from_string("any blob");
    assert_int_equal(ask_at(&probe, in_time()), OK);
    probe.target.container = bytes_from_string("other");
    assert_int_equal(ask_at(&probe, in_time()), E_AuthenticationFailed);
    probe.target.container = bytes_of(NULL, 0); /* the service */
    assert_int_equal(ask_at(&probe, in_time()), E_AuthenticationFailed);
    make_probe(vector_of("service blob 2020-12-06"), &probe);
    probe.target.account = NULL;
    assert_int_equal(ask_at(&probe, in_time()), E_AuthenticationFailed);
    /* A name with a line feed could move what stands on the following lines. */
    make_probe(vector_of("service blob 2020-12-06"), &probe);
    probe.target.object = bytes_from_string("a\nb");
    assert_int_equal(ask_at(&probe, in_time()), E_AuthenticationFailed);
    assert_true(bytes_is(detail, "Signature fields not well formed."));
}

/* Rule: the SAS of a container opens its blobs' snapshots, that of a blob does not, that of a
 * snapshot opens this one alone. decision: 71 */
static void snapshots(void **state)
{
    static const char *const other = "&snapshot=2025-12-31T01%3A02%3A03.1234568Z";
    struct probe probe;
    const char *query;

    (void)state;
    make_probe(vector_of("service container 2018-11-09"), &probe);
    probe.request.query = arena_printf(arena, "%.*s%s", BYTES_ARG(probe.request.query), other);
    assert_int_equal(ask_at(&probe, in_time()), OK);
    make_probe(vector_of("service blob 2018-11-09"), &probe);
    probe.request.query = arena_printf(arena, "%.*s%s", BYTES_ARG(probe.request.query), other);
    assert_int_equal(ask_at(&probe, in_time()), E_AuthenticationFailed);
    make_probe(vector_of("service snapshot 2018-11-09"), &probe);
    query = strchr(probe.request.query.ptr, '&') + 1;
    probe.request.query = bytes_from_string(query);
    assert_int_equal(ask_at(&probe, in_time()), E_AuthenticationFailed);
    probe.request.query = arena_printf(arena, "%s%s", query, other);
    assert_int_equal(ask_at(&probe, in_time()), E_AuthenticationFailed);
}

/* The vector's directory is "a b/\u00fc+%?#". */
#define DIRECTORY "a b/\303\274+%?#"

static void make_directory_probe(const char *object, const char *addition, struct probe *ret_probe)
{
    make_probe(vector_of("service directory 2020-02-10"), ret_probe);
    ret_probe->target.object = name_of(object);
    ret_probe->request.query =
        arena_printf(arena, "%.*s%s", BYTES_ARG(ret_probe->request.query), addition);
}

/* Rule: the SAS of a directory opens the blobs below it, their snapshots and versions, and lists that have the
 * directory and a slash as their prefix; not its siblings, nor the blob of the directory's own name, nor the
 * container. decision: 975 */
static void directories(void **state)
{
    static const struct {
        const char *object, *addition;
        enum error wanted;
    } rows[] = {
        { DIRECTORY "/x", "", OK },
        { DIRECTORY "/x/y/z", "", OK },
        { DIRECTORY "/", "", OK },
        { DIRECTORY "/x", "&snapshot=2025-12-31T01%3A02%3A03.1234568Z", OK },
        { DIRECTORY "/x", "&versionid=2025-12-31T01%3A02%3A03.1234568Z", OK },
        { DIRECTORY, "", E_AuthenticationFailed },
        { DIRECTORY "x/y", "", E_AuthenticationFailed },
        { "a b/x", "", E_AuthenticationFailed },
        { "a b", "", E_AuthenticationFailed },
        { "/" DIRECTORY "/x", "", E_AuthenticationFailed },
        { "x/" DIRECTORY "/x", "", E_AuthenticationFailed },
        { "", "", E_AuthenticationFailed },
        { "", "&restype=container&comp=list", E_AuthenticationFailed },
        { "", "&restype=container&comp=list&prefix=", E_AuthenticationFailed },
        { "", "&restype=container&comp=list&prefix=a%20b%2F%C3%BC%2B%25%3F%23%2F", OK },
        { "", "&RESTYPE=container&Comp=list&Prefix=a+b/%C3%BC%2B%25%3F%23/x/y", OK },
        { "", "&restype=container&comp=list&prefix=a%20b%2F%C3%BC%2B%25%3F%23",
          E_AuthenticationFailed },
        { "", "&restype=container&comp=list&prefix=a%20b%2F%C3%BC%2B%25%3F%23x%2F",
          E_AuthenticationFailed },
        { "", "&restype=container&comp=list&prefix=a%20b%2F", E_AuthenticationFailed },
        { "", "&restype=container&comp=acl&prefix=a%20b%2F%C3%BC%2B%25%3F%23%2F",
          E_AuthenticationFailed },
        { "", "&comp=list&prefix=a%20b%2F%C3%BC%2B%25%3F%23%2F", E_AuthenticationFailed },
        { "", "&restype=container&comp=blobs&where=a%3D'b'", E_AuthenticationFailed },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct probe probe;
        enum error e;

        make_directory_probe(rows[i].object, rows[i].addition, &probe);
        e = ask_at(&probe, in_time());
        if (e != rows[i].wanted)
            fail_msg("%s %s: %d %.*s", rows[i].object, rows[i].addition, (int)e, BYTES_ARG(detail));
    }
}

/* Rule: in an account with a hierarchical namespace, the SAS of a directory also grants access to the directory itself. A list
 * of the Data Lake endpoint names the directory, in every account. decision: 1335 */
static void directories_of_trees(void **state)
{
#define ENCODED "a%20b%2F%C3%BC%2B%25%3F%23"
    static const struct {
        const char *object, *addition;
        bool hierarchical;
        enum error wanted;
    } rows[] = {
        { DIRECTORY, "", true, OK },
        { DIRECTORY "/x", "", true, OK },
        { DIRECTORY "x", "", true, E_AuthenticationFailed },
        { "a b", "", true, E_AuthenticationFailed },
        { "", "&resource=filesystem&directory=" ENCODED, true, OK },
        { "", "&resource=filesystem&directory=" ENCODED, false, OK },
        { "", "&resource=filesystem&directory=" ENCODED "%2Fx", false, OK },
        { "", "&resource=filesystem&directory=" ENCODED "x", true, E_AuthenticationFailed },
        { "", "&resource=filesystem&directory=a%20b", true, E_AuthenticationFailed },
        { "", "&resource=filesystem", true, E_AuthenticationFailed },
        { "", "&resource=filesystem&prefix=" ENCODED "%2F", true, E_AuthenticationFailed },
        { "", "&directory=" ENCODED, true, E_AuthenticationFailed },
        { "", "&restype=container&comp=list&prefix=" ENCODED, true, E_AuthenticationFailed },
        { "", "&resource=filesystem&restype=container&comp=list&directory=" ENCODED, true,
          E_AuthenticationFailed },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct probe probe;
        enum error e;

        make_directory_probe(rows[i].object, rows[i].addition, &probe);
        account_set_hierarchical(probe.target.account, rows[i].hierarchical);
        e = ask_at(&probe, in_time());
        account_set_hierarchical(probe.target.account, false);
        if (e != rows[i].wanted)
            fail_msg("%s %s: %d %.*s", rows[i].object, rows[i].addition, (int)e, BYTES_ARG(detail));
    }
#undef ENCODED
}

/* Rule: sr=d and sdd come together, with a depth that is the signed directory's, since version 2020-02-10, and only in the
 * Blob service. decision: 975 */
static void directories_have_their_depth(void **state)
{
    static const struct {
        const char *object, *query, *detail;
        char service;
    } rows[] = {
        { "d/x", "sv=2020-02-10&sr=d", "sdd is mandatory. Cannot be empty", 'b' },
        { "d/x", "sv=2020-02-10&sr=d&sdd=", "sdd is mandatory. Cannot be empty", 'b' },
        { "d/x", "sv=2020-02-10&sr=d&sdd=0", "The request names no blob", 'b' },
        { "d/x", "sv=2020-02-10&sr=d&sdd=-1", "The request names no blob", 'b' },
        { "d/x", "sv=2020-02-10&sr=d&sdd=2", "The request names no blob", 'b' },
        { "d/x", "sv=2020-02-10&sr=d&sdd=1.0", "The request names no blob", 'b' },
        { "d/x", "sv=2020-02-10&sr=d&sdd=18446744073709551617", "The request names no blob", 'b' },
        { "d/x", "sv=2020-02-10&sr=b&sdd=1", "The query has fields of a SAS that", 'b' },
        { "d/x", "sv=2020-02-10&sr=c&sdd=1", "The query has fields of a SAS that", 'b' },
        { "d/x", "sv=2019-12-12&sr=d&sdd=1", "The query has fields of a SAS that", 'b' },
        { "d/x", "sv=2020-02-10&ss=b&srt=o&sdd=1", "The query has fields of a SAS that", 'b' },
        { "d\nx/y", "sv=2020-02-10&sr=d&sdd=1", "Signature fields not well formed.", 'b' },
        { "d/x", "sv=2020-02-10&sr=d&sdd=1", "The signed resource (sr) can be", 'f' },
        { "d/x", "sv=2020-02-10&sr=d&sdd=1", "Signature did not match.", 'b' },
    };
    struct probe probe;

    (void)state;
    make_probe(vector_of("service blob 2020-12-06"), &probe);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        probe.target.object = bytes_from_string(rows[i].object);
        probe.target.service = rows[i].service;
        probe.request.query = arena_printf(arena, "%s&sp=r&se=2027-01-01&sig=AAAA", rows[i].query);
        if (ask_at(&probe, in_time()) != E_AuthenticationFailed ||
            !bytes_has_prefix(detail, bytes_from_string(rows[i].detail)))
            fail_msg("%s: %.*s", rows[i].query, BYTES_ARG(detail));
    }
}

/* Rule: a SAS for HTTPS, for addresses, for services is refused elsewhere, each with its code.
 * rest: SAS-error-codes */
static void protocol_address_service(void **state)
{
    static const struct {
        const char *peer;
        enum error wanted;
    } peers[] = {
        { "10.0.0.1:1", OK },
        { "10.0.0.9:1", OK },
        { "[::ffff:10.0.0.9]:1", OK },
        { "10.0.0.0:1", E_AuthorizationSourceIPMismatch },
        { "10.0.0.10:1", E_AuthorizationSourceIPMismatch },
        { "[::1]:1", E_AuthorizationSourceIPMismatch },
        { "", E_AuthorizationSourceIPMismatch },
    };
    struct probe probe;

    (void)state;
    make_probe(vector_of("account 2020-12-06 full"), &probe);
    for (size_t i = 0; i < sizeof peers / sizeof peers[0]; i++) {
        probe.request.peer = bytes_from_string(peers[i].peer);
        assert_int_equal(ask_at(&probe, in_time()), peers[i].wanted);
    }
    make_probe(vector_of("account 2020-12-06 full"), &probe);
    probe.request.secure = false;
    assert_int_equal(ask_at(&probe, in_time()), E_AuthorizationProtocolMismatch);
    make_probe(vector_of("queue"), &probe);
    probe.request.secure = false;
    assert_int_equal(ask_at(&probe, in_time()), OK);
    make_probe(vector_of("account 2020-12-06"), &probe);
    probe.target.service = 'x';
    assert_int_equal(ask_at(&probe, in_time()), E_AuthorizationServiceMismatch);
}

/* Rule: what is malformed says so; nothing of it is a crash or a success. */
static void malformed_ones_are_refused(void **state)
{
    static const char *const queries[] = {
        "sig=",
        "sig=%",
        "sig=a&sig=b",
        "sig=AAAA",
        "sv=2020-12-06&sig=AAAA",
        "sv=2020-12-06&ss=b&srt=o&sp=r&sig=AAAA",          /* no se */
        "sv=2020-12-06&sr=b&sp=r&sig=AAAA",                /* no se, no policy */
        "sv=2020-12-06&sr=bv&sp=r&se=2027-01-01&sig=AAAA", /* it names no version */
        "sv=2020-12-06&sr=d&sdd=1&sp=r&se=2027-01-01&sig=AAAA",
        "sv=2020-12-06&sr=x&sp=r&se=2027-01-01&sig=AAAA",
        "sv=2011-08-18&sr=b&sp=r&se=2027-01-01&sig=AAAA", /* older than versions are */
        "sv=zzzz-zz-zz&sr=b&sp=r&se=2027-01-01&sig=AAAA",
        "sv=2020-12-06&sr=b&sp=r&se=soon&sig=AAAA",
        "%73ig=AAAA&sv=2020-12-06&sr=b&sp=r&se=2027-01-01",
        "SIG=AAAA&SV=2020-12-06&sr=b&sp=r&se=2027-01-01",
    };
    struct probe probe;

    (void)state;
    make_probe(vector_of("service blob 2020-12-06"), &probe);
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        probe.request.query = bytes_from_string(queries[i]);
        if (ask_at(&probe, in_time()) != E_AuthenticationFailed || !detail.ptr)
            fail_msg("%s", queries[i]);
    }
}

/* Rule: what goes into the answer's head has no line end or other control character: that is malformed, whoever has
 * signed it. */
static void overrides_are_headers(void **state)
{
    static const char *const names[] = { "rscc", "rscd", "rsce", "rscl", "rsct" };
    static const char query[] = "sv=2020-12-06&sr=b&sp=r&se=2027-01-01T00:00:00Z&%s=%s&sig=AAAA";
    struct probe probe;
    struct bytes of_signature;

    (void)state;
    make_probe(vector_of("service blob 2020-12-06"), &probe);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        probe.request.query = arena_printf(arena, query, names[i], "ab");
        assert_int_equal(ask_at(&probe, in_time()), E_AuthenticationFailed);
        of_signature = detail;
        probe.request.query = arena_printf(arena, query, names[i], "a%0Ab");
        assert_int_equal(ask_at(&probe, in_time()), E_AuthenticationFailed);
        if (bytes_has_prefix(detail, bytes_of(of_signature.ptr, 20)))
            fail_msg("%s with a line end: %.*s", names[i], BYTES_ARG(detail));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_are_the_clients),
        cmocka_unit_test(signed_ones_are_taken),
        cmocka_unit_test(times_are_to_the_tick),
        cmocka_unit_test(encryption_scopes_are_read),
        cmocka_unit_test(empty_parameters_are_passed_over),
        cmocka_unit_test(every_field_is_signed),
        cmocka_unit_test(unsigned_fields_are_refused),
        cmocka_unit_test(others_are_not_opened),
        cmocka_unit_test(snapshots),
        cmocka_unit_test(directories),
        cmocka_unit_test(directories_of_trees),
        cmocka_unit_test(directories_have_their_depth),
        cmocka_unit_test(protocol_address_service),
        cmocka_unit_test(malformed_ones_are_refused),
        cmocka_unit_test(overrides_are_headers),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
