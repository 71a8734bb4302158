/* Certificate and private key of the listeners, and their renewal. */
#ifndef LAGRA_SERVER_CERTIFICATE_H
#define LAGRA_SERVER_CERTIFICATE_H

#include "base/file.h"
#include "http/http.h"
#include "server/options.h"

struct certificate {
    char *chain; /* PEM, NUL-terminated, the server's own first; NULL means plain HTTP */
    char *key;   /* PEM, not encrypted */
    /* When the first certificate of the chain expires, in seconds since 1970. */
    int64_t expires_s;
};

/* Reads two PEM files, or one PFX (PKCS#12) file with its password. Returns false after printing on
 * stderr which file is wrong and why. */
bool certificate_read(const struct options *options, struct certificate *ret_certificate);
/* Frees a certificate, even if it was never read, and wipes its key. */
void certificate_free(struct certificate *certificate);

/* Renews the certificate of running servers when its files have changed. Main thread. decision:
 * 361 */

#define RENEWED_SERVERS_MAX (SERVICE_COUNT + 1u)

struct certificate_renewal {
    const struct options *options;
    struct file_mark seen[2];
    struct http_server *servers[RENEWED_SERVERS_MAX]; /* servers that use it, or NULL */
};

/* Remembers the present files. Called before they are read. options: outlive the renewal */
void certificate_renewal_init(struct certificate_renewal *renewal, const struct options *options);
/* Publishes the expiry of the certificate in use as a metric. */
void certificate_renewal_show(const struct certificate *certificate);
/* Rereads the files if they were replaced or changed (symbolic links are followed), and passes the
 * certificate to the servers. Established connections continue with the certificate that they
 * started with. An unusable certificate is logged, and the previous one remains in use. */
void certificate_renewal_poll(struct certificate_renewal *renewal);

#endif
