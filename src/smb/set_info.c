/* SET_INFO: sets times, attributes, length, name, deletion and security descriptor. ms-smb2:
 * 2.2.39, 2.2.40, 3.3.5.21; MS-FSCC 2.4; MS-FSA 2.1.5.15 */
#include "smb/commands.h"
#include "smb_session/message.h"
#include "smb_session/opens.h"

#include "handles/handle_info.h"
#include "smb/file_information.h"

struct set;
/* Reads the buffer, whose fixed part is complete. */
typedef enum smb_step read_fn(struct smb_request *request, struct set *set, struct wire_reader *r);

/* An information class: minimum size of the buffer and required access. */
struct set_class {
    uint8_t number;
    uint8_t fixed;
    uint32_t access;
    read_fn *read;
};

struct set {
    const struct set_class *class; /* NULL for a security descriptor */
    /* Only the member of the class is used. */
    struct handle_set_basic basic;
    struct handle_set_length length;
    struct handle_set_disposition disposition;
    struct handle_rename rename;
    struct handle_set_descriptor descriptor;
};

/* ---- times and attributes ---- */

/* Reads a time, in which 0, -1 and -2 have special meanings. Returns false for other negative
 * values. MS-FSCC 2.4.7 */
static bool read_time(struct wire_reader *r, struct basic_time_given *ret_time)
{
    uint64_t filetime = wire_u64(r);

    *ret_time = (struct basic_time_given){ .kind = BASIC_TIME_GIVEN };
    if (filetime == 0)
        ret_time->kind = BASIC_TIME_KEPT;
    else if (filetime == UINT64_MAX)
        ret_time->kind = BASIC_TIME_FROZEN;
    else if (filetime == UINT64_MAX - 1)
        ret_time->kind = BASIC_TIME_THAWED;
    else if (filetime > INT64_MAX)
        return false;
    else
        ret_time->at = filetime_instant(filetime);
    return true;
}

static enum smb_step read_basic(struct smb_request *request, struct set *set, struct wire_reader *r)
{
    struct handle_set_basic *basic = &set->basic;
    const struct held_handle *handle = &request->open->handle;
    bool is_directory = handle->kind == TREE_DIRECTORY;

    *basic =
        (struct handle_set_basic){ .tree_connect = &request->tree->tree_connect, .handle = handle };
    if (!read_time(r, &basic->created) || !read_time(r, &basic->accessed) ||
        !read_time(r, &basic->written) || !read_time(r, &basic->changed))
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    basic->attributes = wire_u32(r);
    basic->has_attributes = basic->attributes != 0;
    if (basic->attributes & (is_directory ? ATTRIBUTE_TEMPORARY : ATTRIBUTE_DIRECTORY))
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    return smb_decide(request, handle_set_basic_attempt, basic);
}

/* ---- length ---- */

enum length_kind { END_OF_FILE, ALLOCATION };

static enum smb_step read_length(struct smb_request *request, struct set *set,
                                 struct wire_reader *r, enum length_kind kind)
{
    set->length = (struct handle_set_length){
        .tree_connect = &request->tree->tree_connect,
        .handle = &request->open->handle,
        .length = wire_u64(r),
        .is_allocation = kind == ALLOCATION,
        .may_not_grow = smb_is_full(request),
    };
    if (request->open->handle.kind == TREE_DIRECTORY || set->length.length > INT64_MAX)
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    return smb_decide(request, handle_set_length_attempt, &set->length);
}

static enum smb_step read_end_of_file(struct smb_request *request, struct set *set,
                                      struct wire_reader *r)
{
    return read_length(request, set, r, END_OF_FILE);
}

static enum smb_step read_allocation(struct smb_request *request, struct set *set,
                                     struct wire_reader *r)
{
    return read_length(request, set, r, ALLOCATION);
}

/* ---- name and deletion ---- */

/* Reads FileRenameInformation for SMB2, with a path from the root of the share. MS-FSCC 2.4.42.2 */
static enum smb_step read_rename(struct smb_request *request, struct set *set,
                                 struct wire_reader *r)
{
    struct arena *arena = request->message->arena;
    bool replaces = wire_u8(r);
    struct bytes utf16, name;
    uint64_t root;
    enum nt_status status;

