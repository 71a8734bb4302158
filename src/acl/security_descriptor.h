/* Windows security descriptors: parses and formats the self-relative form ([MS-DTYP] 2.4.6) and
 * the Security Descriptor Definition Language ([MS-DTYP] 2.5.1, and "ACE Strings" of the Win32
 * reference). access_check.h evaluates them.
 *
 * A file's descriptor has an owner, a group and a DACL (rest: Create-Permission). Its canonical
 * form is self-relative in the order owner, group, SACL, DACL without gaps, and without anything
 * that SDDL cannot express, so equal descriptors are equal bytes. In canonical form, a missing SACL
 * is represented as a null SACL ("S:NO_ACCESS_CONTROL"), as in the real service.
 *
 * These are refused (decision: 307):
 *  - conditional ACEs, resource attributes and access filters: XA, XD, ZA, XU, RA, FL
 *  - domain-relative SIDs such as DA and LA, because the domain is unknown
 *  - ACEs in the wrong list: audit ACEs in a DACL, allow ACEs in a SACL
 *
 * Pure, thread-safe. */
#ifndef LAGRA_ACL_SECURITY_DESCRIPTOR_H
#define LAGRA_ACL_SECURITY_DESCRIPTOR_H

#include "base/arena.h"

/* [MS-DTYP] 2.4.2.2: at most 15 subauthorities. */
#define SID_NUMBERS_MAX         15u
#define SID_BYTES_MAX           (8u + 4u * SID_NUMBERS_MAX)
/* Maximum size in canonical form. An ACL has a 16-bit length. */
#define SECURITY_DESCRIPTOR_MAX (UINT32_C(64) << 10)

/* Bits of struct security_descriptor, control: [MS-DTYP] 2.4.6. SDDL cannot express the others. */
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

/* ACE types: [MS-DTYP] 2.4.4.1; the last one: Win32, winnt.h. */
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

/* ACE flags: [MS-DTYP] 2.4.4.1. */
enum {
    ACE_FOR_FILES = 0x01,       /* "OI": inherited by files */
    ACE_FOR_DIRECTORIES = 0x02, /* "CI": inherited by directories */
    ACE_ONCE = 0x04,            /* "NP": not inherited further */
    ACE_INHERIT_ONLY = 0x08,    /* "IO": does not apply to the object itself */
    ACE_INHERITED = 0x10,       /* "ID" */
    ACE_INHERITANCE = 0x1F,
};

struct ace {
    uint8_t type;
    uint8_t flags; /* ACE_* and audit flags */
    uint32_t mask;
    struct bytes object, inherited_object; /* GUIDs, 16 bytes in wire format; ptr NULL if absent */
    struct bytes sid;                      /* binary */
};
struct acl {
    bool null; /* "NO_ACCESS_CONTROL": a null ACL, unlike an empty one */
    struct ace *aces;
    size_t count;
};
struct security_descriptor {
    uint16_t control;
    struct bytes owner, group; /* SIDs, binary */
    struct acl dacl, sacl;
};

/* Parts of a descriptor: MS-SMB2 2.2.37 "AdditionalInformation". */
enum {
    DESCRIPTOR_OWNER = 0x1,
    DESCRIPTOR_GROUP = 0x2,
    DESCRIPTOR_DACL = 0x4,
    DESCRIPTOR_SACL = 0x8,
    DESCRIPTOR_ALL = 0xF,
};

/* Returns true if ACEs of this type may be in a DACL or, with in_sacl, in a SACL. Returns false
 * for unknown and refused types. */
bool ace_type_fits(uint8_t type, bool in_sacl);
static inline bool ace_has_objects(uint8_t type)
{
    return type >= ACE_ALLOWED_OBJECT && type <= ACE_AUDIT_OBJECT;
}

/* Decodes a descriptor. *ret_descriptor points into `raw`; its ACLs are in the arena. Returns false
 * if it is malformed or refused. */
bool security_descriptor_decode(struct arena *arena, struct bytes raw,
                                struct security_descriptor *ret_descriptor);
/* Like security_descriptor_decode(), but allows missing parts: a missing SID has ptr NULL, a
 * missing ACL is `null`, and control specifies whether it is present. */
bool security_descriptor_decode_parts(struct arena *arena, struct bytes raw,
                                      struct security_descriptor *ret_descriptor);
/* Encodes the canonical form. Returns ptr NULL if it is larger than SECURITY_DESCRIPTOR_MAX, or an
 * ACL exceeds its 16-bit length. */
struct bytes security_descriptor_encode(struct arena *arena,
                                        const struct security_descriptor *descriptor);

/* Encodes the given parts (DESCRIPTOR_*) in self-relative form. Omits missing ACLs. */
struct bytes security_descriptor_encode_parts(struct arena *arena,
                                              const struct security_descriptor *descriptor,
                                              uint32_t parts);

/* Binary SIDs of a file's creator: usually SYSTEM, because REST requests have no Windows user. */
struct descriptor_maker {
    struct bytes owner, group;
};
extern const struct descriptor_maker descriptor_of_system;

/* Returns the default descriptor of a new file or directory in a directory with descriptor
 * `parent`: the inherited ACEs or, if there are none to inherit, all rights for its owner and
 * SYSTEM. Marks the ACEs as inherited if the parent's DACL has that flag. The result may be too
 * large to encode. */
struct security_descriptor security_descriptor_inherit(struct arena *arena,
                                                       const struct security_descriptor *parent,
                                                       bool for_directory,
                                                       const struct descriptor_maker *maker);

/* Parses SDDL, with its parts in any order, each at most once, ignoring case.
 * Returns false if it is malformed or has no owner, group or DACL. */
bool sddl_read(struct arena *arena, struct bytes text, struct security_descriptor *ret_descriptor);
/* Formats SDDL like Windows and Azure: SIDs and rights by their names if they have one. */
struct bytes sddl_write(struct arena *arena, const struct security_descriptor *descriptor);

#endif
