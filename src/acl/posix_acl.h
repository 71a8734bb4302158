/* POSIX access control lists of the files and directories of hierarchical containers: their text
 * (posix_text.c), record, changes, inheritance and checks. Pure; independent of blobs and requests.
 *
 * An ACL has an owner, an owning group, a sticky bit, and entries. Access entries determine access
 * to the file or directory: there is exactly one each for the owner, the owning group and others;
 * there may be entries for named users and groups, and a mask, which limits the permissions of the
 * owning group and of named users and groups. Default entries of a directory become access entries
 * of its new children.
 *
 * (1) Entries are sorted; no two have the same scope, type and id.
 * (2) A scope with named users or groups has a mask.
 * (3) A directory has either all three unnamed default entries or no default entries.
 * source: data-lake-storage-access-control; IEEE 1003.1e draft 17; decisions: 1241 to 1244 */
#ifndef LAGRA_ACL_POSIX_ACL_H
#define LAGRA_ACL_POSIX_ACL_H

#include "base/arena.h"

/* Maximum number of entries in each of the two scopes, including the unnamed entries and the mask.
 * source: azure-storage-data-lake-rbac-acl-limits */
#define POSIX_SCOPE_MAX   32u
#define POSIX_ENTRIES_MAX (2 * POSIX_SCOPE_MAX)
#define POSIX_ID_MAX      256u

/* Owner of files and directories created without a user */
#define POSIX_SUPERUSER   "$superuser"

/* Permissions of one entry, and the bits of a mode. */
enum { POSIX_EXECUTE = 1, POSIX_WRITE = 2, POSIX_READ = 4 };
#define POSIX_STICKY   01000u
#define POSIX_MODE_ALL 01777u
#define POSIX_UMASK    0027u /* unless a request has another one */

/* In the order of the entries of a scope */
enum posix_type { POSIX_USER, POSIX_GROUP, POSIX_MASK, POSIX_OTHER };

struct posix_entry {
    bool is_default;
    enum posix_type type;
    struct bytes id; /* of a named user or group; empty: the owner, owning group, mask or others */
    unsigned permissions;
};

struct posix_entries {
    size_t count;
    struct posix_entry of[POSIX_ENTRIES_MAX];
};

struct posix_acl {
    struct bytes owner, group;
    bool is_sticky;
    struct posix_entries entries;
};

/* Sets the ACL of a file or directory whose record contains none: owned by the superuser, with the
 * permissions of a new file or directory. */
void posix_acl_init(struct posix_acl *acl, bool is_directory);
/* Decodes the ACL of a record, or returns that of posix_acl_init() if it has none. The ids point
 * into the record. Returns false if it is malformed. */
bool posix_acl_decode(struct bytes record, bool is_directory, struct posix_acl *ret_acl);
/* Encodes an ACL for the record; returns ptr NULL for that of posix_acl_init().
 *
 *   u8 1; varint mode: owner, owning group and others, POSIX_STICKY; bytes owner, group, empty for
 *   the superuser; u8 count of the other entries; each: u8 permissions + 8 * type + 32 if default;
 *   bytes id */
struct bytes posix_acl_encode(struct arena *arena, const struct posix_acl *acl, bool is_directory);

enum posix_change {
    POSIX_SET,    /* replaces all entries */
    POSIX_MODIFY, /* replaces and adds entries */
    POSIX_REMOVE, /* removes entries, which need not exist */
};

/* Applies a change. Unless the change contains a mask, the mask of a changed scope becomes the
 * union of the entries that it limits.
 *
 * returns  false, leaving *acl unchanged, if the result is not a valid ACL: an unnamed entry or the
 *          mask is missing, there are too many entries, or a file would have default entries */
bool posix_acl_change(struct posix_acl *acl, enum posix_change how,
                      const struct posix_entries *entries, bool is_directory);
