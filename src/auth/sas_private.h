/* Internal to auth/: shared access signatures. */
#ifndef LAGRA_AUTH_SAS_PRIVATE_H
#define LAGRA_AUTH_SAS_PRIVATE_H

#include "auth/auth_private.h"

/* The query parameters of a SAS; their names are in sas_fields.c. */
enum sas_field {
    SAS_VERSION,
    SAS_SERVICES,
    SAS_TYPES,
    SAS_PERMISSIONS,
    SAS_START,
    SAS_EXPIRY,
    SAS_ADDRESSES,
    SAS_PROTOCOL,
    SAS_SIGNATURE,
    SAS_ENCRYPTION_SCOPE,
    SAS_RESOURCE,
    SAS_POLICY,
    SAS_DEPTH,
    SAS_SNAPSHOT,   /* the request's snapshot; signed if the resource is a snapshot */
    SAS_VERSION_ID, /* the request's version; signed if the resource is a version */
    SAS_CACHE_CONTROL,
    SAS_CONTENT_DISPOSITION,
    SAS_CONTENT_ENCODING,
    SAS_CONTENT_LANGUAGE,
    SAS_CONTENT_TYPE,
    SAS_KEY_OID,
    SAS_KEY_TID,
    SAS_KEY_START,
    SAS_KEY_EXPIRY,
    SAS_KEY_SERVICE,
    SAS_KEY_VERSION,
    SAS_KEY_USER_TID,
    SAS_USER_OID,
    SAS_AUTHORIZED_OID,
    SAS_UNAUTHORIZED_OID,
    SAS_CORRELATION,
    SAS_HEADERS,
    SAS_PARAMETERS,
    SAS_TABLE,
    SAS_START_PARTITION,
    SAS_START_ROW,
    SAS_END_PARTITION,
    SAS_END_ROW,
    SAS_FIELDS
};

struct sas_fields {
    struct bytes is[SAS_FIELDS]; /* decoded; ptr NULL if absent */
    enum sas_kind kind;          /* according to the fields present */
    struct bytes directory;      /* signed directory of sr=d, or ptr NULL */
};

/* Reads the fields from a raw query. Returns false if one is badly encoded or repeated. */
bool sas_fields_read(struct arena *arena, struct bytes query, struct sas_fields *ret_fields);
/* Returns true if sv is at least this date. Versions newer than we know have the newest form. */
bool sas_since(const struct sas_fields *fields, const char *version);

/* Returns the decoded value of a query parameter, ignoring the case of its name; ptr NULL if
 * absent. */
struct bytes sas_parameter(struct arena *arena, struct bytes query, struct bytes wanted);

/* Returns true if the SAS is for a directory of the Blob service (sr=d). */
bool sas_is_of_directory(const struct sas_fields *fields, const struct auth_target *target);
/* Sets fields->directory of such a SAS to the first sdd segments of the blob's name or, for lists,
 * of their prefix or directory. Leaves it NULL if they are not followed by a slash and the rest of
 * a name, unless they are the path of a directory; and if sdd is not a positive number. */
void sas_directory_find(struct arena *arena, const struct request *request,
                        const struct auth_target *target, struct sas_fields *fields);
/* Checks that the directory was found. Returns OK, or E_AuthenticationFailed with *ret_detail. */
enum error sas_directory_check(const struct sas_fields *fields, struct bytes *ret_detail);

/* Checks that the SAS has the fields required for its kind and the target, and no unsigned fields.
 * Ignores times, protocol and addresses. Returns OK, or E_AuthenticationFailed with *ret_detail. */
enum error sas_check_form(const struct sas_fields *fields, const struct auth_target *target,
                          struct bytes *ret_detail);

/* Returns the string to sign according to kind, service and version. rest: Create-account-SAS,
 * Create-service-SAS, Create-user-delegation-SAS */
struct bytes sas_string(struct arena *arena, const struct request *request,
                        const struct sas_fields *fields, const struct auth_target *target);

/* Authenticates with the SAS in the query, like authenticate(). user: of a bearer token sent with
 * it, or NULL. */
enum error sas_authenticate(const struct request *request, const struct auth_target *target,
                            const struct principal *user, instant now, struct arena *arena,
                            struct identity *ret_identity, struct bytes *ret_detail);

#endif
