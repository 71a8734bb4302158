/* The security descriptors of a share, each kept once. Directories and files name them by a number, requests
 * by a key.
 *
 * (1) A descriptor has one number, which is made from its canonical bytes, whatever the form in which it was
 *     sent. Creating the same one again adds nothing. decision: 308
 * (2) A descriptor stays unchanged as long as its share, so a decision that found one needs no guard. The
 *     share's snapshots use the same ones. Their number has no bound: each takes room on the disk, as metadata
 *     does, until the share is deleted.
 *
 *   share space, partition 'P' be64 number    INNER "p": u8 1; bytes descriptor, canonical */
#ifndef LAGRA_FILE_PERMISSION_STORE_H
#define LAGRA_FILE_PERMISSION_STORE_H

#include "file/security_descriptor.h"
#include "service/decision.h"

/* Descriptors that every share has, without a record: that of a root directory, and those inherited from it.
 * decision: 309 */
enum permission_default { PERMISSION_OF_ROOT, PERMISSION_OF_DIRECTORIES, PERMISSION_OF_FILES };
uint64_t permission_default(enum permission_default which);

/* The canonical form of a descriptor in a request: SDDL, or base64 of the self-relative form; ptr NULL:
 * E_FileInvalidPermission. rest: Create-Permission */
struct bytes permission_parse(struct arena *arena, struct bytes text, bool binary);

/* Keeps a descriptor, if it is not there yet. At most one part is added to the decision.
 * descriptor: canonical. returns OK, as decision_fail_store() */
enum error permission_keep(struct decision *d, struct guid space, struct bytes descriptor,
                           uint64_t *ret_number);
/* *ret_descriptor: canonical; ptr NULL: the share has none of this number. No part is added.
 * returns OK, as decision_fail_store() */
enum error permission_find(struct decision *d, struct guid space, uint64_t number,
                           struct bytes *ret_descriptor);
/* The same of a key that a request names.
  * returns  OK, E_InvalidHeaderValue: malformed, E_FileInvalidPermissionKey: the share has no such permission, as
 *          decision_fail_store(). decision: 308 */
enum error permission_find_key(struct decision *d, struct guid space, struct bytes key,
                               uint64_t *ret_number, struct bytes *ret_descriptor);

/* The number of the default descriptor of a new node of the system's in a directory with the permission `parent`;
 * kept as by permission_keep(). returns OK, as decision_fail_store() */
enum error permission_inherit(struct decision *d, struct guid space, uint64_t parent,
                              bool for_directory, uint64_t *ret_number);
/* That of a new node of anybody's, canonical; not kept. returns OK, as decision_fail_store() */
enum error permission_inherited(struct decision *d, struct guid space, uint64_t parent,
                                bool for_directory, const struct descriptor_maker *maker,
                                struct bytes *ret_descriptor);

/* "11680444563946999947*1", as keys are recorded. */
struct bytes permission_key(struct arena *arena, uint64_t number);
/* False: no key has this form. */
bool permission_key_parse(struct bytes key, uint64_t *ret_number);

#endif
