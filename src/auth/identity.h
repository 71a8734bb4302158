/* Who asks, as authentication found it. Whether he may is decided elsewhere, on the state that the
 * operation itself is decided on (service/operation.h, struct service's permit). Plain values. */
#ifndef LAGRA_AUTH_IDENTITY_H
#define LAGRA_AUTH_IDENTITY_H

enum identity_kind {
    IDENTITY_ANONYMOUS,   /* nothing was presented */
    IDENTITY_ACCOUNT_KEY, /* signed with a key of the account that is addressed */
};

struct identity {
    enum identity_kind kind;
};

#endif
