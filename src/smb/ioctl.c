/* See ioctl.h. ms-smb2: 2.2.31, 2.2.32, 3.3.5.15; MS-FSCC 2.3 */
#include "smb/ioctl.h"

#include "base/address.h"
#include "handles/handle_io.h"
#include "handles/tree_connect.h"
#include "smb_session/negotiate.h"
#include "smb_session/service.h"

#define FLAG_IS_FSCTL   0x00000001u
#define ANSWER_FIXED    48u
#define SNAPSHOT_UNITS  25u /* "@GMT-2026.01.31-23.59.59" and its terminator */
#define SNAPSHOTS_FIXED 12u

/* ---- FSCTLs without an open ---- */

/* Closes the connection if the negotiation was tampered with. In 3.1.1 the request itself is an
 * error, because the preauthentication hash already detects tampering. ms-smb2: 3.3.5.15.12 */
static enum smb_step validate_negotiate(struct smb_request *request, struct ioctl *ioctl)
{
    struct smb_connection *connection = request->message->connection;
    const struct smb_agreement *agreed = &connection->agreed;
    struct text text;
    struct wire_reader r;
    struct wire_writer w;
    struct guid guid;
    uint32_t capabilities;
    uint16_t mode, count;
    struct bytes dialects;

    wire_reader_init(&r, ioctl->input);
    capabilities = wire_u32(&r);
    guid = wire_guid(&r);
    mode = wire_u16(&r);
    count = wire_u16(&r);
    dialects = wire_bytes(&r, (size_t)count * 2);
    if (!wire_ok(&r) || agreed->dialect == SMB_311 || capabilities != agreed->client_capabilities ||
        !guid_equal(&guid, &agreed->client_guid) || mode != agreed->client_security_mode ||
        negotiate_dialect(dialects) != agreed->dialect) {
        smb_break(
            connection,
            "the negotiation was tampered with: client and server disagree on its parameters");
        return smb_refuse(request, STATUS_ACCESS_DENIED);
    }
    if (ioctl->output_max < 24)
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    text_init(&text, request->message->arena, 24);
    wire_writer_init(&w, &text);
    wire_put_u32(&w, agreed->capabilities);
    wire_put_guid(&w, &connection->service->guid);
    wire_put_u16(&w, agreed->security_mode);
    wire_put_u16(&w, (uint16_t)agreed->dialect);
    ioctl->output = text_bytes(&text);
    return smb_refuse(request, STATUS_SUCCESS);
}

/* ---- FSCTL_QUERY_NETWORK_INTERFACE_INFO ---- */

#define INTERFACE_SIZE 152u
#define STORAGE_SIZE   128u
#define RSS_CAPABLE    0x1u
#define FAMILY_IPV4    0x0002u
#define FAMILY_IPV6    0x0017u
/* bits per second; irrelevant, as there is only one interface */
#define LINK_SPEED     UINT64_C(10000000000)

static void put_address(struct wire_writer *w, const uint8_t address[16])
{
    bool is_ipv4 = address_is_v4(address);
    size_t from = is_ipv4 ? ADDRESS_V4_BEGIN : 0;

    wire_put_u16(w, is_ipv4 ? FAMILY_IPV4 : FAMILY_IPV6);
    wire_put_zeros(w, is_ipv4 ? 2 : 2 + 4); /* Port, FlowInfo */
    wire_put(w, bytes_of(address + from, 16 - from));
    wire_put_zeros(w, STORAGE_SIZE - (is_ipv4 ? 4 + 4 : 8 + 16));
}

/* Returns the address that the client is connected to, with the RSS capability, so that clients
 * open further channels to it, as with Azure's shares. ms-smb2: 2.2.32.5, 3.3.5.15.11 */
static enum smb_step interfaces_begin(struct smb_request *request, struct ioctl *ioctl)
{
    const struct smb_connection *connection = request->message->connection;
    struct wire_writer w;
    struct text text;

    if (!(connection->agreed.capabilities & SMB_CAP_MULTI_CHANNEL))
        return smb_refuse(request, STATUS_NOT_SUPPORTED);
    if (ioctl->output_max < INTERFACE_SIZE)
        return smb_refuse(request, STATUS_BUFFER_TOO_SMALL);
    text_init(&text, request->message->arena, INTERFACE_SIZE);
    wire_writer_init(&w, &text);
    wire_put_u32(&w, 0); /* Next */
    wire_put_u32(&w, 1); /* IfIndex */
    wire_put_u32(&w, RSS_CAPABLE);
    wire_put_u32(&w, 0);
    wire_put_u64(&w, LINK_SPEED);
    put_address(&w, connection->host->local);
    ioctl->output = text_bytes(&text);
    return smb_refuse(request, STATUS_SUCCESS);
}

/* ---- share snapshots as previous versions: ms-smb2 3.3.5.15.1 ---- */

static enum smb_step snapshots_begin(struct smb_request *request, struct ioctl *ioctl)
{
    struct tree_connect_snapshots *snapshots =
        arena_alloc(request->message->arena, sizeof *snapshots);

