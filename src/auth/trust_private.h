/* Internal to auth/: the components of struct trust. Each *_new() here sets *ret_problem if it
 * returns NULL. */
#ifndef LAGRA_AUTH_TRUST_PRIVATE_H
#define LAGRA_AUTH_TRUST_PRIVATE_H

#include "auth/scope.h"
#include "auth/trust.h"
#include "base/json.h"

/* ---- errors in files, and lists printed by Azure's command line: entries.c ---- */

/* Formats a message about a file for the operator. */
void trust_problem_set(struct trust_problem *problem, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct entries {
    const char *option; /* option that named the file */
    struct bytes text;
    struct trust_problem *problem;
    struct arena *arena; /* for the current entry */
    struct arena_mark empty;
    struct json_reader list;
    const char *entry;
    size_t count; /* entries so far */
};
void entries_begin(struct entries *entries, const char *option, struct bytes text,
                   struct trust_problem *problem);
void entries_end(struct entries *entries);
/* Reads the members with these names from the next entry; they are valid until the following call.
 * Returns false at the end, and after an error. */
bool entries_next(struct entries *entries, const char *const names[], size_t count,
                  struct json_member *ret_members);
/* Reports an error in the current entry, with its position. */
void entries_refuse(struct entries *entries, const char *why);

/* ---- public keys: key_set.c ---- */

struct key_set;
/* Skips malformed keys and keys of other uses and kinds; fails if none is left. */
struct key_set *key_set_new(struct bytes json, struct trust_problem *ret_problem);
void key_set_free(struct key_set *set);
/* Checks a signature over `text`. alg: of the token; kid: ptr NULL if the token names none. */
bool key_set_signed(const struct key_set *set, struct bytes alg, struct bytes kid,
                    struct bytes text, struct bytes signature);

/* ---- locations of accounts: entries.c ---- */

struct places;
/* json: ptr NULL if no locations are configured. */
struct places *places_new(struct bytes json, struct trust_problem *ret_problem);
void places_free(struct places *places);
size_t places_count(const struct places *places);
/* Returns the account's subscription and group, all in lower case; NULL if unknown. */
const struct scope *places_find(const struct places *places, struct bytes account);

/* ---- role assignments: roles.c ---- */

struct roles;
/* places: must outlive the roles. */
struct roles *roles_new(struct bytes json, const struct places *places,
                        struct trust_problem *ret_problem);
void roles_free(struct roles *roles);
/* See trust_unplaced(). */
size_t roles_unplaced(const struct roles *roles);
unsigned roles_actions(const struct roles *roles, struct bytes oid, struct bytes account,
                       char service, struct bytes container);

#endif
