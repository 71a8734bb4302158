/* QUERY_INFO: information about a file or its share, and security descriptors. ms-smb2: 2.2.37,
 * 2.2.38, 3.3.5.20; MS-FSCC 2.4, 2.5 */
#include "smb/commands.h"
#include "smb_session/message.h"
#include "smb_session/opens.h"
#include "smb/file_information.h"

#include <assert.h>

#include "handles/handle_info.h"

#define NO_ACCESS 0u

struct query;
typedef void put_fn(const struct query *q, struct wire_writer *w);

enum tail { NO_TAIL, TAIL }; /* whether the structure ends with data of variable length */

/* An information class. */
struct info_class {
    uint8_t number;
    uint8_t least; /* size of the fixed part */
    uint32_t access;
    enum tail tail; /* truncated with STATUS_BUFFER_OVERFLOW if it does not fit */
    bool wants_path;
    put_fn *put;
};

struct query {
    struct smb_request *request;
    uint8_t type;
    const struct info_class *class; /* NULL for a security descriptor */
    size_t room;                    /* OutputBufferLength */
    struct handle_query file;
    struct tree_connect_size share;
    struct bytes info; /* as sent */
};

/* ---- file information: MS-FSCC 2.4 ---- */

static void put_basic(const struct query *q, struct wire_writer *w)
{
    smb_put_info_times(w, &q->file.info);
    wire_put_u32(w, smb_attributes(&q->file.info));
    wire_put_u32(w, 0);
}

static void put_standard(const struct query *q, struct wire_writer *w)
{
    const struct handle_info *info = &q->file.info;

    wire_put_u64(w, info->allocated);
    wire_put_u64(w, info->length);
    wire_put_u32(w, info->is_delete_pending ? 0 : 1); /* NumberOfLinks */
    wire_put_u8(w, info->is_delete_pending);
    wire_put_u8(w, info->kind == TREE_DIRECTORY);
    wire_put_u16(w, 0);
}

static void put_internal(const struct query *q, struct wire_writer *w)
{
    wire_put_u64(w, q->file.info.node);
}

static void put_ea_size(const struct query *q, struct wire_writer *w)
{
    (void)q;
    wire_put_u32(w, 0); /* EaSize */
}

static void put_access(const struct query *q, struct wire_writer *w)
{
    wire_put_u32(w, q->request->open->handle.granted);
}

static void put_position(const struct query *q, struct wire_writer *w)
{
    wire_put_u64(w, q->request->open->position);
}

static void put_mode(const struct query *q, struct wire_writer *w)
{
    wire_put_u32(w, q->request->open->mode);
}

static void put_alignment(const struct query *q, struct wire_writer *w)
{
    (void)q;
    wire_put_u32(w, 0); /* FILE_BYTE_ALIGNMENT */
}

/* Writes the path from the root of the share, with backslashes, after `lead`. */
static void put_path(const struct query *q, const char *lead, struct wire_writer *w)
{
    struct bytes path = q->file.path;
    size_t at = wire_place(w), name;

    wire_put_u32(w, 0);
    name = wire_place(w);
    wire_put_utf16(w, bytes_from_string(lead));
    for (size_t i = 0; i < path.len;) {
        struct bytes rest = bytes_from(path, i), part;

        bytes_cut(rest, '/', &part, &rest);
        wire_put_utf16(w, part);
        if (rest.ptr)
            wire_put_u16(w, '\\');
        i = rest.ptr ? (size_t)(rest.ptr - path.ptr) : path.len;
    }
    wire_set_u32(w, at, (uint32_t)(wire_place(w) - name));
}

static void put_name(const struct query *q, struct wire_writer *w)
{
    put_path(q, "\\", w);
}

static void put_normalized_name(const struct query *q, struct wire_writer *w)
{
    put_path(q, "", w);
}

static void put_all(const struct query *q, struct wire_writer *w)
{
    static put_fn *const parts[] = { put_basic,   put_standard,  put_internal,
                                     put_ea_size, put_access,    put_position,
                                     put_mode,    put_alignment, put_name };

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        parts[i](q, w);
}

/* Writes the only stream of a file; directories have none. MS-FSCC 2.4.43 */
static void put_streams(const struct query *q, struct wire_writer *w)
{
    static const struct bytes data_stream = BYTES("::$DATA");

    if (q->file.info.kind == TREE_DIRECTORY)
        return;
    wire_put_u32(w, 0);
    wire_put_u32(w, (uint32_t)data_stream.len * 2);
    wire_put_u64(w, q->file.info.length);
    wire_put_u64(w, q->file.info.allocated);
    wire_put_utf16(w, data_stream);
}

