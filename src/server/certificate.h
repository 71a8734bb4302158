/* The certificate and private key that the services are served with. */
#ifndef LAGRA_SERVER_CERTIFICATE_H
#define LAGRA_SERVER_CERTIFICATE_H

#include "http/http.h"
#include "server/options.h"

struct certificate {
    char *chain; /* PEM, NUL-terminated, of the server first; NULL: plain HTTP */
    char *key;   /* PEM, not encrypted */
    /* The first moment at which one of the chain is not valid any longer, in seconds since 1970. */
    int64_t expires_s;
};

/* Reads what the options name: two PEM files, or one PFX (PKCS#12) file with its password.
 * False after saying on stderr why not, and of which file. */
bool certificate_read(const struct options *options, struct certificate *ret_certificate);
/* Overwrites the key. Also of one that was never read. */
void certificate_free(struct certificate *certificate);

/* Renewing the certificate of running servers, when its files have changed. Main thread. decision: 361 */

#define RENEWED_SERVERS_MAX (SERVICE_COUNT + 1u)

struct certificate_renewal {
    const struct options *options;
    /* The files as they were last seen: all zero where there is none. */
    struct file_mark {
        uint64_t device, inode, size;
        int64_t changed_ns;
    } seen[2];
    struct http_server
        *servers[RENEWED_SERVERS_MAX]; /* those that are served with it; NULL: none */
};

/* Notes which files there are, before they are read. options: for as long as it is used */
void certificate_renewal_init(struct certificate_renewal *renewal, const struct options *options);
/* Shows in metrics when the certificate expires that is used from now on. */
void certificate_renewal_show(const struct certificate *certificate);
/* Reads the files if others are there than when it looked last, or the same with other contents, and gives them to
 * the servers; links are followed. Connections under way go on with the certificate that they began with. What
 * cannot be used is logged, and changes nothing. */
void certificate_renewal_look(struct certificate_renewal *renewal);

#endif
