/* Internal to net/tls*.c: credentials, which connections reference. */
#ifndef LAGRA_NET_TLS_PRIVATE_H
#define LAGRA_NET_TLS_PRIVATE_H

#include <gnutls/gnutls.h>

#include "net/net_private.h"

#define TLS_KEY_NAME_MAX 64u

struct tls_secret {
    char name[TLS_KEY_NAME_MAX + 1]; /* identity of the key and the secret, as sent by peers */
    uint8_t secret[NET_KEY_BYTES];
};

/* Credentials of a certificate or of a shared key; the members of the other kind are zero. */
struct tls {
    atomic_uint holders; /* references: the server or the key, and the sessions started with it */
    gnutls_priority_t priority;
    gnutls_certificate_credentials_t credentials;
    gnutls_psk_server_credentials_t accepting;
    gnutls_psk_client_credentials_t connecting;
    unsigned secret_count;
    struct tls_secret secrets[NET_KEYS_MAX];
};

/* ---- tls_credentials.c ---- */

static inline bool tls_is_of_key(const struct tls *tls)
{
    return tls->accepting != NULL;
}
/* Sets the key's credentials in a session. */
bool tls_key_set(struct tls *tls, gnutls_session_t session, bool is_outgoing);

#endif