/* Returns the index of the entry for the same scope, type and id, or `count` if none exists. */
size_t posix_entries_index(const struct posix_entries *entries, const struct posix_entry *wanted);
/* Removes the default entries from a change, for the files of a recursive change. */
void posix_entries_without_defaults(struct posix_entries *entries);
/* Sets the permissions of the owner, of the mask (or of the owning group if there is no mask), and
 * of others; and the sticky bit. */
void posix_acl_set_mode(struct posix_acl *acl, unsigned mode);
unsigned posix_acl_mode(const struct posix_acl *acl);

/* Specifies how a file or directory is created. */
struct posix_creation {
    struct bytes owner; /* the creator, or POSIX_SUPERUSER */
    struct bytes group; /* empty: the owning group of the directory */
    bool has_mode;
    unsigned mode; /* bits of POSIX_MODE_ALL */
    unsigned umask;
    /* all entries of a valid ACL, used instead of mode, umask and default entries; or NULL */
    const struct posix_entries *entries;
};
/* Sets the ACL of a new child of a directory. */
void posix_acl_inherit(const struct posix_acl *parent, const struct posix_creation *creation,
                       bool is_directory, struct posix_acl *ret_acl);

struct posix_caller {
    struct bytes oid;
    const struct bytes *groups;
    size_t group_count;
};

/* Returns true if the ACL grants the caller all of these permissions. */
bool posix_acl_permits(const struct posix_acl *acl, const struct posix_caller *caller,
                       unsigned permissions);
bool posix_acl_is_owner(const struct posix_acl *acl, const struct posix_caller *caller);
bool posix_is_member(const struct posix_caller *caller, struct bytes group);
/* Returns true if the sticky bit of a directory lets the caller delete or rename this child. */
bool posix_acl_may_unlink(const struct posix_acl *directory, const struct posix_acl *child,
                          const struct posix_caller *caller);

/* Permissions that an operation requires on a file or directory, and on its parent directory. All
 * directories above, including the parent, must grant POSIX_EXECUTE. */
enum posix_operation {
    POSIX_READS,        /* content, properties with metadata */
    POSIX_SHOWS_STATUS, /* properties without metadata, the ACL */
    POSIX_WRITES,       /* content, metadata, lease */
    POSIX_CREATES,      /* a new file or directory */
    POSIX_DELETES,      /* a file, or an empty directory; the old name of a rename */
    POSIX_DELETES_TREE, /* a directory with its content; also for each directory in it */
    POSIX_LISTS,        /* a directory; of a recursive list, each directory in it */
    POSIX_CHANGES_ACL,
    POSIX_CHANGES_GROUP,
    POSIX_CHANGES_OWNER,
    POSIX_OPERATIONS
};
enum posix_who { POSIX_ANYONE, POSIX_THE_OWNER, POSIX_ONLY_SUPERUSER };
struct posix_requirement {
    unsigned parent, self; /* permissions */
    enum posix_who who;
};
extern const struct posix_requirement posix_requirements[POSIX_OPERATIONS];

/* Parses "[default:]type:[id]:rwx,..", or for POSIX_REMOVE "[default:]type[:id[:]],..". Returns
 * false if it is malformed, has too many entries, or two for the same scope, type and id. */
bool posix_entries_parse(struct bytes text, enum posix_change how,
                         struct posix_entries *ret_entries);
struct bytes posix_entries_text(struct arena *arena, const struct posix_entries *entries);
/* Parses "rwx", with "-" for missing permissions. */
bool posix_permissions_parse(struct bytes text, unsigned *ret_permissions);
/* Parses four octal digits, or "rwxr-x--t". Returns false if it is neither. */
bool posix_mode_parse(struct bytes text, unsigned *ret_mode);
/* Parses four octal digits. */
bool posix_umask_parse(struct bytes text, unsigned *ret_umask);
/* Returns "rwxr-x---", with a "+" if there are more entries than the mode shows. */
struct bytes posix_mode_text(struct arena *arena, const struct posix_acl *acl);
/* Returns true for a user or group id: an object id or name. */
bool posix_id_is_valid(struct bytes id);

#endif
