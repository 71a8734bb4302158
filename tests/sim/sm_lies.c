/* See sm_lies.h. */
#include "sm_lies.h"

#include "sm_forms.h"
#include "sm_link_private.h"
#include "sm_script.h"
#include "smb_session/channels.h"
#include "world.h"

#define RUNS                    5u  /* one in RUNS has lies, */
#define ONCE_IN                 12u /* before one request in ONCE_IN */
#define FLAGS_AT                16u /* MS-SMB2 2.2.1.2 */
#define SIGNATURE_AT            48u
#define SIGNATURE_BITS          128u
#define SM_SESSION_DELETED      0xC0000203u
#define SM_NETWORK_NAME_DELETED 0xC00000C9u
#define SM_DUPLICATE_OBJECTID   0xC000022Au

enum lie {
    OF_SIGNATURE,
    OF_SESSION,
    OF_TREE,
    OF_HANDLE,
    OF_PERSISTENT_ID,
    OF_TREE_BESIDE, /* of the connection's first session, asked for by its second */
    OF_HANDLE_BESIDE,
    OF_CREATE, /* the GUID of an open that was made long ago, for another one */
    LIES
};

static const uint32_t refusals[LIES] = {
    [OF_SIGNATURE] = SM_ACCESS_DENIED,   [OF_SESSION] = SM_SESSION_DELETED,
    [OF_TREE] = SM_NETWORK_NAME_DELETED, [OF_HANDLE] = SM_FILE_CLOSED,
    [OF_PERSISTENT_ID] = SM_FILE_CLOSED, [OF_TREE_BESIDE] = SM_NETWORK_NAME_DELETED,
    [OF_HANDLE_BESIDE] = SM_FILE_CLOSED, [OF_CREATE] = SM_DUPLICATE_OBJECTID,
};

static bool is_lying[CLIENTS_MAX];

bool sm_is_lying(unsigned slot)
{
    return is_lying[slot];
}

/* Returns a request that would change something if the server carried it out. */
static struct sm_ask ask_of(unsigned random, const struct sm_handle *handle,
                            const struct fs_path *path)
{
    static const enum sm_op ops[] = { SM_CLOSE, SM_SET_DELETE, SM_WRITE, SM_SET_LENGTH };
    struct sm_ask ask = { .op = SM_OPEN,
                          .path = *path,
                          .disposition = SM_OPEN_IF,
                          .kind = SM_FILE,
                          .access = MAY_RWD,
                          .share = MAY_RWD,
                          .seed = 1,
                          .to = 1,
                          .deletes = true };

    if (handle->open == 0)
        return ask;
    ask.op = ops[random % 4];
    ask.handle = *handle;
    return ask;
}

/* Signs the message with the session's key and flips one bit of the signature. */
static void sign_wrongly(struct link *link, unsigned random)
{
    struct smb_keys keys;
    struct signer *signer;
    uint8_t *message = (uint8_t *)link->text.ptr;
    unsigned bit = random % SIGNATURE_BITS;

    smb_keys_derive(SMB_302, CIPHER_NONE, bytes_of(link->session_key, NTLM_KEY_SIZE), NULL, &keys);
    signer = signer_new(SIGNING_AES_CMAC, keys.signing);
    message[FLAGS_AT] |= SMB_FLAG_SIGNED;
    signer_sign(signer, message, link->text.len);
    signer_free(signer);
    message[SIGNATURE_AT + bit / 8] ^= (uint8_t)(1u << bit % 8);
}

static void tell(struct link *link, enum lie lie, unsigned random, const struct sm_ask *ask)
{
    struct sm_message answer;
    struct wire_writer w;

    link_write(link, sm_form_command(ask->op), 1, &w);
    sm_form_put(&w, ask);
    if (lie == OF_SIGNATURE)
        sign_wrongly(link, random);
    if (world->plan.verbose)
        world_say("%.6f client %u lies: %d, command %u", (double)world->now_ns / 1e9, link->slot,
                  lie, sm_form_command(ask->op));
    is_lying[link->slot] = true;
    if (!link_ask(link, &answer))
        world_fail("lie %d of client %u ends its connection", lie, link->slot);
    is_lying[link->slot] = false;
    if (answer.status != refusals[lie])
        world_fail("lie %d of client %u, command %u, is answered %08X", lie, link->slot,
                   answer.command, answer.status);
}

/* Returns the id of another client's session, or an unknown one if there is no other client. */
static uint64_t other_session(const struct link *link)
{
    for (unsigned i = 0; i < world->plan.clients; i++)
        if (i != link->slot && link_at(i)->machine && link_at(i)->session_id > 0)
            return link_at(i)->session_id;
    return link->session_id + 1;
}

/* Sends the lie by a second session of the connection, which then logs off. */
static void lie_beside(struct link *link, enum lie lie, const struct sm_ask *ask)
{
    uint64_t session_id = link->session_id;
    uint32_t tree_id = link->tree_id, status;
    uint8_t key[NTLM_KEY_SIZE];

    memcpy(key, link->session_key, sizeof key);
    link_log_on_beside(link);
    if (lie == OF_TREE_BESIDE || link_connect_tree(link, &status))
        tell(link, lie, 0, ask);
    link_log_off(link);
    link->session_id = session_id;
    link->tree_id = tree_id;
    memcpy(link->session_key, key, sizeof key);
}

void sm_lie_before(unsigned slot, const struct sm_ask *asked)
{
    struct link *link = link_at(slot);
    unsigned random = asked->seed / ONCE_IN;
    enum lie lie = (enum lie)(random / 64 % LIES);
    struct sm_handle handle = sm_script_handle(slot, lie == OF_HANDLE, random);
    uint64_t session_id = link->session_id;
    uint32_t tree_id = link->tree_id;
    struct sm_ask ask;

    if (world->plan.seed % RUNS != 2 || asked->seed % ONCE_IN > 0 || link->is_cut)
        return;
    ask = ask_of(random, &handle, &asked->path);
    if (lie == OF_CREATE) {
        ask = ask_of(random, &(struct sm_handle){ .open = 0 }, &asked->path);
        ask.create = sm_script_create(slot, random);
        ask.is_durable = true;
        if (ask.create > 0)
            tell(link, lie, random, &ask);
        return;
    }
    if (handle.open == 0 &&
        (lie == OF_HANDLE || lie == OF_PERSISTENT_ID || lie == OF_HANDLE_BESIDE))
        return;
    handle.persistent += lie == OF_PERSISTENT_ID;
    ask = ask_of(random, &handle, &asked->path);
    if (lie == OF_TREE_BESIDE || lie == OF_HANDLE_BESIDE) {
        lie_beside(link, lie, &ask);
        return;
    }
    if (lie == OF_SESSION)
        link->session_id = other_session(link);
    if (lie == OF_TREE)
        link->tree_id += 1 + random % 2;
    tell(link, lie, random, &ask);
    link->session_id = session_id;
    link->tree_id = tree_id;
}
