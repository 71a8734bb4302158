/* SPNEGO acceptor: negotiates the mechanism and wraps its tokens. NTLM is the only mechanism.
 * Clients may also send raw NTLM tokens, as the Linux client does; the responses are then raw too.
 *
 *     NegTokenInit(mechanisms, first is NTLM) -> NegTokenResp(NTLM challenge)
 *         -> NegTokenResp(NTLM response) -> done
 *     NegTokenInit(another mechanism first) -> NegTokenResp(NTLM, request-mic)
 *         -> NegTokenResp(NTLM negotiate) -> as above
 *
 * (1) If the client signs the list of mechanisms, the server signs it too. The client must sign it
 *     if NTLM was not its preferred mechanism, which prevents downgrade attacks.
 * rfc: 4178 4, 5; ms-spng: 2.2.1, 3.2.5 */
#ifndef LAGRA_SMB_PROTOCOL_SPNEGO_H
#define LAGRA_SMB_PROTOCOL_SPNEGO_H

#include "smb_protocol/ntlm.h"

/* Maximum size; longer tokens are malformed */
#define SPNEGO_TOKEN_MAX 65535

/* Returns the token of a NEGOTIATE response: NegTokenInit2 with NTLM, and the hint, which clients
 * ignore. */
struct bytes spnego_offer(struct arena *arena);

struct spnego;
/* challenge  NULL for a random one; tests pass their own
 * accounts   outlive the acceptor */
struct spnego *spnego_new(const struct accounts *accounts,
                          const uint8_t challenge[NTLM_CHALLENGE_SIZE]);
void spnego_free(struct spnego *spnego);

/* Processes the client's next token. Must not be called again after a result other than
 * SPNEGO_MORE.
 *
 * now        wall clock
 * ret_token  allocated in the arena, may be empty; set for SPNEGO_MORE and SPNEGO_DONE */
enum spnego_step spnego_step(struct spnego *spnego, struct arena *arena, struct bytes token,
                             instant now, struct bytes *ret_token);

/* Valid after SPNEGO_DONE; the key while the acceptor exists. */
const struct account *spnego_account(const struct spnego *spnego);
struct bytes spnego_session_key(const struct spnego *spnego);

#endif
