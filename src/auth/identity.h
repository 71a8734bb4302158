/* The caller as determined by authentication. Its permissions are checked by auth/permit.h, against
 * the state on which the operation itself is decided. Plain values. */
#ifndef LAGRA_AUTH_IDENTITY_H
#define LAGRA_AUTH_IDENTITY_H

#include "auth/rights.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/errors.h"

enum identity_kind {
    IDENTITY_ANONYMOUS,   /* no credentials */
    IDENTITY_ACCOUNT_KEY, /* signed with a key of the addressed account */
    IDENTITY_SAS,         /* a shared access signature with a valid signature */
    IDENTITY_BEARER,      /* a bearer token with an object id */
};

enum sas_kind {
    SAS_ACCOUNT,
    SAS_SERVICE,
    SAS_DELEGATION, /* signed with a user delegation key */
};

/* Response headers that a service SAS sets, in the order they are signed. */
enum sas_override {
    OVERRIDE_CACHE_CONTROL,
    OVERRIDE_CONTENT_DISPOSITION,
    OVERRIDE_CONTENT_ENCODING,
    OVERRIDE_CONTENT_LANGUAGE,
    OVERRIDE_CONTENT_TYPE,
    SAS_OVERRIDES
};

/* The scope of a Table service SAS: one table, optionally limited to a range of entities from first
 * to last key, PartitionKey before RowKey. ptr NULL if not set. rest: Create-service-SAS "Restrict
 * access to table entities" */
struct sas_entities {
    struct bytes table;
    struct bytes first_partition, first_row;
    struct bytes last_partition, last_row;
};

/* The fields of a SAS whose signature, protocol and addresses are valid. */
struct sas {
    enum sas_kind kind;
    struct bytes permissions;              /* sp; ptr NULL: defined by its policy */
    struct bytes types;                    /* srt of an account SAS */
    struct bytes policy;                   /* si; ptr NULL if none */
    instant start, expiry;                 /* 0 if not set */
    bool encrypts;                         /* names an encryption scope (ses) */
    struct bytes overrides[SAS_OVERRIDES]; /* rscc.. of a service SAS; ptr NULL if not set */
    struct sas_entities entities;
    bool is_of_blob;     /* sr=b, bs or bv: for one blob */
    struct bytes agent;  /* object id that acts by a user delegation SAS (saoid, suoid), or empty */
    bool agent_is_ruled; /* suoid: access control lists must permit the agent */
};

struct identity {
    enum identity_kind kind;
    /* IDENTITY_ANONYMOUS: error if the access is not permitted; OK stands for
     * E_NoAuthenticationInformation */
    enum error refusal;
    bool sees_public;      /* an anonymous caller may read public containers */
    const struct sas *sas; /* IDENTITY_SAS */
    unsigned actions;      /* IDENTITY_BEARER, SAS_DELEGATION: actions permitted to the owner */
    /* IDENTITY_BEARER: the user; SAS_DELEGATION: the owner of the key. Empty for others; tid may be
     * empty */
    struct bytes oid, tid;
    const struct bytes *groups; /* IDENTITY_BEARER: object ids of the user's groups */
    size_t group_count;
    instant at; /* wall clock: time of authentication, used for all checks */
};

/* Returns true for credentials made with a key of the account. decision: 1438 */
static inline bool identity_uses_key(const struct identity *identity)
{
    return identity->kind == IDENTITY_ACCOUNT_KEY ||
           (identity->kind == IDENTITY_SAS && identity->sas->kind != SAS_DELEGATION);
}

#endif
