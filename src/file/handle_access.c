/* What an open may be granted. Whoever knows a key of the account may do everything, as Azure has it for
 * shares that are mounted with a key; what the file itself does not allow is the rest.
 * docs: storage-files-identity-auth-domain-services "superuser" */
#include "file/access_mask.h"
#include "file/handle_private.h"

/* What a snapshot of the share has is only read. Of a file that is read-only nobody can have write access, though its attributes may be written.
 * MS-FSA 2.1.5.1.2.1 */
static uint32_t most(const struct decision *d, const struct file *file)
{
    const struct file_state *state = (const struct file_state *)(const void *)d->state;

    if (state->tree.at)
        return MAY_READ;
    if (file->kind == TREE_FILE && (file->attributes & ATTRIBUTE_READ_ONLY))
        return MAY_ALL & ~(MAY_WRITE_DATA | MAY_APPEND_DATA);
    return MAY_ALL;
}

enum error handle_grant(struct decision *d, const struct file *file, uint32_t desired,
                        uint32_t *ret_granted, uint32_t *ret_maximum)
{
    uint32_t mapped = access_mask_mapped(desired);

    *ret_maximum = most(d, file);
    if (mapped & MAY_MAXIMUM)
        mapped = (mapped & ~MAY_MAXIMUM) | *ret_maximum;
    if (mapped & ~(MAY_ALL | MAY_ACCESS_SACL))
        return E_AuthorizationPermissionMismatch;
    *ret_granted = mapped;
    return OK;
}
