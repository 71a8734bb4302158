/* A client's side of Shared Key: the text of one signed request; and that of S3, for comparison.
 * rest: Authorize-with-Shared-Key. One thread for each signer. */
#ifndef LAGRA_BENCH_SIGN_H
#define LAGRA_BENCH_SIGN_H

#include <nettle/hmac.h>
#include <time.h>

#include "base/arena.h"

struct signer {
    const char *host;    /* for the Host header */
    const char *account; /* NULL: requests are not signed, and the path has no account */
    const char *secret;  /* not NULL: requests are of S3, whose paths have none */
    struct hmac_sha256_ctx key;
    time_t date_of; /* when `date` was made */
    char date[40];  /* x-ms-date of this second */
};

struct pair {
    const char *name;
    const char *value;
};

#define PAIRS_MAX  6
#define OTHERS_MAX 3

/* A request before it is signed. Strings live until signed_request() has returned. */
struct draft {
    const char *method;
    char path[256];               /* from the container on: "bench/get-1024-0" */
    struct pair query[PAIRS_MAX]; /* in order of their names */
    struct pair ms[PAIRS_MAX];    /* x-ms-* headers, in order of their names; x-ms-date and
                                     x-ms-version are added */
    const char *if_match;
    const char *content_type;
    struct pair others[OTHERS_MAX]; /* headers that are not signed */
    bool of_table;                  /* signed in the Table service's form */
    bool sas; /* a read by an account SAS in place of Shared Key; without a query of its own */
    struct bytes body; /* not in the text; its length is */
};

/* key64: the account's key in base64. Returns false when it is none. */
bool signer_init(struct signer *signer, const char *host, const char *account, const char *key64);
/* For S3, with a user's access key and secret. */
void signer_init_s3(struct signer *signer, const char *host, const char *access_key,
                    const char *secret);
/* Head of the request, with its final empty line, in the arena. */
struct bytes signed_request(struct signer *signer, struct arena *arena, const struct draft *draft);
/* The same of S3: what is Azure's alone in the draft is left out. */
struct bytes s3_request(const struct signer *signer, struct arena *arena,
                        const struct draft *draft);

#endif
