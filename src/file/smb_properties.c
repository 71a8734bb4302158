#include "file/smb_properties.h"

static void apply_time(const struct smb_time *given, instant now, instant *time)
{
    if (given->kind == TIME_NOW)
        *time = now;
    else if (given->kind == TIME_GIVEN)
        *time = given->at;
}

enum error smb_apply(struct decision *d, const struct smb_given *given, struct file *file)
{
    if (given->has_attributes)
        file->attributes =
            given->attributes | (file->kind == TREE_DIRECTORY ? ATTRIBUTE_DIRECTORY : 0);
    apply_time(&given->created, d->now, &file->created);
    apply_time(&given->written, d->now, &file->written);
    apply_time(&given->changed, d->now, &file->changed);
    return permission_settle(d, &given->permission, file);
}
