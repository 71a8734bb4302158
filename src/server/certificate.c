/* Certificates of the listeners: see certificate.h. */
#include "server/certificate.h"

#include <gnutls/pkcs12.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/metrics.h"
#include "server/credentials.h"
#include "observe/access_log.h"

/* Certificate chain and private key; freed by free_contents(). */
struct contents {
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t *chain; /* from the server's own certificate to the authority's */
    unsigned chain_length;
};

static void free_contents(struct contents *contents)
{
    for (unsigned i = 0; i < contents->chain_length; i++)
        gnutls_x509_crt_deinit(contents->chain[i]);
    gnutls_free(contents->chain);
    gnutls_x509_privkey_deinit(contents->key);
}

/* Reads a PFX file; its MAC verifies the password. Returns GnuTLS's code. */
static int open_pfx(const gnutls_datum_t *file, const char *password, struct contents *ret)
{
    gnutls_pkcs12_t pfx;
    int code = gnutls_pkcs12_init(&pfx);

    if (code < 0)
        return code;
    code = gnutls_pkcs12_import(pfx, file, GNUTLS_X509_FMT_DER, 0);
    if (code >= 0)
        code = gnutls_pkcs12_verify_mac(pfx, password);
    if (code >= 0)
        code = gnutls_pkcs12_simple_parse(pfx, password, &ret->key, &ret->chain, &ret->chain_length,
                                          NULL, NULL, NULL, 0);
    gnutls_pkcs12_deinit(pfx);
    return code;
}

/* Appends `text` to a string and frees `text`. */
static char *append(char *before, gnutls_datum_t *text)
{
    size_t length = before ? strlen(before) : 0;
    char *all = xcalloc(1, length + text->size + 1);

    if (before)
        memcpy(all, before, length);
    memcpy(all + length, text->data, text->size);
    gnutls_memset(text->data, 0, text->size);
    gnutls_free(text->data);
    free(before);
    return all;
}

static int as_pem(const struct contents *contents, struct certificate *ret)
{
    gnutls_datum_t text;
    int code = gnutls_x509_privkey_export2(contents->key, GNUTLS_X509_FMT_PEM, &text);

    if (code < 0)
        return code;
    ret->key = append(NULL, &text);
    for (unsigned i = 0; i < contents->chain_length; i++) {
        code = gnutls_x509_crt_export2(contents->chain[i], GNUTLS_X509_FMT_PEM, &text);
        if (code < 0)
            return code;
        ret->chain = append(ret->chain, &text);
    }
    return 0;
}

static bool read_pfx(const char *path, const char *password, struct certificate *ret)
{
    struct contents contents = { .key = NULL };
    gnutls_datum_t file;
    int code = gnutls_load_file(path, &file);

    if (code < 0) {
        fprintf(stderr, "lagra: cannot read %s\n", path);
        return false;
    }
    code = open_pfx(&file, password, &contents);
    gnutls_free(file.data);
    if (code == GNUTLS_E_MAC_VERIFY_FAILED || code == GNUTLS_E_DECRYPTION_FAILED) {
        fprintf(stderr, "lagra: %s: wrong password (--pwd)\n", path);
    } else if (code < 0) {
        fprintf(stderr, "lagra: %s is not a PFX (PKCS#12) file: %s\n", path, gnutls_strerror(code));
    } else if (!contents.key || contents.chain_length == 0) {
        fprintf(stderr, "lagra: %s lacks a %s\n", path, contents.key ? "certificate" : "key");
        code = GNUTLS_E_NO_CERTIFICATE_FOUND;
    } else {
        code = as_pem(&contents, ret);
        if (code < 0)
            fprintf(stderr, "lagra: %s: %s\n", path, gnutls_strerror(code));
    }
    free_contents(&contents);
    return code >= 0;
}

/* ---- the loaded certificate ---- */

static bool refuse(const char *path, const char *problem, int code)
{
    fprintf(stderr, "lagra: %s %s: %s\n", path, problem, gnutls_strerror(code));
    return false;
}

static bool check_chain(const char *path, struct certificate *certificate,
                        struct contents *contents)
{
    gnutls_datum_t text = { (unsigned char *)certificate->chain,
                            (unsigned)strlen(certificate->chain) };
    int code = gnutls_x509_crt_list_import2(&contents->chain, &contents->chain_length, &text,
                                            GNUTLS_X509_FMT_PEM, 0);

    if (code < 0)
        return refuse(path, "has no readable certificate (PEM)", code);
    certificate->expires_s = INT64_MAX;
    for (unsigned i = 0; i < contents->chain_length; i++) {
        int64_t expires_s = gnutls_x509_crt_get_expiration_time(contents->chain[i]);

        if (expires_s < certificate->expires_s)
            certificate->expires_s = expires_s;
    }
    return true;
}

