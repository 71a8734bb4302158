/* FSCTL_QUERY_NETWORK_INTERFACE_INFO: returns the address that the client is connected to, with the
 * RSS capability, so that clients open further channels to it, as with Azure's shares. ms-smb2:
 * 2.2.32.5, 3.3.5.15.11 */
#include "base/address.h"
#include "smb/ioctl.h"
#include "smb/negotiate.h"

#define INFO_SIZE    152u
#define STORAGE_SIZE 128u
#define RSS_CAPABLE  0x1u
#define FAMILY_IPV4  0x0002u
#define FAMILY_IPV6  0x0017u
/* bits per second; irrelevant, as there is only one interface */
#define LINK_SPEED   UINT64_C(10000000000)

static void put_address(struct wire_writer *w, const uint8_t address[16])
{
    bool is_ipv4 = address_is_v4(address);
    size_t from = is_ipv4 ? ADDRESS_V4_BEGIN : 0;

    wire_put_u16(w, is_ipv4 ? FAMILY_IPV4 : FAMILY_IPV6);
    wire_put_zeros(w, is_ipv4 ? 2 : 2 + 4); /* Port, FlowInfo */
    wire_put(w, bytes_of(address + from, 16 - from));
    wire_put_zeros(w, STORAGE_SIZE - (is_ipv4 ? 4 + 4 : 8 + 16));
}

enum smb_step interfaces_begin(struct smb_request *request, struct ioctl *ioctl)
{
    const struct smb_connection *connection = request->message->connection;
    struct wire_writer w;
    struct text text;

    if (!(connection->agreed.capabilities & SMB_CAP_MULTI_CHANNEL))
        return smb_refuse(request, STATUS_NOT_SUPPORTED);
    if (ioctl->output_max < INFO_SIZE)
        return smb_refuse(request, STATUS_BUFFER_TOO_SMALL);
    text_init(&text, request->message->arena, INFO_SIZE);
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
