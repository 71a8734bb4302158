/* How an SMB client logs on, and binds a second connection to its session. MS-SMB2 3.2.4.2, 3.2.4.23 */
#include "sm_link_private.h"

#include <string.h>

#include "../unit/smb/initiator.h"
#include "auth/auth.h"
#include "fs_model.h"
#include "smb_session/channels.h"
#include "world.h"

static bool negotiate(struct link *link)
{
    struct guid guid = { { (uint8_t)(link->slot + 1), 2, 3 } };
    struct sm_message answer;
    struct wire_writer w;

    link_write(link, SMB_NEGOTIATE, 1, &w);
    wire_put_u16(&w, 36);
    wire_put_u16(&w, 1);
    wire_put_u16(&w, 1); /* SIGNING_ENABLED */
    wire_put_u16(&w, 0);
    wire_put_u32(&w, 0x7F);
    wire_put_guid(&w, &guid);
    wire_put_zeros(&w, 8);
    wire_put_u16(&w, SMB_302);
    return link_ask(link, &answer) && answer.status == SM_SUCCESS;
}

/* by: signs what binds to a session; NULL: it begins one */
static bool set_up(struct link *link, struct bytes token, const struct signer *by,
                   struct sm_message *ret_answer)
{
    struct wire_writer w;

    link_write(link, SMB_SESSION_SETUP, 1, &w);
    wire_put_u16(&w, 25);
    wire_put_u8(&w, by ? SESSION_BINDS : 0);
    wire_put_zeros(&w, 1 + 4 + 4);
    wire_put_u16(&w, SMB_HEADER_SIZE + 24);
    wire_put_u16(&w, (uint16_t)token.len);
    wire_put_u64(&w, 0);
    wire_put(&w, token);
    if (by)
        signer_sign(by, (uint8_t *)link->text.ptr, link->text.len);
    return link_ask(link, ret_answer);
}

static struct bytes token_of(const struct sm_message *message)
{
    struct wire_reader r;
    uint16_t at, size;

    wire_reader_init(&r, bytes_of(message->bytes, message->size));
    wire_skip(&r, SMB_HEADER_SIZE + 4);
    at = wire_u16(&r);
    size = wire_u16(&r);
    return wire_buffer(&r, at, size, SMB_HEADER_SIZE + 8);
}

static bool log_on(struct link *link, const struct signer *by)
{
    struct initiator initiator = { .user = DEVELOPMENT_ACCOUNT,
                                   .domain = "AZURE",
                                   .password = request_account_key };
    struct sm_message answer;

    if (!set_up(link, initiator_begin(&initiator, link->arena), by, &answer) ||
        answer.status != SM_MORE_PROCESSING)
        return false;
    link->session_id = answer.session_id;
    if (!set_up(link, initiator_answer(&initiator, link->arena, token_of(&answer)), by, &answer))
        return false;
    memcpy(link->session_key, initiator.session_key, sizeof link->session_key);
    return answer.status == SM_SUCCESS;
}

void link_log_on(struct link *link)
{
    if (!negotiate(link) || !log_on(link, NULL))
        world_fail("an SMB client cannot log on");
}

void link_log_on_beside(struct link *link)
{
    link->session_id = 0;
    if (!log_on(link, NULL))
        world_fail("an SMB client cannot log on once more");
}

void link_log_off(struct link *link)
{
    struct sm_message answer;
    struct wire_writer w;

    link_write(link, SMB_LOGOFF, 1, &w);
    wire_put_u16(&w, 4);
    wire_put_u16(&w, 0);
    if (!link_ask(link, &answer) || answer.status != SM_SUCCESS)
        world_fail("an SMB client cannot log off");
}

/* MS-SMB2 3.2.4.23: it signs with the session's key. */
bool link_bind(struct link *link)
{
    struct smb_keys keys;
    struct signer *signer;
    bool is_bound;

    smb_keys_derive(SMB_302, CIPHER_NONE, bytes_of(link->home->session_key, NTLM_KEY_SIZE), NULL,
                    &keys);
    signer = signer_new(SIGNING_AES_CMAC, keys.signing);
    is_bound = negotiate(link);
    link->session_id = link->home->session_id;
    link->tree_id = link->home->tree_id;
    is_bound = is_bound && log_on(link, signer);
    signer_free(signer);
    return is_bound;
}

bool link_connect_tree(struct link *link, uint32_t *ret_status)
{
    static const char path[] = "\\\\server\\" FS_SHARE;
    struct sm_message answer;
    struct wire_writer w;

    link_write(link, SMB_TREE_CONNECT, 1, &w);
    wire_put_u16(&w, 9);
    wire_put_u16(&w, 0);
    wire_put_u16(&w, SMB_HEADER_SIZE + 8);
    wire_put_u16(&w, (uint16_t)(2 * (sizeof path - 1)));
    wire_put_utf16(&w, bytes_of(path, sizeof path - 1));
    *ret_status = SM_IO_ERROR;
    if (!link_ask(link, &answer))
        return false;
    *ret_status = answer.status;
    link->tree_id = answer.tree_id;
    return answer.status == SM_SUCCESS;
}
