#include "acl/access_check.h"

#include "acl/sid.h"
#include "base/endian.h"

#include <nettle/sha2.h>

/* RIDs of users and groups: [MS-DTYP] 2.4.2.4 "Domain Users"; ordinary accounts start at 1000. */
enum { RID_DOMAIN_USERS = 513, RID_ACCOUNT = 1000 };

static void make_sid(char sid[TOKEN_SID_BYTES], const uint8_t *domain, uint32_t rid)
{
    memcpy(sid, "\x01\x05\0\0\0\0\0\x05\x15\0\0\0", 12); /* S-1-5-21 */
    memcpy(sid + 12, domain, 12);
    le32_put(sid + 24, rid);
}

struct access_token access_token_of_account(struct bytes account)
{
    struct access_token token;
    uint8_t digest[SHA256_DIGEST_SIZE];
    struct sha256_ctx hash;

    sha256_init(&hash);
    sha256_update(&hash, account.len, (const uint8_t *)account.ptr);
    sha256_digest(&hash, sizeof digest, digest);
    make_sid(token.user, digest, RID_ACCOUNT);
    make_sid(token.group, digest, RID_DOMAIN_USERS);
    return token;
}

bool access_token_has(const struct access_token *token, struct bytes sid)
{
    static const struct bytes *const everybody[] = { &sid_everyone, &sid_authenticated_users,
                                                     &sid_network, &sid_builtin_users };

    if (bytes_equal(sid, access_token_user(token)) || bytes_equal(sid, access_token_group(token)))
        return true;
    for (size_t i = 0; i < sizeof everybody / sizeof everybody[0]; i++)
        if (bytes_equal(sid, *everybody[i]))
            return true;
    return false;
}

static bool applies(const struct ace *ace)
{
    return !(ace->flags & ACE_INHERIT_ONLY);
}

static bool has_owner_rights(const struct acl *dacl)
{
    for (size_t i = 0; i < dacl->count; i++)
        if (applies(&dacl->aces[i]) && bytes_equal(dacl->aces[i].sid, sid_owner_rights))
            return true;
    return false;
}

uint32_t access_check(const struct security_descriptor *descriptor,
                      const struct access_token *token)
{
    const struct acl *dacl = &descriptor->dacl;
    bool is_owner = access_token_has(token, descriptor->owner);
    uint32_t granted = 0, denied = 0;

    if (dacl->null)
        return MAY_ALL;
    if (is_owner && !has_owner_rights(dacl))
        granted = MAY_READ_CONTROL | MAY_WRITE_DAC;
    for (size_t i = 0; i < dacl->count; i++) {
        const struct ace *ace = &dacl->aces[i];
        uint32_t mask = access_mask_mapped(ace->mask) & MAY_ALL;
        bool is_meant =
            bytes_equal(ace->sid, sid_owner_rights) ? is_owner : access_token_has(token, ace->sid);

        if (!applies(ace) || !is_meant)
            continue;
        if (ace->type == ACE_DENIED || ace->type == ACE_DENIED_OBJECT)
            denied |= mask;
        else if (ace->type == ACE_ALLOWED || (ace_has_objects(ace->type) && !ace->object.ptr))
            granted |= mask & ~denied;
    }
    return granted;
}

/* ---- access mask ---- */

uint32_t access_mask_mapped(uint32_t mask)
{
    static const struct {
        uint32_t generic, rights;
    } map[] = {
        { MAY_GENERIC_ALL, MAY_ALL },
        { MAY_GENERIC_EXECUTE,
          MAY_READ_ATTRIBUTES | MAY_EXECUTE | MAY_READ_CONTROL | MAY_SYNCHRONIZE },
        { MAY_GENERIC_WRITE, MAY_WRITE_DATA | MAY_APPEND_DATA | MAY_WRITE_EA |
                                 MAY_WRITE_ATTRIBUTES | MAY_READ_CONTROL | MAY_SYNCHRONIZE },
        { MAY_GENERIC_READ,
          MAY_READ_DATA | MAY_READ_EA | MAY_READ_ATTRIBUTES | MAY_READ_CONTROL | MAY_SYNCHRONIZE },
    };
    uint32_t mapped =
        mask & ~(MAY_GENERIC_ALL | MAY_GENERIC_EXECUTE | MAY_GENERIC_WRITE | MAY_GENERIC_READ);

    for (unsigned i = 0; i < sizeof map / sizeof map[0]; i++)
        mapped |= (mask & map[i].generic) ? map[i].rights : 0;
    return mapped;
}

uint8_t access_mask_shares(uint32_t mask)
{
    uint8_t shares = 0;

    if (mask & (MAY_READ_DATA | MAY_EXECUTE))
        shares |= ACCESS_READ;
    if (mask & (MAY_WRITE_DATA | MAY_APPEND_DATA))
        shares |= ACCESS_WRITE;
    if (mask & MAY_DELETE)
        shares |= ACCESS_DELETE;
    return shares;
}

/* READ_CONTROL breaks oplocks but not leases: smbtorture, smb2.oplock.statopen1,
 * smb2.lease.statopen4 */
uint8_t access_mask_meets(uint32_t mask)
{
    const uint32_t attributes = MAY_READ_ATTRIBUTES | MAY_WRITE_ATTRIBUTES | MAY_SYNCHRONIZE;

    if ((mask & ~attributes) == 0)
        return 0;
    return mask & ~(attributes | MAY_READ_CONTROL) ? MEETS_ALL : MEETS_OPLOCKS;
}