static bool check_key(const char *path, const struct certificate *certificate,
                      struct contents *contents)
{
    gnutls_datum_t text = { (unsigned char *)certificate->key, (unsigned)strlen(certificate->key) };
    int code = gnutls_x509_privkey_init(&contents->key);

    if (code >= 0)
        code = gnutls_x509_privkey_import2(contents->key, &text, GNUTLS_X509_FMT_PEM, NULL, 0);
    return code >= 0 || refuse(path, "has no readable private key (PEM, not encrypted)", code);
}

/* Returns true if the key belongs to the chain's first certificate. */
static bool belongs(const struct contents *contents)
{
    unsigned char of_key[64], of_certificate[64];
    size_t key_size = sizeof of_key, certificate_size = sizeof of_certificate;

    return gnutls_x509_privkey_get_key_id(contents->key, GNUTLS_KEYID_USE_SHA256, of_key,
                                          &key_size) >= 0 &&
           gnutls_x509_crt_get_key_id(contents->chain[0], GNUTLS_KEYID_USE_SHA256, of_certificate,
                                      &certificate_size) >= 0 &&
           key_size == certificate_size && memcmp(of_key, of_certificate, key_size) == 0;
}

/* Checks that key and chain are valid and belong together, and prints which file is wrong. The TLS
 * library would not name it. */
static bool check(const struct options *options, struct certificate *certificate)
{
    const char *key_path = options->key_path ? options->key_path : options->cert_path;
    struct contents contents = { .key = NULL };
    bool is_good = check_chain(options->cert_path, certificate, &contents) &&
                   check_key(key_path, certificate, &contents);

    if (is_good && !belongs(&contents)) {
        fprintf(stderr, "lagra: the private key of %s does not belong to the certificate of %s\n",
                key_path, options->cert_path);
        is_good = false;
    }
    free_contents(&contents);
    return is_good;
}

bool certificate_read(const struct options *options, struct certificate *ret_certificate)
{
    *ret_certificate = (struct certificate){ .chain = NULL };
    if (!options->cert_path)
        return true;
    if (!options->key_path)
        return read_pfx(options->cert_path, options->pfx_password, ret_certificate) &&
               check(options, ret_certificate);
    if (options->pfx_password)
        fprintf(stderr, "lagra: --pwd has no effect, because with --key, --cert is a PEM file\n");
    ret_certificate->chain = read_small_file(options->cert_path);
    ret_certificate->key = read_small_file(options->key_path);
    return ret_certificate->chain && ret_certificate->key && check(options, ret_certificate);
}

void certificate_free(struct certificate *certificate)
{
    free(certificate->chain);
    free_secret(certificate->key);
}

static bool have_changed(struct certificate_renewal *renewal)
{
    bool cert = file_has_changed(renewal->options->cert_path, &renewal->seen[0]);
    bool key = file_has_changed(renewal->options->key_path, &renewal->seen[1]);

    return cert || key;
}

void certificate_renewal_init(struct certificate_renewal *renewal, const struct options *options)
{
    *renewal = (struct certificate_renewal){ .options = options };
    (void)have_changed(renewal);
}

void certificate_renewal_show(const struct certificate *certificate)
{
    static const struct metric_family family = {
        "lagra_certificate_expires_timestamp_seconds",
        "Unix time of the earliest expiry of a certificate in the chain.", METRIC_GAUGE
    };
    static int64_t shown_s;

    if (!certificate->chain)
        return;
    metric_add(metric_series(&family, ""), certificate->expires_s - shown_s);
    shown_s = certificate->expires_s;
}

void certificate_renewal_poll(struct certificate_renewal *renewal)
{
    struct certificate renewed;
    const char *problem = NULL;

    if (!have_changed(renewal))
        return;
    if (!certificate_read(renewal->options, &renewed))
        problem = "it cannot be read";
    for (size_t i = 0; i < RENEWED_SERVERS_MAX && !problem; i++) {
        if (renewal->servers[i])
            http_renew_certificate(renewal->servers[i], renewed.chain, renewed.key, &problem);
    }
    if (!problem)
        certificate_renewal_show(&renewed);
    certificate_free(&renewed);
    if (problem) {
        log_line(LOG_WARN, "the previous certificate remains in use: %s", problem);
        return;
    }
    log_line(LOG_INFO, "the certificate was renewed");
    audit_note("the certificate was renewed", bytes_of(NULL, 0));
}
