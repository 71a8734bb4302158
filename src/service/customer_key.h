/* Reads customer-provided keys and encryption scopes: a request can contain the AES-256 key of its
 * blob, or name a scope. A customer's key exists only in the request's memory; only its SHA-256 is
 * stored. decisions: 1420, 1424; rest: Encryption-at-rest; docs: Provide an encryption key on a
 * request to Blob storage */
#ifndef LAGRA_SERVICE_CUSTOMER_KEY_H
#define LAGRA_SERVICE_CUSTOMER_KEY_H

#include "base/errors.h"
#include "service/blob_key.h"

struct call;

/* How an operation uses the key or the encryption scope of its request. */
enum key_use {
    KEY_READS,  /* x-ms-encryption-algorithm need not be sent */
    KEY_CHECKS, /* needs neither key nor scope, but checks them */
    KEY_WRITES, /* without them, the default scope of the container applies */
};

/* Reads x-ms-encryption-key into call->input.key, and lets the body be encrypted with it. Without
 * the headers of a key, leaves it as it is. Then reads the scope, unless the operation only reads.
 *
 * Returns OK; E_UnsupportedHeader: the version or the connection does not allow keys;
 * E_MissingRequiredHeader; E_InvalidHeaderValue: the key is not base64 of 32 bytes, or does not
 * match its hash; or an error of encryption_scope_read() */
enum error customer_key_read(struct call *call, enum key_use use);
/* Reads the encryption scope of a write into call->input.scope: x-ms-encryption-scope, or that of
 * the SAS (ses).
 *
 * Returns OK; E_UnsupportedHeader: the version does not have scopes; E_InvalidHeaderValue: not the
 * name of a scope, another scope than that of the SAS, or sent together with a customer's key */
enum error encryption_scope_read(struct call *call, enum key_use use);
/* Refuses the headers of a key, without repeating it, where nothing is read with one. Returns OK or
 * E_UnsupportedHeader. */
enum error customer_key_refuse(struct call *call);
/* Reads x-ms-source-encryption-key, the key of a copy source. *ret_key: NULL if none was sent.
 * Returns like customer_key_read(). */
enum error customer_key_of_source(struct call *call, const struct blob_key **ret_key);

#endif
