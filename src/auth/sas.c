/* Checks a shared access signature in this order: well-formed fields, resource, signature, validity
 * time, then protocol, address and service. Its permissions are checked later (permit.h).
 * rest: Create-account-SAS, Create-service-SAS, Create-user-delegation-SAS, SAS-error-codes */
#include "auth/sas_private.h"

#include <arpa/inet.h>
#include <assert.h>

#include "base/encode.h"

/* The first version with x-ms-version, and the first one with account SAS. */
#define VERSION_OLDEST         "2012-02-12"
#define VERSION_OLDEST_ACCOUNT "2015-04-05"
#define VERSION_OLDEST_KEY     "2018-11-09"

/* Bits for enum sas_kind. */
#define ACCOUNT                (1u << SAS_ACCOUNT)
#define SERVICE                (1u << SAS_SERVICE)
#define DELEGATION             (1u << SAS_DELEGATION)

static enum error refuse(struct bytes *ret_detail, const char *detail)
{
    *ret_detail = bytes_from_string(detail);
    return E_AuthenticationFailed;
}

static enum error refuse_malformed(struct bytes *ret_detail)
{
    return refuse(ret_detail, "Signature fields not well formed.");
}

/* ---- fields ---- */

/* Checks the fields required by each kind; a policy may supply sp and se of a service SAS. */
static enum error check_mandatory(const struct sas_fields *fields, struct bytes *ret_detail)
{
    static const struct {
        enum sas_field field;
        unsigned kinds; /* bits of enum sas_kind */
        const char *detail;
    } rows[] = {
        { SAS_VERSION, ACCOUNT | SERVICE | DELEGATION, "sv is mandatory. Cannot be empty" },
        { SAS_SERVICES, ACCOUNT, "ss is mandatory. Cannot be empty" },
        { SAS_TYPES, ACCOUNT, "srt is mandatory. Cannot be empty" },
        { SAS_PERMISSIONS, ACCOUNT | DELEGATION, "sp is mandatory. Cannot be empty" },
        { SAS_EXPIRY, ACCOUNT | DELEGATION, "se is mandatory. Cannot be empty" },
        { SAS_KEY_TID, DELEGATION, "sktid is mandatory. Cannot be empty" },
        { SAS_KEY_START, DELEGATION, "skt is mandatory. Cannot be empty" },
        { SAS_KEY_EXPIRY, DELEGATION, "ske is mandatory. Cannot be empty" },
        { SAS_KEY_SERVICE, DELEGATION, "sks is mandatory. Cannot be empty" },
        { SAS_KEY_VERSION, DELEGATION, "skv is mandatory. Cannot be empty" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if ((rows[i].kinds & 1u << fields->kind) && fields->is[rows[i].field].len == 0)
            return refuse(ret_detail, rows[i].detail);
    }
    if (fields->kind == SAS_SERVICE && !fields->is[SAS_POLICY].ptr &&
        (fields->is[SAS_PERMISSIONS].len == 0 || fields->is[SAS_EXPIRY].len == 0))
        return refuse_malformed(ret_detail);
    return OK;
}

static bool is_date(struct bytes text)
{
    if (text.len != 10 || text.ptr[4] != '-' || text.ptr[7] != '-')
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (i != 4 && i != 7 && (text.ptr[i] < '0' || text.ptr[i] > '9'))
            return false;
    }
    return true;
}

static enum error check_version(const struct sas_fields *fields, struct bytes *ret_detail)
{
    static const char *const oldest[] = { [SAS_ACCOUNT] = VERSION_OLDEST_ACCOUNT,
                                          [SAS_SERVICE] = VERSION_OLDEST,
                                          [SAS_DELEGATION] = VERSION_OLDEST_KEY };

    if (!is_date(fields->is[SAS_VERSION]) || !sas_since(fields, oldest[fields->kind]))
        return refuse_malformed(ret_detail);
    return OK;
}

/* Returns true if there are fields that this SAS does not sign, which anyone could have added:
 * fields of another kind or service, or newer than its version. */