    if (ioctl->output_max < SNAPSHOTS_FIXED + 4)
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    snapshots->tree_connect = &request->tree->tree_connect;
    ioctl->parameters = snapshots;
    return smb_decide(request, tree_connect_snapshots_attempt, snapshots);
}

/* Writes the names, newest first, from the digits of "2026-01-31T23:59:59..". */
static void put_names(struct wire_writer *w, const struct tree_connect_snapshots *snapshots)
{
    for (size_t i = snapshots->count; i > 0; i--) {
        char iso[INSTANT_ISO_SIZE];

        instant_format_iso(snapshots->dates[i - 1], iso);
        wire_put_utf16(w, arena_printf(w->out->arena, "@GMT-%.4s.%.2s.%.2s-%.2s.%.2s.%.2s", iso,
                                       iso + 5, iso + 8, iso + 11, iso + 14, iso + 17));
        wire_put_u16(w, 0);
    }
    wire_put_u16(w, 0);
}

/* Returns the names, or only the required size if they do not fit. */
static enum smb_step snapshots_decided(struct smb_request *request, struct ioctl *ioctl)
{
    const struct tree_connect_snapshots *snapshots = ioctl->parameters;
    uint32_t size = (uint32_t)snapshots->count * SNAPSHOT_UNITS * 2 + 2;
    bool fits = SNAPSHOTS_FIXED + size <= ioctl->output_max;
    struct wire_writer w;
    struct text text;

    if (request->error)
        return smb_refuse(request, nt_status_of_handle(request->error));
    text_init(&text, request->message->arena, SNAPSHOTS_FIXED + size);
    wire_writer_init(&w, &text);
    wire_put_u32(&w, (uint32_t)snapshots->count);
    wire_put_u32(&w, fits ? (uint32_t)snapshots->count : 0);
    wire_put_u32(&w, size);
    if (fits)
        put_names(&w, snapshots);
    else
        wire_put_zeros(&w, 4);
    ioctl->output = text_bytes(&text);
    return smb_refuse(request, STATUS_SUCCESS);
}

/* ---- FSCTL_SET_ZERO_DATA: MS-FSCC 2.3.67 ---- */

static enum smb_step zero_begin(struct smb_request *request, struct ioctl *ioctl)
{
    struct handle_zero *zero = arena_alloc(request->message->arena, sizeof *zero);
    struct wire_reader r;

    wire_reader_init(&r, ioctl->input);
    zero->tree_connect = &request->tree->tree_connect;
    zero->handle = &request->open->handle;
    zero->offset = wire_u64(&r);
    zero->end = wire_u64(&r);
    if (!wire_ok(&r) || zero->offset > zero->end || zero->end > INT64_MAX)
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    if (!(request->open->handle.granted & MAY_WRITE_DATA))
        return smb_refuse(request, STATUS_ACCESS_DENIED);
    request->lasting = LASTING;
    ioctl->parameters = zero;
    return smb_decide(request, handle_zero_attempt, zero);
}

static enum smb_step zero_decided(struct smb_request *request, struct ioctl *ioctl)
{
    const struct handle_zero *zero = ioctl->parameters;

    if (!request->error) {
        request->open->handle.times = zero->times;
        request->open->has_written = true;
    }
    return smb_refuse(request, nt_status_of_handle(request->error));
}

/* ---- tables ---- */

static const struct smb_control controls[] = {
    { 0x00140204, "FSCTL_VALIDATE_NEGOTIATE_INFO", validate_negotiate, NULL, NULL, NULL, NULL },
    { 0x00144064, "FSCTL_SRV_ENUMERATE_SNAPSHOTS", snapshots_begin, snapshots_decided, NULL, NULL,
      NULL },
    { 0x001401FC, "FSCTL_QUERY_NETWORK_INTERFACE_INFO", interfaces_begin, NULL, NULL, NULL, NULL },
    { 0x00140078, "FSCTL_SRV_REQUEST_RESUME_KEY", resume_key_begin, NULL, NULL, NULL, NULL },
    { 0x001440F2, "FSCTL_SRV_COPYCHUNK", copy_chunk_begin, copy_chunk_decided, copy_chunk_go_on,
      copy_chunk_load, copy_chunk_over },
    { 0x001480F2, "FSCTL_SRV_COPYCHUNK_WRITE", copy_chunk_begin, copy_chunk_decided,
      copy_chunk_go_on, copy_chunk_load, copy_chunk_over },
    { 0x000980C8, "FSCTL_SET_ZERO_DATA", zero_begin, zero_decided, NULL, NULL, NULL },
    { FSCTL_DFS_GET_REFERRALS, "FSCTL_DFS_GET_REFERRALS", dfs_referrals_begin, NULL,
      dfs_referrals_go_on, dfs_referrals_load, NULL },
    { FSCTL_DFS_GET_REFERRALS_EX, "FSCTL_DFS_GET_REFERRALS_EX", dfs_referrals_begin, NULL,
      dfs_referrals_go_on, dfs_referrals_load, NULL },
};

