/* Soft delete in some runs: for how many days the account keeps what is deleted or overwritten, and what the server read of
 * that when it decided. A write may follow any policy that there was while it was under way (decision 791), and the
 * clock by which something expires is the server's: so both are looked at where it reads them, and the policy is held
 * against those that there were. Days are short where the wall clock is left alone, so that they are over within a run.
 * rest: Set-Blob-Service-Properties "DeleteRetentionPolicy"; "Soft delete for blobs" */
#ifndef LAGRA_SIM_KEPT_H
#define LAGRA_SIM_KEPT_H

#include "kept_view.h"
#include "request.h"

#define KEPT_DAYS_MAX                                                                              \
    20u /* no run lasts so long where days are long, and the census waits longer */

/* Of runs with versions. */
#define VERSIONED_CLIENTS 6u

/* Is this such a run? */
bool kept_is_on(void);
/* Is it one in which versioning is switched on and off? */
bool kept_has_versions(void);
/* Returns whether deleted containers are retained and restored in this run. */
bool kept_has_containers(void);
/* Returns the days of the newest policy for containers, which each deletion guards; 0 if it is off. */
unsigned kept_container_days(void);
/* How many snapshots and versions of a name clients may make more of: each may do so once more. */
unsigned kept_snapshots_max(void);
void kept_begin(void);
/* The element of Set Blob Service Properties. */
void kept_format(const struct ask *ask, char *to, size_t size);
void kept_apply(const struct ask *ask, uint64_t commit);
void kept_roll_back(uint64_t commit);
/* See model_return_to(). */
void kept_return_to(uint64_t older, uint64_t commit);
/* An answer of Get Blob Service Properties beside the policy as it was then. */
const char *kept_compare(const struct reply *answer, uint64_t commit);
/* Was versioning on right after the commit? */
bool kept_is_versioned_at(uint64_t commit);

/* Of the request, or the job, of the calling thread, which has committed. Where it was not read what is deleted is kept
 * for ever, if the policy is on: a model that needs it then differs from the server. Fails the run if there was no such
 * policy since the commit `from`. */
struct kept_view kept_committed(uint64_t from);
/* The same in a container whose blobs always have versions. */
struct kept_view kept_committed_in(uint64_t from, bool always_versions);
struct kept_view kept_of(unsigned slot);
/* A request begins. */
void kept_forget(unsigned slot);

#endif
