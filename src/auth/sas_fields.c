/* The parameters of a SAS in a query. */
#include "auth/sas_private.h"
#include "base/encode.h"
#include "base/url.h"

static const struct bytes names[SAS_FIELDS] = {
    [SAS_VERSION] = BYTES("sv"),
    [SAS_SERVICES] = BYTES("ss"),
    [SAS_TYPES] = BYTES("srt"),
    [SAS_PERMISSIONS] = BYTES("sp"),
    [SAS_START] = BYTES("st"),
    [SAS_EXPIRY] = BYTES("se"),
    [SAS_ADDRESSES] = BYTES("sip"),
    [SAS_PROTOCOL] = BYTES("spr"),
    [SAS_SIGNATURE] = BYTES("sig"),
    [SAS_ENCRYPTION_SCOPE] = BYTES("ses"),
    [SAS_RESOURCE] = BYTES("sr"),
    [SAS_POLICY] = BYTES("si"),
    [SAS_DEPTH] = BYTES("sdd"),
    [SAS_SNAPSHOT] = BYTES("snapshot"),
    [SAS_VERSION_ID] = BYTES("versionid"),
    [SAS_CACHE_CONTROL] = BYTES("rscc"),
    [SAS_CONTENT_DISPOSITION] = BYTES("rscd"),
    [SAS_CONTENT_ENCODING] = BYTES("rsce"),
    [SAS_CONTENT_LANGUAGE] = BYTES("rscl"),
    [SAS_CONTENT_TYPE] = BYTES("rsct"),
    [SAS_KEY_OID] = BYTES("skoid"),
    [SAS_KEY_TID] = BYTES("sktid"),
    [SAS_KEY_START] = BYTES("skt"),
    [SAS_KEY_EXPIRY] = BYTES("ske"),
    [SAS_KEY_SERVICE] = BYTES("sks"),
    [SAS_KEY_VERSION] = BYTES("skv"),
    [SAS_KEY_USER_TID] = BYTES("skdutid"),
    [SAS_USER_OID] = BYTES("sduoid"),
    [SAS_AUTHORIZED_OID] = BYTES("saoid"),
    [SAS_UNAUTHORIZED_OID] = BYTES("suoid"),
    [SAS_CORRELATION] = BYTES("scid"),
    [SAS_HEADERS] = BYTES("srh"),
    [SAS_PARAMETERS] = BYTES("srq"),
    [SAS_TABLE] = BYTES("tn"),
    [SAS_START_PARTITION] = BYTES("spk"),
    [SAS_START_ROW] = BYTES("srk"),
    [SAS_END_PARTITION] = BYTES("epk"),
    [SAS_END_ROW] = BYTES("erk"),
};

/* Maximum length of a name; most parameters are rejected by their length. */
#define NAME_MAX_BYTES 9

static bool read_field(struct arena *arena, struct bytes name, struct bytes value,
                       struct sas_fields *fields)
{
    if (name.len > 0 && memchr(name.ptr, '%', name.len)) {
        name = query_decode(arena, name);
        if (!name.ptr)
            return false;
    }
    if (name.len < 2 || name.len > NAME_MAX_BYTES)
        return true;
    for (size_t i = 0; i < SAS_FIELDS; i++) {
        if (names[i].len != name.len || !bytes_equal_nocase(name, names[i]))
            continue;
        if (fields->is[i].ptr)
            return false;
        fields->is[i] = value.ptr ? query_decode(arena, value) : bytes_from_string("");
        return fields->is[i].ptr;
    }
    return true;
}

static enum sas_kind kind_of(const struct sas_fields *fields)
{
    if (fields->is[SAS_SERVICES].ptr || fields->is[SAS_TYPES].ptr)
        return SAS_ACCOUNT;
    return fields->is[SAS_KEY_OID].ptr ? SAS_DELEGATION : SAS_SERVICE;
}

bool sas_fields_read(struct arena *arena, struct bytes query, struct sas_fields *ret_fields)
{
    struct sas_fields fields = { .kind = SAS_SERVICE };
    struct bytes name, value;

    while (url_take_parameter(&query, &name, &value)) {
        if (!read_field(arena, name, value, &fields))
            return false;
    }
    fields.kind = kind_of(&fields);
    *ret_fields = fields;
    return true;
}