/* FSCTLs that clients send but the server does not support. Others get
 * STATUS_INVALID_DEVICE_REQUEST. */
static const struct {
    uint32_t code;
    enum nt_status status;
} refused[] = {
    { 0x00110018, STATUS_NOT_SUPPORTED },       /* FSCTL_PIPE_WAIT */
    { 0x0011C017, STATUS_NOT_SUPPORTED },       /* FSCTL_PIPE_TRANSCEIVE */
    { 0x001441BB, STATUS_HASH_NOT_SUPPORTED },  /* FSCTL_SRV_READ_HASH */
    { 0x000900A8, STATUS_NOT_A_REPARSE_POINT }, /* FSCTL_GET_REPARSE_POINT */
};

static enum nt_status refusal(uint32_t code)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (refused[i].code == code)
            return refused[i].status;
    return STATUS_INVALID_DEVICE_REQUEST;
}

/* Returns whether the FSCTL is sent without an open. All others need one, supported or not.
 * ms-smb2: 3.3.5.15 */
static bool is_of_connection(uint32_t code)
{
    static const uint32_t codes[] = {
        0x00140204, /* FSCTL_VALIDATE_NEGOTIATE_INFO */
        FSCTL_DFS_GET_REFERRALS,
        FSCTL_DFS_GET_REFERRALS_EX,
        0x001401FC, /* FSCTL_QUERY_NETWORK_INTERFACE_INFO */
        0x00110018, /* FSCTL_PIPE_WAIT */
    };

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i] == code)
            return true;
    return false;
}

static const struct smb_control *find_control(uint32_t code)
{
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++)
        if (controls[i].code == code)
            return &controls[i];
    return NULL;
}

/* ---- command ---- */

static bool read_fixed(struct wire_reader *r, struct ioctl *ioctl, uint32_t *ret_flags)
{
    uint32_t input_at, input_size, input_max;

    wire_skip(r, 2);
    ioctl->code = wire_u32(r);
    ioctl->persistent = wire_u64(r);
    ioctl->volatile_id = wire_u64(r);
    input_at = wire_u32(r);
    input_size = wire_u32(r);
    input_max = wire_u32(r);
    wire_skip(r, 4 + 4); /* OutputOffset, OutputCount */
    ioctl->output_max = wire_u32(r);
    *ret_flags = wire_u32(r);
    ioctl->input = wire_buffer(r, input_at, input_size, SMB_HEADER_SIZE + 56);
    return wire_ok(r) && input_max <= SMB_IO_MAX && ioctl->output_max <= SMB_IO_MAX;
}

enum smb_step smb_ioctl_begin(struct smb_request *request, struct wire_reader *r)
{
    struct ioctl *ioctl = arena_alloc(request->message->arena, sizeof *ioctl);
    enum nt_status status;
    uint32_t flags;

    if (!read_fixed(r, ioctl, &flags))
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    if (flags != FLAG_IS_FSCTL)
        return smb_refuse(request, STATUS_NOT_SUPPORTED);
    ioctl->control = find_control(ioctl->code);
    if (!is_of_connection(ioctl->code)) {
        status = request_find_open(request, 8);
        if (status)
            return smb_refuse(request, status);
    }
    if (!ioctl->control)
        return smb_refuse(request, refusal(ioctl->code));
    request->parameters = ioctl;
    return ioctl->control->begin(request, ioctl);
}

enum smb_step smb_ioctl_decided(struct smb_request *request)
{
    struct ioctl *ioctl = request->parameters;

    return ioctl->control->decided(request, ioctl);
}

enum smb_step smb_ioctl_go_on(struct smb_request *request)
{
    struct ioctl *ioctl = request->parameters;

    return ioctl->control->go_on(request, ioctl);
}

void smb_ioctl_load(struct smb_request *request)
{
    struct ioctl *ioctl = request->parameters;

    ioctl->control->load(ioctl);
}

void smb_ioctl_over(struct smb_request *request)
{
    struct ioctl *ioctl = request->parameters;

    if (ioctl->control->over)
        ioctl->control->over(ioctl);
}

void smb_ioctl_answer(struct smb_request *request, struct wire_writer *w)
{
    const struct ioctl *ioctl = request->parameters;

    wire_put_u16(w, 49); /* StructureSize */
    wire_put_u16(w, 0);
    wire_put_u32(w, ioctl->code);
    wire_put_u64(w, ioctl->persistent);
    wire_put_u64(w, ioctl->volatile_id);
    wire_put_u32(w, SMB_HEADER_SIZE + ANSWER_FIXED);
    wire_put_u32(w, 0); /* InputCount */
    wire_put_u32(w, SMB_HEADER_SIZE + ANSWER_FIXED);
    wire_put_u32(w, (uint32_t)ioctl->output.len);
    wire_put_u32(w, 0);
    wire_put_u32(w, 0);
    wire_put(w, ioctl->output);
    if (ioctl->output.len == 0)
        wire_put_u8(w, 0);
}