static void put_compression(const struct query *q, struct wire_writer *w)
{
    wire_put_u64(w, q->file.info.length);
    wire_put_zeros(w, 8); /* COMPRESSION_FORMAT_NONE */
}

static void put_network_open(const struct query *q, struct wire_writer *w)
{
    smb_put_info_times(w, &q->file.info);
    wire_put_u64(w, q->file.info.allocated);
    wire_put_u64(w, q->file.info.length);
    wire_put_u32(w, smb_attributes(&q->file.info));
    wire_put_u32(w, 0);
}

static void put_attribute_tag(const struct query *q, struct wire_writer *w)
{
    wire_put_u32(w, smb_attributes(&q->file.info));
    wire_put_u32(w, 0); /* ReparseTag */
}

static void put_id(const struct query *q, struct wire_writer *w)
{
    wire_put_u64(w, smb_volume_id(q->request->tree));
    wire_put_u64(w, q->file.info.node);
    wire_put_u64(w, 0);
}

/* clang-format off */
static const struct info_class file_classes[] = {
    {  4, 40, MAY_READ_ATTRIBUTES, NO_TAIL, false, put_basic },           /* FileBasicInformation */
    {  5, 24, NO_ACCESS,           NO_TAIL, false, put_standard },        /* FileStandardInformation */
    {  6,  8, NO_ACCESS,           NO_TAIL, false, put_internal },        /* FileInternalInformation */
    {  7,  4, NO_ACCESS,           NO_TAIL, false, put_ea_size },         /* FileEaInformation */
    {  8,  4, NO_ACCESS,           NO_TAIL, false, put_access },          /* FileAccessInformation */
    { 14,  8, NO_ACCESS,           NO_TAIL, false, put_position },        /* FilePositionInformation */
    { 16,  4, NO_ACCESS,           NO_TAIL, false, put_mode },            /* FileModeInformation */
    { 17,  4, NO_ACCESS,           NO_TAIL, false, put_alignment },       /* FileAlignmentInformation */
    { 18, 104, MAY_READ_ATTRIBUTES, TAIL,   true,  put_all },             /* FileAllInformation */
    { 22, 32, NO_ACCESS,           TAIL,    false, put_streams },         /* FileStreamInformation */
    { 28, 16, NO_ACCESS,           NO_TAIL, false, put_compression },     /* FileCompressionInformation */
    { 34, 56, MAY_READ_ATTRIBUTES, NO_TAIL, false, put_network_open },    /* FileNetworkOpenInformation */
    { 35,  8, MAY_READ_ATTRIBUTES, NO_TAIL, false, put_attribute_tag },   /* FileAttributeTagInformation */
    { 48,  8, NO_ACCESS,           TAIL,    true,  put_normalized_name }, /* FileNormalizedNameInformation */
    { 59, 24, NO_ACCESS,           NO_TAIL, false, put_id },              /* FileIdInformation */
};
/* clang-format on */

/* ---- file system information: MS-FSCC 2.5 ---- */

#define SECTOR_BYTES        512u
#define SECTORS_PER_CLUSTER (FILE_CLUSTER_BYTES / SECTOR_BYTES)

static uint64_t total_clusters(const struct query *q)
{
    return q->share.quota_bytes / FILE_CLUSTER_BYTES;
}

static uint64_t free_clusters(const struct query *q)
{
    uint64_t quota = q->share.quota_bytes, used = q->share.used_bytes;

    return used < quota ? (quota - used) / FILE_CLUSTER_BYTES : 0;
}

static void put_volume(const struct query *q, struct wire_writer *w)
{
    struct bytes label = q->request->tree->tree_connect.share;

    wire_put_u64(w, filetime_of(q->share.created));
    wire_put_u32(w, (uint32_t)smb_volume_id(q->request->tree));
    wire_put_u32(w, (uint32_t)bytes_utf16_units(label) * 2);
    wire_put_u16(w, 0); /* SupportsObjects, Reserved */
    wire_put_utf16(w, label);
}

static void put_size(const struct query *q, struct wire_writer *w)
{
    wire_put_u64(w, total_clusters(q));
    wire_put_u64(w, free_clusters(q));
    wire_put_u32(w, SECTORS_PER_CLUSTER);
    wire_put_u32(w, SECTOR_BYTES);
}

static void put_full_size(const struct query *q, struct wire_writer *w)
{
    wire_put_u64(w, total_clusters(q));
    wire_put_u64(w, free_clusters(q));
    wire_put_u64(w, free_clusters(q));
    wire_put_u32(w, SECTORS_PER_CLUSTER);
    wire_put_u32(w, SECTOR_BYTES);
}

