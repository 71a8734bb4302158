/* Bearer tokens and role assignments, in one run of three: a part of the requests carry a token of
 * one of a few principals, or a user delegation SAS of theirs, and the assignments change while
 * requests are in progress, as after SIGHUP (docs/authorization.md).
 *
 * The permissions of a principal do not depend on the state of the store. So this judge knows
 * nothing of the services' models: it decides only from the operation which actions are needed,
 * and from Azure's built-in roles who has them. A request must be permitted or refused according to
 * assignments that were in effect at some moment while it was in progress (decision 85); a refusal
 * must not commit anything. A request that is permitted is judged by its service, as if it were
 * signed with the account's key.
 *
 * rest: Authorize-with-Azure-Active-Directory; decision: 84, 85, 250 */
#ifndef LAGRA_SIM_ROLES_H
#define LAGRA_SIM_ROLES_H

#include "request.h"

struct arena;
struct text;
struct trust;
struct trust_holder;

/* Returns whether this run has roles. */
bool roles_are_used(void);
/* Begins the run without assignments. */
void roles_begin(void);
/* Begins a life of the server, whose trust this returns: the current assignments, or the
 * development mode in a run without roles. */
struct trust *roles_begin_life(void);
/* Changes the assignments now and then, until the process ends. Starts a thread. */
void roles_start(struct trust_holder *holder);

/* ---- requests ---- */

/* Gives the request a token or another principal, if the seed says so. */
void roles_draw(unsigned client, unsigned number, struct ask *ask);
/* Returns the object id of a principal; principal 0 may do everything with blobs. */
const char *roles_principal(unsigned principal);
/* Returns the value of the Authorization header. */
struct bytes roles_authorization(const struct ask *ask, struct arena *arena);
/* Returns the body of Get User Delegation Key. */
struct bytes roles_key_body(struct arena *arena);
/* Returns whether the request is sent over TLS. */
bool roles_sends_securely(const struct ask *ask);
/* For the verbose output. */
void roles_format(const struct ask *ask, char *to, size_t size);

/* ---- the judge ---- */

void roles_asked(unsigned slot, const struct ask *ask);
/* The request has committed. */
void roles_committed(unsigned slot);
/* Returns whether the response says that the request was not permitted, which was right. Then the
 * service must not judge it. */
bool roles_refused(unsigned slot, const struct reply *answer, bool may_fail);
/* Judges the response to Get User Delegation Key. */
void roles_judge_key(unsigned slot, const struct reply *answer, bool may_fail);

#endif