static bool has_unsigned(const struct sas_fields *fields, const struct auth_target *target)
{
    static const struct {
        enum sas_field first, last;
        unsigned kinds;       /* kinds that have the fields */
        const char *services; /* services that have the fields */
        const char *since;
    } rows[] = {
        { SAS_ADDRESSES, SAS_PROTOCOL, ACCOUNT | SERVICE | DELEGATION, "bqtf", "2015-04-05" },
        { SAS_ENCRYPTION_SCOPE, SAS_ENCRYPTION_SCOPE, ACCOUNT, "bqtf", "2020-12-06" },
        { SAS_ENCRYPTION_SCOPE, SAS_ENCRYPTION_SCOPE, ACCOUNT | SERVICE | DELEGATION, "b",
          "2020-12-06" },
        { SAS_RESOURCE, SAS_RESOURCE, SERVICE | DELEGATION, "bf", "" },
        { SAS_RESOURCE, SAS_RESOURCE, DELEGATION, "q",
          "" }, /* "q", which check_resource() verifies */
        { SAS_POLICY, SAS_POLICY, SERVICE, "bqtf", "" },
        { SAS_CACHE_CONTROL, SAS_CONTENT_TYPE, SERVICE | DELEGATION, "bf", "2013-08-15" },
        { SAS_KEY_OID, SAS_KEY_VERSION, DELEGATION, "bqf", "2018-11-09" },
        { SAS_KEY_USER_TID, SAS_USER_OID, DELEGATION, "bqf", "2025-07-05" },
        { SAS_AUTHORIZED_OID, SAS_CORRELATION, DELEGATION, "b", "2020-02-10" },
        { SAS_DEPTH, SAS_DEPTH, SERVICE | DELEGATION, "b", "2020-02-10" }, /* for directories */
        { SAS_HEADERS, SAS_PARAMETERS, DELEGATION, "b", "2026-04-06" },
        { SAS_TABLE, SAS_END_ROW, SERVICE, "t", "" },
    };
    bool has[SAS_FIELDS] = { false };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!(rows[i].kinds & 1u << fields->kind) || !strchr(rows[i].services, target->service) ||
            !sas_since(fields, rows[i].since))
            continue;
        for (enum sas_field field = rows[i].first; field <= rows[i].last; field++)
            has[field] = true;
    }
    has[SAS_DEPTH] = has[SAS_DEPTH] && sas_is_of_directory(fields, target);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (enum sas_field field = rows[i].first; field <= rows[i].last; field++) {
            if (fields->is[field].ptr && !has[field])
                return true;
        }
    }
    return false;
}

static bool has_control(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.ptr[i] < 0x20 || text.ptr[i] == 0x7f)
            return true;
    }
    return false;
}

/* Overrides become response headers. */
static bool overrides_are_headers(const struct sas_fields *fields)
{
    for (enum sas_field field = SAS_CACHE_CONTROL; field <= SAS_CONTENT_TYPE; field++) {
        if (has_control(fields->is[field]))
            return false;
    }
    return true;
}

/* ---- the resource ---- */

/* Checks the table, named by tn and by the path, ignoring case. A batch names no table in its path,
 * so each of its parts is checked against the SAS. Row keys narrow partition keys.
 * rest: Create-service-SAS "Specify the table name", "Restrict access to table entities" */
static enum error check_table(const struct sas_fields *fields, const struct auth_target *target,
                              struct bytes *ret_detail)
{
    if (fields->is[SAS_TABLE].len == 0)
        return refuse(ret_detail, "tn is mandatory. Cannot be empty");
    if ((fields->is[SAS_START_ROW].ptr && !fields->is[SAS_START_PARTITION].ptr) ||
        (fields->is[SAS_END_ROW].ptr && !fields->is[SAS_END_PARTITION].ptr))
        return refuse_malformed(ret_detail);
    if (target->container.ptr && !bytes_equal_nocase(target->container, fields->is[SAS_TABLE]))
        return refuse(ret_detail, "The table of the SAS (tn) is not that of the request.");
    return OK;
}

static bool is_of_blob(struct bytes resource)
{
    return bytes_is(resource, "b") || bytes_is(resource, "bs") || bytes_is(resource, "bv");
}

/* Checks that the request addresses a resource of the kind in sr. decisions: 71, 805 */
static enum error check_resource(const struct sas_fields *fields, const struct auth_target *target,
                                 struct bytes *ret_detail)
{
    struct bytes resource = fields->is[SAS_RESOURCE];
    bool of_file = target->service == 'f';
    bool has_kinds = target->service == 'b' || of_file;
    bool of_object = of_file ? bytes_is(resource, "f") : is_of_blob(resource);
    bool of_directory = sas_is_of_directory(fields, target);

