/* What requests are authenticated by, as the options say it: accounts with their keys, and whose
 * bearer tokens count. The files of both are read again while the server runs. Main thread. */
#ifndef LAGRA_SERVER_CREDENTIALS_H
#define LAGRA_SERVER_CREDENTIALS_H

#include "auth/auth.h"
#include "server/options.h"

struct store;

struct credentials {
    struct accounts *accounts;
    bool named;                 /* by a file, a credential or the environment */
    struct trust_holder *trust; /* NULL: no bearer tokens */
};

/* A whole small file, NUL-terminated, from malloc; NULL after saying on stderr why not. */
char *read_small_file(const char *path);
/* Its first line alone, as of a file with a key; what stood behind is wiped. */
char *read_small_line(const char *path);
/* Of the text of either, or NULL: wipes it first. */
void free_secret(char *text);

/* False after saying on stderr why not. loopback: nothing listens beyond this machine. */
bool credentials_open(const struct options *options, bool loopback,
                      struct credentials *ret_credentials);
/* Once the store is open: its accounts, and the development account, where none
 * is named and the options allow it. False after saying on stderr why not. */
bool credentials_open_stored(const struct options *options, bool loopback, struct store *store,
                             struct credentials *credentials);
/* Reads the files again. What is wrong with one is logged, and what it said before still counts. */
void credentials_reload(const struct options *options, struct credentials *credentials);
/* Once nothing is served any more. */
void credentials_close(struct credentials *credentials);

#endif