    wire_skip(r, 7);
    root = wire_u64(r);
    utf16 = wire_bytes(r, wire_u32(r));
    if (!wire_ok(r) || root != 0 || utf16.len == 0)
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    if (!wire_utf8(arena, utf16, &name))
        return smb_refuse(request, STATUS_OBJECT_NAME_INVALID);
    set->rename = (struct handle_rename){
        .tree_connect = &request->tree->tree_connect,
        .handle = &request->open->handle,
        .replaces = replaces,
    };
    status = smb_read_names(arena, name, &set->rename.names, &set->rename.name_count);
    if (status != STATUS_SUCCESS)
        return smb_refuse(request, status);
    return smb_decide(request, handle_rename_attempt, &set->rename);
}

static enum smb_step read_disposition(struct smb_request *request, struct set *set,
                                      struct wire_reader *r)
{
    set->disposition = (struct handle_set_disposition){
        .tree_connect = &request->tree->tree_connect,
        .handle = &request->open->handle,
        .deletes = wire_u8(r),
    };
    return smb_decide(request, handle_set_disposition_attempt, &set->disposition);
}

/* ---- properties of the open ---- */

static enum smb_step read_position(struct smb_request *request, struct set *set,
                                   struct wire_reader *r)
{
    uint64_t position = wire_u64(r);

    (void)set;
    if (position > INT64_MAX)
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    request->open->position = position;
    return smb_refuse(request, STATUS_SUCCESS);
}

/* Mode flags that may change on an open: FILE_WRITE_THROUGH, FILE_SEQUENTIAL_ONLY and the flags for
 * synchronous I/O. MS-FSCC 2.4.26 */
#define MODE_CHANGES 0x36u

static enum smb_step read_mode(struct smb_request *request, struct set *set, struct wire_reader *r)
{
    uint32_t mode = wire_u32(r);

    (void)set;
    if (mode & ~MODE_CHANGES)
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    request->open->mode = (request->open->mode & ~MODE_CHANGES) | mode;
    return smb_refuse(request, STATUS_SUCCESS);
}

/* ---- not supported ---- */

static enum smb_step refuse_eas(struct smb_request *request, struct set *set, struct wire_reader *r)
{
    (void)set;
    (void)r;
    return smb_refuse(request, STATUS_EAS_NOT_SUPPORTED);
}

static enum smb_step refuse(struct smb_request *request, struct set *set, struct wire_reader *r)
{
    (void)set;
    (void)r;
    return smb_refuse(request, STATUS_NOT_SUPPORTED);
}

#define NO_ACCESS 0u

/* clang-format off */
static const struct set_class classes[] = {
    {  4, 36, MAY_WRITE_ATTRIBUTES, read_basic },       /* FileBasicInformation */
    { 10, 20, MAY_DELETE,           read_rename },      /* FileRenameInformation */
    { 11, 20, NO_ACCESS,            refuse },           /* FileLinkInformation */
    { 13,  1, MAY_DELETE,           read_disposition }, /* FileDispositionInformation */
    { 14,  8, NO_ACCESS,            read_position },    /* FilePositionInformation */
    { 15,  0, MAY_WRITE_EA,         refuse_eas },       /* FileFullEaInformation */
    { 16,  4, NO_ACCESS,            read_mode },        /* FileModeInformation */
    { 19,  8, MAY_WRITE_DATA,       read_allocation },  /* FileAllocationInformation */
    { 20,  8, MAY_WRITE_DATA,       read_end_of_file }, /* FileEndOfFileInformation */
    { 39,  8, MAY_WRITE_DATA,       refuse },           /* FileValidDataLengthInformation */
    { 40,  4, NO_ACCESS,            refuse },           /* FileShortNameInformation */
};
/* clang-format on */

/* ---- request ---- */

static enum smb_step set_file(struct smb_request *request, struct set *set, uint8_t number,
                              struct bytes buffer)
{
    struct wire_reader r;

    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (classes[i].number == number)
            set->class = &classes[i];
    if (!set->class)
        return smb_refuse(request, STATUS_INVALID_INFO_CLASS);
    if (buffer.len < set->class->fixed)
        return smb_refuse(request, STATUS_INFO_LENGTH_MISMATCH);
    if ((request->open->handle.granted & set->class->access) != set->class->access)
        return smb_refuse(request, STATUS_ACCESS_DENIED);
    wire_reader_init(&r, buffer);
    return set->class->read(request, set, &r);
}