    if (fields->kind == SAS_ACCOUNT)
        return OK;
    if (has_kinds && resource.len == 0)
        return refuse(ret_detail, "sr is mandatory. Cannot be empty");
    if (has_kinds && !of_object && !of_directory && !bytes_is(resource, of_file ? "s" : "c"))
        return refuse(ret_detail, "The signed resource (sr) can be c, d, b, bs or bv, of files s "
                                  "or f.");
    if (target->service == 'q' && resource.ptr && !bytes_is(resource, "q"))
        return refuse(ret_detail, "The signed resource (sr) of a queue is q.");
    if (has_control(target->container) || has_control(target->object) ||
        has_control(fields->directory))
        return refuse_malformed(ret_detail);
    if (target->service == 't')
        return check_table(fields, target, ret_detail);
    if (!target->container.ptr || (of_object && !target->object.ptr))
        return refuse(ret_detail, "The signed resource (sr) is not that of the request.");
    if (bytes_is(resource, "bs") && fields->is[SAS_SNAPSHOT].len == 0)
        return refuse(ret_detail, "The signed resource (sr) is a snapshot.");
    if (bytes_is(resource, "bv") && fields->is[SAS_VERSION_ID].len == 0)
        return refuse(ret_detail, "The signed resource (sr) is a blob version.");
    return of_directory ? sas_directory_check(fields, ret_detail) : OK;
}

/* ---- the user delegation key ---- */

static struct bytes date_text(struct arena *arena, instant date)
{
    char text[INSTANT_HTTP_SIZE];

    instant_format_http(date, text);
    return arena_copy(arena, bytes_from_string(text));
}

/* Reads the fields that the key was derived from; zeroed for other kinds of SAS. */
static enum error read_key(const struct sas_fields *fields, struct delegation_key *ret_key,
                           struct bytes *ret_detail)
{
    if (fields->kind != SAS_DELEGATION)
        return OK;
    *ret_key = (struct delegation_key){
        .oid = fields->is[SAS_KEY_OID],
        .tid = fields->is[SAS_KEY_TID],
        .service = fields->is[SAS_KEY_SERVICE],
        .version = fields->is[SAS_KEY_VERSION],
        .user_tid = fields->is[SAS_KEY_USER_TID],
    };
    if (!instant_parse_iso(fields->is[SAS_KEY_START], &ret_key->start) ||
        !instant_parse_iso(fields->is[SAS_KEY_EXPIRY], &ret_key->expiry))
        return refuse_malformed(ret_detail);
    return OK;
}

/* Checks, after the key's signature was verified, that the key is valid now, for this service and
 * for the caller. */
static enum error check_key(const struct sas_fields *fields, const struct delegation_key *key,
                            const struct auth_target *target, const struct principal *user,
                            instant now, struct arena *arena, struct bytes *ret_detail)
{
    struct bytes wanted = fields->is[SAS_USER_OID];

    if (!wanted.ptr && user)
        return refuse(ret_detail,
                      "A SAS sent with a bearer token must name the token's owner (sduoid).");
    if (wanted.ptr && (!user || !bytes_equal(user->oid, wanted) ||
                       (key->user_tid.len > 0 && !bytes_equal(user->tid, key->user_tid))))
        return refuse(ret_detail, "The SAS is for the owner of another token (sduoid, skdutid).");
    if (fields->kind != SAS_DELEGATION)
        return OK;
    if (!memchr(key->service.ptr, target->service, key->service.len))
        return E_AuthorizationServiceMismatch;
    if (now >= key->start && now < key->expiry)
        return OK;
    *ret_detail =
        arena_printf(arena,
                     "Signature not valid in the specified key time frame: Key start "
                     "[%.*s] - Key expiry [%.*s] - Current [%.*s]",
                     BYTES_ARG(date_text(arena, key->start)),
                     BYTES_ARG(date_text(arena, key->expiry)), BYTES_ARG(date_text(arena, now)));
    return E_AuthenticationFailed;
}

/* ---- the signature ---- */

static bool is_signed(const struct sas_fields *fields, const struct delegation_key *key,
                      const struct auth_target *target, struct arena *arena, struct bytes text,
                      struct bytes signature)
{
    if (fields->kind == SAS_DELEGATION)
        return account_delegate_signed(target->account, arena, key, text, signature);
    return account_signed(target->account, text, signature);
}

