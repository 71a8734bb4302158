/* NTLMv2 acceptor: authenticates a client with either key of the account it names. The password is
 * the base64 text of the key, as the portal shows it. NTLMv1, LM, anonymous and guest logons are
 * rejected.
 *
 *     NEGOTIATE -> CHALLENGE -> AUTHENTICATE: two steps, the second is the last
 *
 * (1) All input is hostile until the proof has been verified: it is parsed with bounds checks and
 *     compared in constant time.
 * (2) An unknown account takes as long as a wrong key and gets the same response.
 * (3) Keys are zeroed when the acceptor is freed. ms-nlmp: 3.2.5 */
#ifndef LAGRA_SMB_PROTOCOL_NTLM_H
#define LAGRA_SMB_PROTOCOL_NTLM_H

#include "auth/auth.h"
#include "smb_protocol/ntlm_keys.h"

/* Result of an authentication step of NTLM or SPNEGO (spnego.h). */
enum spnego_step {
    SPNEGO_MORE,      /* the client must continue: STATUS_MORE_PROCESSING_REQUIRED */
    SPNEGO_DONE,      /* authenticated; SPNEGO may have a last token */
    SPNEGO_REFUSED,   /* not authenticated, or no supported mechanism: STATUS_LOGON_FAILURE */
    SPNEGO_MALFORMED, /* STATUS_INVALID_PARAMETER */
};

struct ntlm;

/* Returns whether the token starts with the NTLM signature. */
bool ntlm_is_token(struct bytes token);

/* accounts   looked up by the name the client sends; outlives the acceptor
 * challenge  random */
struct ntlm *ntlm_new(const struct accounts *accounts,
                      const uint8_t challenge[NTLM_CHALLENGE_SIZE]);
void ntlm_free(struct ntlm *ntlm);

/* Processes the client's next token. Must not be called again after a result other than
 * SPNEGO_MORE.
 *
 * now        wall clock, sent in the challenge
 * ret_token  allocated in the arena; set for SPNEGO_MORE */
enum spnego_step ntlm_step(struct ntlm *ntlm, struct arena *arena, struct bytes token, instant now,
                           struct bytes *ret_token);

/* Valid after SPNEGO_DONE. */
const struct account *ntlm_account(const struct ntlm *ntlm);
/* 16 bytes, valid while the acceptor exists. */
struct bytes ntlm_session_key(const struct ntlm *ntlm);
/* Signs the server's first message, and verifies the client's (mechListMIC). Verification fails
 * unless extended session security was negotiated. */
void ntlm_sign_as_server(const struct ntlm *ntlm, struct bytes message,
                         uint8_t ret_signature[NTLM_SIGNATURE_SIZE]);
bool ntlm_signed_by_client(const struct ntlm *ntlm, struct bytes message, struct bytes signature);

#endif
