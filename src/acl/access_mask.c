#include "acl/access_mask.h"

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