static enum error check_signature(const struct request *request, const struct sas_fields *fields,
                                  const struct delegation_key *key,
                                  const struct auth_target *target, struct arena *arena,
                                  struct bytes *ret_detail)
{
    struct bytes signature = base64_decode(arena, fields->is[SAS_SIGNATURE]);
    struct bytes text = sas_string(arena, request, fields, target);

    if (signature.ptr && is_signed(fields, key, target, arena, text, signature))
        return OK;
    *ret_detail = arena_printf(arena, "Signature did not match. String to sign used was %.*s",
                               BYTES_ARG(text));
    return E_AuthenticationFailed;
}

/* ---- time, protocol, address, service ---- */

/* Checks st and se, if given; those of a policy are checked with the policy. */
static enum error check_times(const struct sas_fields *fields, instant now, struct arena *arena,
                              struct sas *sas, struct bytes *ret_detail)
{
    struct bytes start = fields->is[SAS_START], expiry = fields->is[SAS_EXPIRY];

    if ((start.len > 0 && !instant_parse_iso(start, &sas->start)) ||
        (expiry.len > 0 && !instant_parse_iso(expiry, &sas->expiry)))
        return refuse_malformed(ret_detail);
    if (sas->start > 0 && sas->expiry > 0 && sas->expiry <= sas->start) {
        *ret_detail = arena_printf(
            arena, "Signed expiry time [%.*s] must be after signed start time [%.*s]",
            BYTES_ARG(date_text(arena, sas->expiry)), BYTES_ARG(date_text(arena, sas->start)));
        return E_AuthenticationFailed;
    }
    if (now >= sas->start && (sas->expiry == 0 || now < sas->expiry))
        return OK;
    *ret_detail =
        arena_printf(arena,
                     "Signature not valid in the specified time frame: Start [%.*s] - "
                     "Expiry [%.*s] - Current [%.*s]",
                     BYTES_ARG(date_text(arena, sas->start)),
                     BYTES_ARG(date_text(arena, sas->expiry)), BYTES_ARG(date_text(arena, now)));
    return E_AuthenticationFailed;
}

static enum error check_protocol(const struct sas_fields *fields, const struct request *request,
                                 struct bytes *ret_detail)
{
    struct bytes protocol = fields->is[SAS_PROTOCOL];

    if (protocol.len == 0 || bytes_is(protocol, "https,http") || bytes_is(protocol, "http,https"))
        return OK;
    if (!bytes_is(protocol, "https"))
        return refuse_malformed(ret_detail);
    return request->secure ? OK : E_AuthorizationProtocolMismatch;
}

/* Parses an IPv4 address as a number. */
static bool parse_address(struct arena *arena, struct bytes text, uint32_t *ret_address)
{
    struct in_addr address;

    if (!text.ptr || inet_pton(AF_INET, arena_string(arena, text), &address) != 1)
        return false;
    *ret_address = ntohl(address.s_addr);
    return true;
}

/* Parses the address of "1.2.3.4:5000" or "[::ffff:1.2.3.4]:5000". Returns false for other IPv6
 * addresses. */
static bool peer_address(struct arena *arena, struct bytes peer, uint32_t *ret_address)
{
    static const struct bytes mapped = BYTES("[::ffff:");
    size_t end = peer.len;

    while (end > 0 && peer.ptr[end - 1] != ':')
        end--;
    peer.len = end > 0 ? end - 1 : 0;
    if (bytes_has_prefix(peer, mapped))
        peer = bytes_of(peer.ptr + mapped.len, peer.len - mapped.len - 1);
    return parse_address(arena, peer, ret_address);
}

/* Checks the peer against "1.2.3.4" or "1.2.3.4-1.2.3.9" (inclusive). Azure supports only IPv4. */
static enum error check_address(const struct sas_fields *fields, const struct request *request,
                                struct arena *arena, struct bytes *ret_detail)
{
    struct bytes range = fields->is[SAS_ADDRESSES], first, last;
    uint32_t from, to, peer;

    if (range.len == 0)
        return OK;
    bytes_cut(range, '-', &first, &last);
    if (!parse_address(arena, first, &from) || !parse_address(arena, last.ptr ? last : first, &to))
        return refuse_malformed(ret_detail);
    if (!peer_address(arena, request->peer, &peer) || peer < from || peer > to)
        return E_AuthorizationSourceIPMismatch;
    return OK;
}

