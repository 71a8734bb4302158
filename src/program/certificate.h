/* The certificate and private key that the services are served with. */
#ifndef LAGRA_PROGRAM_CERTIFICATE_H
#define LAGRA_PROGRAM_CERTIFICATE_H

#include "program/options.h"

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

#endif