#define DEVICE_DISK       0x07u
#define DEVICE_IS_MOUNTED 0x20u

static void put_device(const struct query *q, struct wire_writer *w)
{
    (void)q;
    wire_put_u32(w, DEVICE_DISK);
    wire_put_u32(w, DEVICE_IS_MOUNTED);
}

#define CASE_PRESERVED_NAMES 0x02u
#define UNICODE_ON_DISK      0x04u
#define PERSISTENT_ACLS      0x08u

/* Windows clients expect the features of NTFS; unsupported ones are not set. */
static void put_attributes(const struct query *q, struct wire_writer *w)
{
    static const struct bytes name = BYTES("NTFS");

    (void)q;
    wire_put_u32(w, CASE_PRESERVED_NAMES | UNICODE_ON_DISK | PERSISTENT_ACLS);
    wire_put_u32(w, TREE_NAME_MAX);
    wire_put_u32(w, (uint32_t)name.len * 2);
    wire_put_utf16(w, name);
}

static void put_sector_size(const struct query *q, struct wire_writer *w)
{
    (void)q;
    wire_put_u32(w, SECTOR_BYTES);
    for (int i = 0; i < 3; i++)
        wire_put_u32(w, FILE_CLUSTER_BYTES); /* physical and atomic sector sizes */
    wire_put_zeros(w, 4 + 4 + 4);
}

/* clang-format off */
static const struct info_class share_classes[] = {
    {  1, 24, NO_ACCESS, TAIL,    false, put_volume },      /* FileFsVolumeInformation */
    {  3, 24, NO_ACCESS, NO_TAIL, false, put_size },        /* FileFsSizeInformation */
    {  4,  8, NO_ACCESS, NO_TAIL, false, put_device },      /* FileFsDeviceInformation */
    {  5, 16, NO_ACCESS, TAIL,    false, put_attributes },  /* FileFsAttributeInformation */
    {  7, 32, NO_ACCESS, NO_TAIL, false, put_full_size },   /* FileFsFullSizeInformation */
    { 11, 28, NO_ACCESS, NO_TAIL, false, put_sector_size }, /* FileFsSectorSizeInformation */
};
/* clang-format on */

/* ---- request ---- */

static const struct info_class *find_class(const struct info_class classes[], size_t count,
                                           uint8_t number)
{
    for (size_t i = 0; i < count; i++)
        if (classes[i].number == number)
            return &classes[i];
    return NULL;
}

#define CLASS_FULL_EA         15u
#define CLASS_ALTERNATE_NAME  21u
#define CLASS_NORMALIZED_NAME 48u

/* Returns the status of an unsupported file information class. ms-smb2: 3.3.5.20.1 */
static enum nt_status refuse_class(const struct smb_request *request, uint8_t number)
{
    switch (number) {
    case CLASS_FULL_EA:
        return request->open->handle.granted & MAY_READ_EA ? STATUS_NO_EAS_ON_FILE
                                                           : STATUS_ACCESS_DENIED;
    case CLASS_ALTERNATE_NAME: /* 8.3 names: decision 443 */
        return STATUS_NOT_SUPPORTED;
    default:
        return STATUS_INVALID_INFO_CLASS;
    }
}

static enum smb_step query_file(struct smb_request *request, struct query *q, uint8_t number)
{
    q->class = find_class(file_classes, sizeof file_classes / sizeof file_classes[0], number);
    if (!q->class)
        return smb_refuse(request, refuse_class(request, number));
    if (number == CLASS_NORMALIZED_NAME && request->message->connection->agreed.dialect != SMB_311)
        return smb_refuse(request, STATUS_NOT_SUPPORTED);
    if ((request->open->handle.granted & q->class->access) != q->class->access)
        return smb_refuse(request, STATUS_ACCESS_DENIED);
    if (q->room < q->class->least)
        return smb_refuse(request, STATUS_INFO_LENGTH_MISMATCH);
    q->file.wants_path = q->class->wants_path && request->open->handle.snapshot == 0;
    return smb_decide(request, handle_query_attempt, &q->file);
}

static enum smb_step query_share(struct smb_request *request, struct query *q, uint8_t number)
{
    q->class = find_class(share_classes, sizeof share_classes / sizeof share_classes[0], number);
    if (!q->class)
        return smb_refuse(request, STATUS_INVALID_INFO_CLASS);
    if (q->room < q->class->least)
        return smb_refuse(request, STATUS_INFO_LENGTH_MISMATCH);
    q->share = (struct tree_connect_size){ .tree_connect = &request->tree->tree_connect };
    return smb_decide(request, tree_connect_size_attempt, &q->share);
}

