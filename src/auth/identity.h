/* The caller, as authentication found it. What it may do is judged by auth/permit.h, on the state
 * that the operation itself is decided on. Plain values. */
#ifndef LAGRA_AUTH_IDENTITY_H
#define LAGRA_AUTH_IDENTITY_H

#include "auth/rights.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/errors.h"

enum identity_kind {
    IDENTITY_ANONYMOUS,   /* nothing was presented */
    IDENTITY_ACCOUNT_KEY, /* signed with a key of the account that is addressed */
    IDENTITY_SAS,         /* a shared access signature whose signature is right */
    IDENTITY_BEARER,      /* a bearer token, which names an object id */
};

enum sas_kind {
    SAS_ACCOUNT,
    SAS_SERVICE,
    SAS_DELEGATION, /* signed with a user delegation key */
};

/* Headers of an answer that a service SAS sets, in the order that they are signed. */
enum sas_override {
    OVERRIDE_CACHE_CONTROL,
    OVERRIDE_CONTENT_DISPOSITION,
    OVERRIDE_CONTENT_ENCODING,
    OVERRIDE_CONTENT_LANGUAGE,
    OVERRIDE_CONTENT_TYPE,
    SAS_OVERRIDES
};

/* What a service SAS of the Table service opens: one table, of which it may name the first and the
 * last entity by their keys, PartitionKey before RowKey. ptr NULL: not set.
 * rest: Create-service-SAS "Restrict access to table entities" */
struct sas_entities {
    struct bytes table;
    struct bytes first_partition, first_row;
    struct bytes last_partition, last_row;
};

/* What a SAS says of itself, after its signature, its protocol and its addresses were found
 * right. */
struct sas {
    enum sas_kind kind;
    struct bytes permissions;              /* sp; ptr NULL: its policy says them */
    struct bytes types;                    /* srt of an account SAS */
    struct bytes policy;                   /* si; ptr NULL: none */
    instant start, expiry;                 /* 0: not set */
    bool encrypts;                         /* it names an encryption scope (ses) */
    struct bytes overrides[SAS_OVERRIDES]; /* rscc.. of a service SAS; ptr NULL: not set */
    struct sas_entities entities;
};

struct identity {
    enum identity_kind kind;
    /* Of an anonymous one: what it is answered where it may not; OK is taken for
     * E_NoAuthenticationInformation. */
    enum error refusal;
    bool sees_public;      /* an anonymous one may read what is opened to the public */
    const struct sas *sas; /* IDENTITY_SAS */
    unsigned actions;      /* IDENTITY_BEARER, SAS_DELEGATION: what its owner may do */
    struct bytes oid, tid; /* IDENTITY_BEARER: who it is; tid may be empty */
    instant at;            /* wall clock: when it was authenticated, and is judged for */
};

#endif
