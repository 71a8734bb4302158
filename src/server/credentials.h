/* Credentials that requests are authenticated against: accounts with their keys, and trusted
 * issuers of bearer tokens. Their files can be reread while the server runs. Main thread. */
#ifndef LAGRA_SERVER_CREDENTIALS_H
#define LAGRA_SERVER_CREDENTIALS_H

#include "auth/auth.h"
#include "server/options.h"

struct store;

struct credentials {
    struct accounts *accounts;
    struct encryption_scopes *scopes;
    bool named; /* accounts are defined by a file, a systemd credential or the environment */
    struct trust_holder *trust; /* or NULL if bearer tokens are not accepted */
    struct store *store;        /* NULL until it is open */
    bool follows_root;          /* the store has a copy of the root cell's accounts */
};

/* Reads a small file, NUL-terminated, allocated by malloc(). Returns NULL after printing why on
 * stderr. */
char *read_small_file(const char *path);
/* Reads the first line of a small file, such as a key, and wipes the rest. */
char *read_small_line(const char *path);
/* Wipes and frees the result of either function, or NULL. */
void free_secret(char *text);

/* Opens the accounts and tokens that the options name. loopback: the server listens on loopback
 * only
 * returns  false after printing why on stderr */
bool credentials_open(const struct options *options, bool loopback,
                      struct credentials *ret_credentials);
/* Adds the development account like credentials_open_stored(), which then does not add it again,
 * while a front end stands by and has no store. Returns false after printing why on stderr. */
bool credentials_stand_by(const struct options *options, bool loopback,
                          struct credentials *credentials);
/* Adds the accounts of the store, once it is open, and the development account if no account is
 * named and the options allow it; then the kinds of accounts. follows_root: of cell_follows_root().
 * Returns false after printing why on stderr. */
bool credentials_open_stored(const struct options *options, bool loopback, struct store *store,
                             bool follows_root, struct credentials *credentials);
/* Rereads the files. Errors in one are logged, and its previous content remains in force. */
void credentials_reload(const struct options *options, struct credentials *credentials);
/* Frees the credentials, once nothing is served any more. */
void credentials_close(struct credentials *credentials);

#endif
