/* Encoding of file information, shared by all commands. */
#include "smb/file_information.h"

#include "base/endian.h"
#include "smb_session/sessions.h"

#define ATTRIBUTE_IS_DIRECTORY 0x00000010u
#define ATTRIBUTE_IS_NORMAL    0x00000080u

void smb_put_info_times(struct wire_writer *w, const struct handle_info *info)
{
    wire_put_u64(w, filetime_of(info->created));
    wire_put_u64(w, filetime_of(info->accessed));
    wire_put_u64(w, filetime_of(info->written));
    wire_put_u64(w, filetime_of(info->changed));
}

uint32_t smb_attributes(const struct handle_info *info)
{
    uint32_t attributes = info->attributes;

    if (info->kind == TREE_DIRECTORY)
        attributes |= ATTRIBUTE_IS_DIRECTORY;
    return attributes ? attributes : ATTRIBUTE_IS_NORMAL;
}

uint64_t smb_volume_id(const struct smb_tree *tree)
{
    return le64_get(tree->tree_connect.space.b);
}
