/* Credentials for TLS. With a certificate, the server has it and clients are anonymous. With a
 * shared key, both ends prove that they have it (rfc: 8446 4.2.11), and a fresh key exchange keeps
 * recorded traffic secret even if the key is disclosed later; there are then no certificates and no
 * other way to authenticate. */
#include "net/tls_private.h"

#include <assert.h>
#include <stdlib.h>

static const char versions[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";

/* ---- certificates ---- */

static int tls_load(struct tls *tls, const char *cert_pem, const char *key_pem)
{
    gnutls_datum_t cert = { (unsigned char *)(uintptr_t)cert_pem, (unsigned)strlen(cert_pem) };
    gnutls_datum_t key = { (unsigned char *)(uintptr_t)key_pem, (unsigned)strlen(key_pem) };
    int result = gnutls_certificate_allocate_credentials(&tls->credentials);

    if (result >= 0)
        result =
            gnutls_certificate_set_x509_key_mem(tls->credentials, &cert, &key, GNUTLS_X509_FMT_PEM);
    if (result >= 0)
        result = gnutls_priority_init(&tls->priority, versions, NULL);
    return result;
}

struct tls *tls_new(const char *cert_pem, const char *key_pem, const char **ret_problem)
{
    struct tls *tls = xcalloc(1, sizeof *tls);
    int result = tls_load(tls, cert_pem, key_pem);

    atomic_init(&tls->holders, 1);
    if (result >= 0)
        return tls;
    *ret_problem = gnutls_strerror(result);
    tls_give(tls);
    return NULL;
}

void tls_give(struct tls *tls)
{
    if (!tls || atomic_fetch_sub(&tls->holders, 1) > 1)
        return;
    if (tls->priority)
        gnutls_priority_deinit(tls->priority);
    if (tls->credentials)
        gnutls_certificate_free_credentials(tls->credentials);
    if (tls->accepting)
        gnutls_psk_free_server_credentials(tls->accepting);
    if (tls->connecting)
        gnutls_psk_free_client_credentials(tls->connecting);
    explicit_bzero(tls->secret, sizeof tls->secret);
    free(tls);
}

/* ---- shared keys ---- */

/* AES-128 is the fastest cipher on processors with AES instructions. */
static const char key_priority[] =
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:-KX-ALL:+ECDHE-PSK:-CIPHER-ALL:+AES-128-GCM";

struct net_key {
    struct tls *tls;
};

static int give_secret(gnutls_session_t session, const char *name, gnutls_datum_t *ret_secret)
{
    const struct tls *tls = gnutls_session_get_ptr(session);

    if (strcmp(name, tls->name) != 0)
        return -1;
    ret_secret->data = gnutls_malloc(sizeof tls->secret); /* GnuTLS frees it */
    if (!ret_secret->data)
        return -1;
    memcpy(ret_secret->data, tls->secret, sizeof tls->secret);
    ret_secret->size = sizeof tls->secret;
    return 0;
}

static int load_key(struct tls *tls)
{
    gnutls_datum_t secret = { tls->secret, sizeof tls->secret };
    int result = gnutls_psk_allocate_server_credentials(&tls->accepting);

    if (result >= 0)
        result = gnutls_psk_allocate_client_credentials(&tls->connecting);
    if (result >= 0)
        result = gnutls_psk_set_client_credentials(tls->connecting, tls->name, &secret,
                                                   GNUTLS_PSK_KEY_RAW);
    if (result >= 0)
        result = gnutls_priority_init(&tls->priority, key_priority, NULL);
    if (result >= 0)
        gnutls_psk_set_server_credentials_function(tls->accepting, give_secret);
    return result;
}

struct net_key *net_key_new(const char *name, const uint8_t secret[NET_KEY_BYTES],
                            const char **ret_problem)
{
    struct net_key *key = xcalloc(1, sizeof *key);
    int result;

    assert(strlen(name) <= TLS_KEY_NAME_MAX);
    key->tls = xcalloc(1, sizeof *key->tls);
    atomic_init(&key->tls->holders, 1);
    memcpy(key->tls->name, name, strlen(name));
    memcpy(key->tls->secret, secret, NET_KEY_BYTES);
    result = load_key(key->tls);
    if (result >= 0)
        return key;
    *ret_problem = gnutls_strerror(result);
    net_key_free(key);
    return NULL;
}

void net_key_free(struct net_key *key)
{
    if (!key)
        return;
    tls_give(key->tls);
    free(key);
}

struct tls *tls_of_key(struct net_key *key)
{
    atomic_fetch_add(&key->tls->holders, 1);
    return key->tls;
}

bool tls_key_set(struct tls *tls, gnutls_session_t session, bool is_outgoing)
{
    gnutls_session_set_ptr(session, tls);
    return gnutls_credentials_set(session, GNUTLS_CRD_PSK,
                                  is_outgoing ? (void *)tls->connecting : (void *)tls->accepting) >=
           0;
}
