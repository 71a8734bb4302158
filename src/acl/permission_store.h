/* The security descriptors of a share, each stored once. Records of directories and files refer to
 * them by number, requests by key.
 *
 * (1) The number of a descriptor is derived from its canonical form, whatever the form in which it
 *     was sent. Creating an existing descriptor again adds nothing. decision: 308
 * (2) A descriptor never changes and exists as long as its share, so a decision that has found one
 *     needs no guard. Share snapshots use the same descriptors. There is no limit on the number of
 *     descriptors; like metadata, they use disk space until the share is deleted.
 *
 *   share space, partition 'P' be64 number    INNER "p": u8 1; bytes descriptor, canonical */
#ifndef LAGRA_ACL_PERMISSION_STORE_H
#define LAGRA_ACL_PERMISSION_STORE_H

#include "acl/security_descriptor.h"
#include "service/decision.h"

/* Descriptors that exist in every share without a record: the root directory's, and those inherited
 * from it. decision: 309 */
enum permission_default { PERMISSION_OF_ROOT, PERMISSION_OF_DIRECTORIES, PERMISSION_OF_FILES };
uint64_t permission_default(enum permission_default which);

/* Returns the canonical form of a descriptor sent as SDDL or as base64 of the self-relative
 * form; ptr NULL means E_FileInvalidPermission. rest: Create-Permission */
struct bytes permission_parse(struct arena *arena, struct bytes text, bool binary);

/* Stores a descriptor if it is new. Adds at most one part.
 * descriptor: canonical. Returns OK, or an error of decision_fail_store(). */
enum error permission_keep(struct decision *d, struct guid space, struct bytes descriptor,
                           uint64_t *ret_number);
/* Finds a descriptor by number. *ret_descriptor: canonical; ptr NULL if the share has none. Adds no
 * part. Returns OK, or an error of decision_fail_store(). */
enum error permission_find(struct decision *d, struct guid space, uint64_t number,
                           struct bytes *ret_descriptor);
/* Finds a descriptor by a key sent in a request.
 * Returns OK, E_InvalidHeaderValue: malformed, E_FileInvalidPermissionKey: not in the share, as
 *         decision_fail_store(). decision: 308 */
enum error permission_find_key(struct decision *d, struct guid space, struct bytes key,
                               uint64_t *ret_number, struct bytes *ret_descriptor);

/* Returns the number of the descriptor that a new node owned by SYSTEM inherits in a directory with
 * permission `parent`, and stores it. Returns OK, or an error of decision_fail_store(). */
enum error permission_inherit(struct decision *d, struct guid space, uint64_t parent,
                              bool for_directory, uint64_t *ret_number);
/* Returns the canonical descriptor that a new node with the given creator inherits, without storing
 * it. Returns OK, or an error of decision_fail_store(). */
enum error permission_inherited(struct decision *d, struct guid space, uint64_t parent,
                                bool for_directory, const struct descriptor_maker *maker,
                                struct bytes *ret_descriptor);

/* Formats a key, "11680444563946999947*1" for example. */
struct bytes permission_key(struct arena *arena, uint64_t number);
/* Parses a key. Returns false if it is malformed. */
bool permission_key_parse(struct bytes key, uint64_t *ret_number);

#endif
