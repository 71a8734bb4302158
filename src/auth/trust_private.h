/* Inside of auth/ only: the parts of what tokens are checked against. Each *_new() here returns NULL
 * after saying why in *ret_problem. */
#ifndef LAGRA_AUTH_TRUST_PRIVATE_H
#define LAGRA_AUTH_TRUST_PRIVATE_H

#include "auth/scope.h"
#include "auth/trust.h"
#include "base/json.h"

/* ---- what is wrong with a file, and lists that Azure's command line prints: entries.c ---- */

/* What is wrong with a file, for the operator. */
void trust_problem_set(struct trust_problem *problem, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct entries {
    const char *option; /* that named the file */
    struct bytes text;
    struct trust_problem *problem;
    struct arena *arena; /* of the entry that is read */
    struct arena_mark empty;
    struct json_reader list;
    const char *entry;
    size_t count; /* entries so far */
};
void entries_begin(struct entries *entries, const char *option, struct bytes text,
                   struct trust_problem *problem);
void entries_end(struct entries *entries);
/* The members of these names of the next entry; they are valid until the one after it. Returns
 * false at the end, and once there is a problem. */
bool entries_next(struct entries *entries, const char *const names[], size_t count,
                  struct json_member *ret_members);
/* Says that this entry is wrong, and where it is. */
void entries_refuse(struct entries *entries, const char *why);

/* ---- public keys: key_set.c ---- */

struct key_set;
/* Keys of other uses and kinds, and broken ones, are passed over; one at least is left. */
struct key_set *key_set_new(struct bytes json, struct trust_problem *ret_problem);
void key_set_free(struct key_set *set);
/* Was `text` signed by a key of the set? alg: of the token; kid: ptr NULL when it names none. */
bool key_set_signed(const struct key_set *set, struct bytes alg, struct bytes kid,
                    struct bytes text, struct bytes signature);

/* ---- where accounts are: places.c ---- */

struct places;
/* json: ptr NULL: nothing is said of any account. */
struct places *places_new(struct bytes json, struct trust_problem *ret_problem);
void places_free(struct places *places);
size_t places_count(const struct places *places);
/* The account's subscription and group, all in lower case; NULL: nothing is said of it. */
const struct scope *places_find(const struct places *places, struct bytes account);

/* ---- assignments of roles: roles.c ---- */

struct roles;
/* places: stays valid as long. */
struct roles *roles_new(struct bytes json, const struct places *places,
                        struct trust_problem *ret_problem);
void roles_free(struct roles *roles);
/* See trust_unplaced(). */
size_t roles_unplaced(const struct roles *roles);
unsigned roles_actions(const struct roles *roles, struct bytes oid, struct bytes account,
                       char service, struct bytes container);

#endif