bool sas_since(const struct sas_fields *fields, const char *version)
{
    return bytes_compare(fields->is[SAS_VERSION], bytes_from_string(version)) >= 0;
}

struct bytes sas_parameter(struct arena *arena, struct bytes query, struct bytes wanted)
{
    struct bytes name, value;

    while (url_take_parameter(&query, &name, &value)) {
        name = query_decode(arena, name);
        if (name.ptr && bytes_equal_nocase(name, wanted))
            return value.ptr ? query_decode(arena, value) : bytes_from_string("");
    }
    return (struct bytes){ NULL, 0 };
}

/* The directory of a SAS with sr=d. Names of flat accounts have no hierarchy, so a directory is the
 * part of a name before one of its slashes. sdd, its number of segments, is not signed, but the
 * directory is. rest: Create-service-SAS, Create-user-delegation-SAS "directory-scoped access";
 * decisions: 71, 975, 1335 */

/* Maximum number of segments in a name. */
#define DEPTH_MAX 1024

bool sas_is_of_directory(const struct sas_fields *fields, const struct auth_target *target)
{
    return target->service == 'b' && fields->kind != SAS_ACCOUNT &&
           bytes_is(fields->is[SAS_RESOURCE], "d");
}

/* Returns the length of the first `depth` segments, or 0 if there are fewer, or if no slash follows
 * them and may_be_itself is false. */
static size_t directory_length(struct bytes path, uint64_t depth, bool may_be_itself)
{
    for (size_t i = 0; i < path.len; i++) {
        if (path.ptr[i] == '/' && --depth == 0)
            return i;
    }
    return may_be_itself && depth == 1 ? path.len : 0;
}

static bool has_parameter(struct arena *arena, const struct request *request, const char *name,
                          const char *value)
{
    return bytes_is(sas_parameter(arena, request->query, bytes_from_string(name)), value);
}

/* Returns the decoded prefix of a List Blobs request, or the directory of a Path List request, empty
 * if absent; ptr NULL for other requests. A list of a directory never shows its siblings. */
static struct bytes listed_prefix(struct arena *arena, const struct request *request,
                                  bool *ret_is_directory)
{
    bool of_container = has_parameter(arena, request, "restype", "container");
    struct bytes prefix;

    *ret_is_directory = !of_container && has_parameter(arena, request, "resource", "filesystem") &&
                        request->method == METHOD_GET;
    if (!*ret_is_directory && !(of_container && has_parameter(arena, request, "comp", "list")))
        return bytes_of(NULL, 0);
    prefix = sas_parameter(arena, request->query,
                           bytes_from_string(*ret_is_directory ? "directory" : "prefix"));
    return prefix.ptr ? prefix : bytes_of("", 0);
}

void sas_directory_find(struct arena *arena, const struct request *request,
                        const struct auth_target *target, struct sas_fields *fields)
{
    bool may_be_itself = account_is_hierarchical(target->account);
    struct bytes path = target->object;
    uint64_t depth;
    size_t length;

    if (!sas_is_of_directory(fields, target) ||
        !bytes_parse_u64(fields->is[SAS_DEPTH], DEPTH_MAX, &depth))
        return;
    if (!path.ptr)
        path = listed_prefix(arena, request, &may_be_itself);
    if (depth == 0 && path.ptr && account_is_hierarchical(target->account))
        fields->directory = bytes_of("", 0); /* the root: "/blob/account/container/" is signed */
    length = depth > 0 ? directory_length(path, depth, may_be_itself) : 0;
    if (length > 0)
        fields->directory = bytes_of(path.ptr, length);
}

enum error sas_directory_check(const struct sas_fields *fields, struct bytes *ret_detail)
{
    const char *detail =
        "The request names no blob or list prefix below a directory of the SAS's depth (sdd).";

    if (fields->directory.ptr)
        return OK;
    if (fields->is[SAS_DEPTH].len == 0)
        detail = "sdd is mandatory. Cannot be empty";
    *ret_detail = bytes_from_string(detail);
    return E_AuthenticationFailed;
}