/* Starts a query for a security descriptor. ms-smb2: 3.3.5.20.3 */
static enum smb_step query_descriptor(struct smb_request *request, struct query *q, uint32_t parts)
{
    uint32_t granted = request->open->handle.granted;

    if ((parts & (SECURITY_OWNER | SECURITY_GROUP | SECURITY_DACL | SECURITY_LABEL) &&
         !(granted & MAY_READ_CONTROL)) ||
        (parts & SECURITY_SACL && !(granted & MAY_ACCESS_SACL)))
        return smb_refuse(request, STATUS_ACCESS_DENIED);
    q->file.wants_descriptor = parts & DESCRIPTOR_ALL;
    return smb_decide(request, handle_query_attempt, &q->file);
}

enum smb_step smb_query_info_begin(struct smb_request *request, struct wire_reader *r)
{
    struct query *q = arena_alloc(request->message->arena, sizeof *q);
    uint8_t number;
    uint32_t parts;

    q->request = request;
    q->type = wire_u8(r);
    number = wire_u8(r);
    q->room = wire_u32(r);
    wire_skip(r, 2 + 2 + 4); /* input buffer, used by EAs and quotas only */
    parts = wire_u32(r);
    if (!wire_ok(r) || q->room > SMB_IO_MAX)
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    request->parameters = q;
    q->file = (struct handle_query){ .tree_connect = &request->tree->tree_connect,
                                     .handle = &request->open->handle };
    switch (q->type) {
    case INFO_FILE:
        return query_file(request, q, number);
    case INFO_FILE_SYSTEM:
        return query_share(request, q, number);
    case INFO_SECURITY:
        return query_descriptor(request, q, parts);
    case INFO_QUOTA:
        return smb_refuse(request, STATUS_NOT_SUPPORTED);
    default:
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    }
}

/* ---- response ---- */

/* Security descriptor without any parts. MS-DTYP 2.4.6 */
static const uint8_t no_parts[20] = { 1, 0, 0, CONTROL_SELF_RELATIVE >> 8 };

/* Builds the output in the message's arena. */
static struct bytes render(const struct query *q)
{
    struct text text;
    struct wire_writer w;

    if (!q->class)
        return q->file.wants_descriptor ? q->file.descriptor : bytes_of(no_parts, sizeof no_parts);
    text_init(&text, q->request->message->arena, 256);
    wire_writer_init(&w, &text);
    q->class->put(q, &w);
    assert(q->class->tail == TAIL || text.len == q->class->least);
    return text_bytes(&text);
}

enum smb_step smb_query_info_decided(struct smb_request *request)
{
    struct query *q = request->parameters;

    if (request->error)
        return smb_refuse(request, nt_status_of_handle(request->error));
    if (request->open->handle.snapshot != 0)
        q->file.path = request->open->path;
    open_show_allocated(request->open, &q->file.info);
    q->info = render(q);
    if (q->info.len <= q->room)
        return smb_refuse(request, STATUS_SUCCESS);
    if (q->class) {
        q->info.len = q->room;
        return smb_refuse(request, STATUS_BUFFER_OVERFLOW);
    }
    request->has_body = true;
    return smb_refuse(request, STATUS_BUFFER_TOO_SMALL);
}

/* Writes the required buffer size as error data. ms-smb2: 2.2.2, 2.2.2.1 */
static void put_needed_size(const struct smb_request *request, uint32_t size, struct wire_writer *w)
{
    bool has_contexts = request->message->connection->agreed.dialect == SMB_311;

    wire_put_u16(w, 9);
    wire_put_u8(w, has_contexts);
    wire_put_u8(w, 0);
    wire_put_u32(w, has_contexts ? 12 : 4);
    if (has_contexts) {
        wire_put_u32(w, 4);
        wire_put_u32(w, 0); /* ErrorId: SMB2_ERROR_ID_DEFAULT */
    }
    wire_put_u32(w, size);
}

void smb_query_info_answer(struct smb_request *request, struct wire_writer *w)
{
    const struct query *q = request->parameters;

    if (request->status == STATUS_BUFFER_TOO_SMALL) {
        put_needed_size(request, (uint32_t)q->info.len, w);
        return;
    }
    wire_put_u16(w, 9); /* StructureSize */
    wire_put_u16(w, SMB_HEADER_SIZE + 8);
    wire_put_u32(w, (uint32_t)q->info.len);
    wire_put(w, q->info);
}