/* Sets parts of the security descriptor. ms-smb2: 3.3.5.21.3 */
static enum smb_step set_descriptor(struct smb_request *request, struct set *set, uint32_t parts,
                                    struct bytes buffer)
{
    uint32_t granted = request->open->handle.granted;

    if ((parts & (SECURITY_OWNER | SECURITY_GROUP | SECURITY_LABEL) &&
         !(granted & MAY_WRITE_OWNER)) ||
        (parts & SECURITY_DACL && !(granted & MAY_WRITE_DAC)) ||
        (parts & SECURITY_SACL && !(granted & MAY_ACCESS_SACL)))
        return smb_refuse(request, STATUS_ACCESS_DENIED);
    set->descriptor = (struct handle_set_descriptor){
        .tree_connect = &request->tree->tree_connect,
        .handle = &request->open->handle,
        .parts = parts & DESCRIPTOR_ALL,
        .descriptor = buffer,
    };
    return smb_decide(request, handle_set_descriptor_attempt, &set->descriptor);
}

enum smb_step smb_set_info_begin(struct smb_request *request, struct wire_reader *r)
{
    struct set *set = arena_alloc(request->message->arena, sizeof *set);
    uint8_t type = wire_u8(r), number = wire_u8(r);
    uint32_t size = wire_u32(r), parts;
    uint16_t at = wire_u16(r);
    struct bytes buffer;

    wire_skip(r, 2);
    parts = wire_u32(r);
    buffer = wire_buffer(r, at, size, SMB_HEADER_SIZE + 32);
    if (!wire_ok(r) || size > SMB_IO_MAX)
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    request->parameters = set;
    switch (type) {
    case INFO_FILE:
        return set_file(request, set, number, buffer);
    case INFO_SECURITY:
        return set_descriptor(request, set, parts, buffer);
    case INFO_FILE_SYSTEM: /* volume labels and quotas */
    case INFO_QUOTA:
        return smb_refuse(request, STATUS_NOT_SUPPORTED);
    default:
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    }
}

/* ---- result ---- */

/* Maps the errors whose status for handles differs from that for paths. MS-FSA 2.1.5.15.3,
 * 2.1.5.15.5 */
static enum nt_status status_of(const struct smb_request *request)
{
    bool deletes = request->attempt == handle_set_disposition_attempt;

    if (deletes &&
        (request->error == E_ReadOnlyAttribute || request->error == E_ResourceTypeMismatch))
        return STATUS_CANNOT_DELETE;
    if (deletes && request->error == E_SharingViolation)
        return STATUS_ACCESS_DENIED;
    if (request->attempt == handle_set_descriptor_attempt &&
        request->error == E_AuthorizationPermissionMismatch)
        return STATUS_INVALID_OWNER;
    if (request->attempt == handle_set_length_attempt && request->error == E_InvalidRange)
        return STATUS_DISK_FULL;
    return nt_status_of_handle(request->error);
}

enum smb_step smb_set_info_decided(struct smb_request *request)
{
    const struct set *set = request->parameters;
    bool lasts =
        set->basic.lasts || set->length.lasts || set->rename.lasts || set->descriptor.lasts;

    if (request->error == E_InsufficientAccountCapacity)
        smb_refused_full(request);
    if (request->error)
        return smb_refuse(request, status_of(request));
    if (request->attempt == handle_set_basic_attempt)
        request->open->handle.times = set->basic.times;
    if (request->attempt == handle_set_length_attempt) {
        request->open->handle.times = set->length.times;
        open_allocate(request->open, set->length.is_allocation ? set->length.length : 0);
    }
    if (!lasts)
        request->lasting = SEEN;
    return smb_refuse(request, STATUS_SUCCESS);
}

void smb_set_info_answer(struct smb_request *request, struct wire_writer *w)
{
    (void)request;
    wire_put_u16(w, 2); /* StructureSize; there are no other fields */
}