static enum error check_service(const struct sas_fields *fields, const struct auth_target *target)
{
    struct bytes services = fields->is[SAS_SERVICES];

    if (fields->kind != SAS_ACCOUNT || memchr(services.ptr, target->service, services.len))
        return OK;
    return E_AuthorizationServiceMismatch;
}

/* Checks that row keys have a partition key, since they limit the entities of a partition.
 * rest: Create-service-SAS "Restrict access to table entities"; decision: 194 */
static bool rows_have_partitions(const struct sas_fields *fields)
{
    return (!fields->is[SAS_START_ROW].ptr || fields->is[SAS_START_PARTITION].ptr) &&
           (!fields->is[SAS_END_ROW].ptr || fields->is[SAS_END_PARTITION].ptr);
}

/* ---- all checks ---- */

enum error sas_check_form(const struct sas_fields *fields, const struct auth_target *target,
                          struct bytes *ret_detail)
{
    enum error e = check_mandatory(fields, ret_detail);

    if (!e)
        e = check_version(fields, ret_detail);
    if (!e)
        e = check_resource(fields, target, ret_detail);
    if (!e && has_unsigned(fields, target))
        e = refuse(ret_detail, "The query has fields of a SAS that this one does not sign.");
    if (!e && !rows_have_partitions(fields))
        e = refuse_malformed(ret_detail);
    if (!e && !overrides_are_headers(fields))
        e = refuse_malformed(ret_detail);
    if (!e && fields->is[SAS_UNAUTHORIZED_OID].ptr && !account_is_hierarchical(target->account))
        e = refuse(ret_detail, "suoid is for accounts with a hierarchical namespace.");
    return e;
}

static void fill_sas(const struct sas_fields *fields, struct sas *sas)
{
    sas->kind = fields->kind;
    sas->permissions = fields->is[SAS_PERMISSIONS];
    sas->types = fields->is[SAS_TYPES];
    sas->policy = fields->is[SAS_POLICY];
    sas->is_of_blob = is_of_blob(fields->is[SAS_RESOURCE]);
    sas->encryption_scope = fields->is[SAS_ENCRYPTION_SCOPE];
    for (size_t i = 0; i < SAS_OVERRIDES; i++)
        sas->overrides[i] = fields->is[SAS_CACHE_CONTROL + i];
    sas->agent_is_ruled = fields->is[SAS_UNAUTHORIZED_OID].len > 0;
    sas->agent = fields->is[sas->agent_is_ruled ? SAS_UNAUTHORIZED_OID : SAS_AUTHORIZED_OID];
    sas->entities = (struct sas_entities){
        .table = fields->is[SAS_TABLE],
        .first_partition = fields->is[SAS_START_PARTITION],
        .first_row = fields->is[SAS_START_ROW],
        .last_partition = fields->is[SAS_END_PARTITION],
        .last_row = fields->is[SAS_END_ROW],
    };
}

enum error sas_authenticate(const struct request *request, const struct auth_target *target,
                            const struct principal *user, instant now, struct arena *arena,
                            struct identity *ret_identity, struct bytes *ret_detail)
{
    struct sas *sas = arena_alloc(arena, sizeof *sas);
    struct sas_fields fields;
    struct delegation_key key = { .oid = { NULL, 0 } };
    enum error e;

    if (!sas_fields_read(arena, request->query, &fields))
        return refuse_malformed(ret_detail);
    sas_directory_find(arena, request, target, &fields);
    e = sas_check_form(&fields, target, ret_detail);
    if (!e)
        e = read_key(&fields, &key, ret_detail);
    if (!e)
        e = check_signature(request, &fields, &key, target, arena, ret_detail);
    if (!e)
        e = check_key(&fields, &key, target, user, now, arena, ret_detail);
    if (!e)
        e = check_times(&fields, now, arena, sas, ret_detail);
    if (!e)
        e = check_protocol(&fields, request, ret_detail);
    if (!e)
        e = check_address(&fields, request, arena, ret_detail);
    if (!e)
        e = check_service(&fields, target);
    if (e)
        return e;
    fill_sas(&fields, sas);
    *ret_identity = (struct identity){ .kind = IDENTITY_SAS, .sas = sas, .at = now };
    if (fields.kind == SAS_DELEGATION) {
        ret_identity->oid = key.oid;
        ret_identity->actions =
            trust_actions(target->trust, key.oid, target->name, target->service, target->container);
    }
    return OK;
}
