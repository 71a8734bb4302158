/* Credentials for TLS. Either the server has a certificate and clients are anonymous, or both ends
 * have a shared key, and there are no certificates and no other way to authenticate. Each end
 * proves that it has the key (rfc: 8446 4.2.11), and a fresh key exchange keeps recorded traffic
 * secret even if the key is disclosed later. */
#include "net/tls_private.h"

#include <assert.h>
#include <gnutls/crypto.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/endian.h"

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
    explicit_bzero(tls->secrets, sizeof tls->secrets);
    free(tls);
}

/* ---- shared keys ---- */

/* Uses AES-128, the fastest cipher on processors with AES instructions. */
static const char key_priority[] =
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:-KX-ALL:+ECDHE-PSK:-CIPHER-ALL:+AES-128-GCM";

struct net_key {
    char name[TLS_KEY_NAME_MAX + 1];
    struct lock lock; /* RANK_CONNECTIONS; protects changes of `tls` */
    _Atomic(struct tls *) tls;
};

uint32_t net_key_id(const uint8_t secret[NET_KEY_BYTES])
{
    uint8_t hash[32] = { 0 };
    uint32_t id;

    (void)gnutls_hash_fast(GNUTLS_DIG_SHA256, secret, NET_KEY_BYTES, hash);
    id = be32_get((const char *)hash);
    return id ? id : 1;
}

void net_key_ids(struct net_key *key, uint32_t ids[NET_KEYS_MAX])
{
    struct tls *tls = tls_of_key(key);

    for (unsigned i = 0; i < NET_KEYS_MAX; i++)
        ids[i] = i < tls->secret_count ? net_key_id(tls->secrets[i].secret) : 0;
    tls_give(tls);
}

static const struct tls_secret *find_secret(const struct tls *tls, const char *name)
{
    for (unsigned i = 0; i < tls->secret_count; i++)
        if (strcmp(name, tls->secrets[i].name) == 0)
            return &tls->secrets[i];
    return NULL;
}

static int give_secret(gnutls_session_t session, const char *name, gnutls_datum_t *ret_secret)
{
    const struct tls_secret *found = find_secret(gnutls_session_get_ptr(session), name);

    if (!found)
        return -1;
    ret_secret->data = gnutls_malloc(sizeof found->secret); /* GnuTLS frees it */
    if (!ret_secret->data)
        return -1;
    memcpy(ret_secret->data, found->secret, sizeof found->secret);
    ret_secret->size = sizeof found->secret;
    return 0;
}

static int load_key(struct tls *tls)
{
    gnutls_datum_t secret = { tls->secrets[0].secret, sizeof tls->secrets[0].secret };
    int result = gnutls_psk_allocate_server_credentials(&tls->accepting);

    if (result >= 0)
        result = gnutls_psk_allocate_client_credentials(&tls->connecting);
    if (result >= 0)
        result = gnutls_psk_set_client_credentials(tls->connecting, tls->secrets[0].name, &secret,
                                                   GNUTLS_PSK_KEY_RAW);
    if (result >= 0)
        result = gnutls_priority_init(&tls->priority, key_priority, NULL);
    if (result >= 0)
        gnutls_psk_set_server_credentials_function(tls->accepting, give_secret);
    return result;
}

static struct tls *new_of_secrets(const char *name, const struct net_secrets *secrets,
                                  const char **ret_problem)
{
    struct tls *tls = xcalloc(1, sizeof *tls);
    int result;

    assert(secrets->count > 0 && secrets->count <= NET_KEYS_MAX);
    atomic_init(&tls->holders, 1);
    tls->secret_count = secrets->count;
    for (unsigned i = 0; i < secrets->count; i++) {
        memcpy(tls->secrets[i].secret, secrets->of[i], NET_KEY_BYTES);
        snprintf(tls->secrets[i].name, sizeof tls->secrets[i].name, "%s-%08x", name,
                 (unsigned)net_key_id(secrets->of[i]));
    }
    result = load_key(tls);
    if (result >= 0)
        return tls;
    *ret_problem = gnutls_strerror(result);
    tls_give(tls);
    return NULL;
}

struct net_key *net_key_new(const char *name, const struct net_secrets *secrets,
                            const char **ret_problem)
{
    struct tls *tls = new_of_secrets(name, secrets, ret_problem);
    struct net_key *key;

    if (!tls)
        return NULL;
    assert(strlen(name) + sizeof "-01234567" <= sizeof key->name);
    key = xcalloc(1, sizeof *key);
    memcpy(key->name, name, strlen(name));
    lock_init(&key->lock, RANK_CONNECTIONS);
    atomic_init(&key->tls, tls);
    return key;
}

bool net_key_renew(struct net_key *key, const struct net_secrets *secrets, const char **ret_problem)
{
    struct tls *tls = new_of_secrets(key->name, secrets, ret_problem), *before;

    if (!tls)
        return false;
    lock_acquire(&key->lock);
    before = atomic_exchange(&key->tls, tls);
    lock_release(&key->lock);
    tls_give(before);
    return true;
}

void net_key_free(struct net_key *key)
{
    if (!key)
        return;
    tls_give(atomic_load(&key->tls));
    lock_destroy(&key->lock);
    free(key);
}

struct tls *tls_of_key(struct net_key *key)
{
    struct tls *tls;

    lock_acquire(&key->lock);
    tls = atomic_load(&key->tls);
    atomic_fetch_add(&tls->holders, 1);
    lock_release(&key->lock);
    return tls;
}

bool tls_is_newest(const struct tls *tls, struct net_key *key)
{
    return tls == atomic_load(&key->tls);
}

bool connection_key_is_newest(const struct connection *connection, struct net_key *key)
{
    return tls_is_newest(connection->tls_of, key);
}

bool connection_key_is_valid(const struct connection *connection)
{
    struct net_key *key = connection->server->key;
    const char *name;
    struct tls *tls;
    bool is_valid;

    if (!key || connection_key_is_newest(connection, key))
        return true;
    name = gnutls_psk_server_get_username(connection->tls);
    tls = tls_of_key(key);
    is_valid = name && find_secret(tls, name);
    tls_give(tls);
    return is_valid;
}

bool tls_key_set(struct tls *tls, gnutls_session_t session, bool is_outgoing)
{
    gnutls_session_set_ptr(session, tls);
    return gnutls_credentials_set(session, GNUTLS_CRD_PSK,
                                  is_outgoing ? (void *)tls->connecting : (void *)tls->accepting) >=
           0;
}
