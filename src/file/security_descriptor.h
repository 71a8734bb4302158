/* Windows security descriptors, the access rights of a file: parses and formats the self-relative form
 * ([MS-DTYP] 2.4.6) and text in the Security Descriptor Definition Language ([MS-DTYP] 2.5.1, and "ACE
 * Strings" of the Win32 reference). They are stored and returned; nothing here checks access by one.
 *
 * A descriptor of a file has an owner, a group and a DACL (rest: Create-Permission). Its canonical form
 * is the self-relative one in the order owner, group, SACL, DACL without gaps, and without
 * what SDDL cannot express, so that equal descriptors are equal bytes. One without SACL has an empty
 * "S:NO_ACCESS_CONTROL", as recorded.
 *
 * Refused are (decision: 307)
 *  - conditional entries, resource attributes and access filters: XA, XD, ZA, XU, RA, FL
 *  - SIDs that are relative to a domain, as DA and LA: the domain is not known here
 *  - entries in the wrong list: those that audit in a DACL, those that allow in a SACL
 *
 * Pure, any thread. */
#ifndef LAGRA_FILE_SECURITY_DESCRIPTOR_H
#define LAGRA_FILE_SECURITY_DESCRIPTOR_H

#include "base/arena.h"

/* [MS-DTYP] 2.4.2.2: at most 15 numbers behind the authority. */
#define SID_NUMBERS_MAX         15u
#define SID_BYTES_MAX           (8u + 4u * SID_NUMBERS_MAX)
/* In canonical form. A list has 16 bits for its length. */
#define SECURITY_DESCRIPTOR_MAX (UINT32_C(64) << 10)

/* Bits of struct security_descriptor, control: [MS-DTYP] 2.4.6, of which the others have no words. */
enum {
    CONTROL_DACL_PRESENT = 0x0004,
    CONTROL_SACL_PRESENT = 0x0010,
    CONTROL_DACL_INHERIT_ASKED = 0x0100, /* "AR" */
    CONTROL_SACL_INHERIT_ASKED = 0x0200,
    CONTROL_DACL_INHERITED = 0x0400, /* "AI" */
    CONTROL_SACL_INHERITED = 0x0800,
    CONTROL_DACL_PROTECTED = 0x1000, /* "P" */
    CONTROL_SACL_PROTECTED = 0x2000,
    CONTROL_SELF_RELATIVE = 0x8000,
};

/* Types of entries: [MS-DTYP] 2.4.4.1; the last: Win32, winnt.h. */
enum ace_type {
    ACE_ALLOWED = 0x00,
    ACE_DENIED = 0x01,
    ACE_AUDIT = 0x02,
    ACE_ALLOWED_OBJECT = 0x05,
    ACE_DENIED_OBJECT = 0x06,
    ACE_AUDIT_OBJECT = 0x07,
    ACE_MANDATORY_LABEL = 0x11,
    ACE_SCOPED_POLICY = 0x13,
    ACE_PROCESS_TRUST = 0x14,
};

/* Flags of entries: [MS-DTYP] 2.4.4.1. */
enum {
    ACE_FOR_FILES = 0x01,       /* "OI": inherited by files */
    ACE_FOR_DIRECTORIES = 0x02, /* "CI" */
    ACE_ONCE = 0x04,            /* "NP": not by what is below those */
    ACE_INHERIT_ONLY = 0x08,    /* "IO": not for what has it */
    ACE_INHERITED = 0x10,       /* "ID" */
    ACE_INHERITANCE = 0x1F,
};

struct ace {
    uint8_t type;
    uint8_t flags; /* ACE_* and those of audits */
    uint32_t mask;
    struct bytes object, inherited_object; /* 16 bytes as they lie there; ptr NULL: none */
    struct bytes sid;                      /* binary */
};
struct acl {
    bool null; /* "NO_ACCESS_CONTROL": there is no list, which is not the same as an empty one */
    struct ace *aces;
    size_t count;
};
struct security_descriptor {
    uint16_t control;
    struct bytes owner, group; /* SIDs, binary */
    struct acl dacl, sacl;
};

/* Parts of a descriptor, as SMB names them: MS-SMB2 2.2.37 "AdditionalInformation". */
enum {
    DESCRIPTOR_OWNER = 0x1,
    DESCRIPTOR_GROUP = 0x2,
    DESCRIPTOR_DACL = 0x4,
    DESCRIPTOR_SACL = 0x8,
    DESCRIPTOR_ALL = 0xF,
};

/* Does a type of entry belong in such a list? Of an unknown or refused type: no. */
bool ace_type_fits(uint8_t type, bool in_sacl);
static inline bool ace_has_objects(uint8_t type)
{
    return type >= ACE_ALLOWED_OBJECT && type <= ACE_AUDIT_OBJECT;
}

/* *ret_descriptor points into `raw`, and has its lists in the arena. returns false: it is malformed or
 * refused */
bool security_descriptor_decode(struct arena *arena, struct bytes raw,
                                struct security_descriptor *ret_descriptor);
/* The same of one that need not have all parts: what it has not has a ptr of NULL, a list that it has not is
 * `null`, and control says whether it is there. */
bool security_descriptor_decode_parts(struct arena *arena, struct bytes raw,
                                      struct security_descriptor *ret_descriptor);
/* The canonical form; ptr NULL: larger than SECURITY_DESCRIPTOR_MAX, or a list than its length. */
struct bytes security_descriptor_encode(struct arena *arena,
                                        const struct security_descriptor *descriptor);

/* Self-relative, with these of its parts: DESCRIPTOR_*. A list that is not there is left out. */
struct bytes security_descriptor_encode_parts(struct arena *arena,
                                              const struct security_descriptor *descriptor,
                                              uint32_t parts);

/* Binary SIDs of who makes a file: as a rule the system, since a request has no Windows user. */
struct descriptor_maker {
    struct bytes owner, group;
};
extern const struct descriptor_maker descriptor_of_system;

/* What is new in a directory of such a descriptor has by default: the entries that it inherits, or, if there are
 * none, all rights for its owner and the system. The entries are marked as inherited if the directory's DACL
 * is. The result may be too large to be encoded. */
struct security_descriptor security_descriptor_inherit(struct arena *arena,
                                                       const struct security_descriptor *parent,
                                                       bool for_directory,
                                                       const struct descriptor_maker *maker);

/* Parses SDDL, with its parts in any order, each at most once; case is ignored.
 * returns false: it is malformed, or has no owner, group or DACL */
bool sddl_read(struct arena *arena, struct bytes text, struct security_descriptor *ret_descriptor);
/* As Windows and the service write it: SIDs and rights by their names where they have one. */
struct bytes sddl_write(struct arena *arena, const struct security_descriptor *descriptor);

#endif
