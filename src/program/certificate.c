/* See certificate.h. */
#include "program/certificate.h"

#include <gnutls/pkcs12.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/credentials.h"

/* What a PFX file holds; freed with free_contents(). */
struct contents {
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t *chain; /* from the server's own to the authority's */
    unsigned chain_length;
};

static void free_contents(struct contents *contents)
{
    for (unsigned i = 0; i < contents->chain_length; i++)
        gnutls_x509_crt_deinit(contents->chain[i]);
    gnutls_free(contents->chain);
    gnutls_x509_privkey_deinit(contents->key);
}

/* returns GnuTLS's code; the password is checked by the MAC of the file */
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

/* Appends a text and frees it. */
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
        fprintf(stderr, "lagra: %s: the password (--pwd) is wrong\n", path);
    } else if (code < 0) {
        fprintf(stderr, "lagra: %s is no PFX (PKCS#12) file: %s\n", path, gnutls_strerror(code));
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

bool certificate_read(const struct options *options, struct certificate *ret_certificate)
{
    *ret_certificate = (struct certificate){ .chain = NULL };
    if (!options->cert_path)
        return true;
    if (!options->key_path)
        return read_pfx(options->cert_path, options->pfx_password, ret_certificate);
    if (options->pfx_password)
        fprintf(stderr, "lagra: --pwd has no effect: with --key, --cert is a PEM file\n");
    ret_certificate->chain = read_small_file(options->cert_path);
    ret_certificate->key = read_small_file(options->key_path);
    return ret_certificate->chain && ret_certificate->key;
}

void certificate_free(struct certificate *certificate)
{
    free(certificate->chain);
    free_secret(certificate->key);
}
