/* NTLMv2, the server's side: authenticates a client by either key of the account that it names.
 * The password is the text of the key, in base64 as the portal shows it. NTLMv1, LM, anonymous
 * and guests are refused.
 *
 *     NEGOTIATE -> CHALLENGE -> AUTHENTICATE: two steps, the second ends it
 *
 * (1) Everything that comes is hostile until the proof is right: parsed with bounds, compared in
 *     constant time.
 * (2) An account that is not there costs what a wrong key costs, and is answered alike.
 * (3) Keys are zeroed when the acceptor is freed. ms-nlmp: 3.2.5 */
#ifndef LAGRA_SMB_NTLM_H
#define LAGRA_SMB_NTLM_H

#include "auth/auth.h"
#include "smb/ntlm_keys.h"

/* How far an authentication is, by this layer or the one above (spnego.h). */
enum spnego_step {
    SPNEGO_MORE,      /* the client has to answer the token: STATUS_MORE_PROCESSING_REQUIRED */
    SPNEGO_DONE,      /* the client is authenticated; there may be a last token */
    SPNEGO_REFUSED,   /* it is not, or by no method that we take: STATUS_LOGON_FAILURE */
    SPNEGO_MALFORMED, /* STATUS_INVALID_PARAMETER */
};

struct ntlm;

/* Does a token begin as NTLM's do? */
bool ntlm_is_token(struct bytes token);

/* accounts   looked up when the client names its own; outlives the acceptor
 * challenge  random */
struct ntlm *ntlm_new(const struct accounts *accounts,
                      const uint8_t challenge[NTLM_CHALLENGE_SIZE]);
void ntlm_free(struct ntlm *ntlm);

/* Takes the client's next token. Not after anything else than SPNEGO_MORE was returned.
 *
 * now        by the wall clock: the challenge has it
 * ret_token  in the arena, set with SPNEGO_MORE */
enum spnego_step ntlm_step(struct ntlm *ntlm, struct arena *arena, struct bytes token, instant now,
                           struct bytes *ret_token);

/* After SPNEGO_DONE. */
const struct account *ntlm_account(const struct ntlm *ntlm);
/* 16 bytes, as long as the acceptor lives. */
struct bytes ntlm_session_key(const struct ntlm *ntlm);
/* Signs, or checks what the client has signed of, the first message of a side: mechListMIC. The
 * check is false when no extended session security was agreed upon. */
void ntlm_sign_as_server(const struct ntlm *ntlm, struct bytes message,
                         uint8_t ret_signature[NTLM_SIGNATURE_SIZE]);
bool ntlm_signed_by_client(const struct ntlm *ntlm, struct bytes message, struct bytes signature);

#endif
