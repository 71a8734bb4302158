/* SPNEGO, the side that is asked: which method, and its tokens in their wrapping. NTLM is the
 * only method; a client may also send its tokens as they are (the Linux client does), and is
 * answered so.
 *
 *     NegTokenInit(methods, NTLM's first) -> NegTokenResp(NTLM's challenge) -> NegTokenResp(its
 *     answer) -> done NegTokenInit(another method first)  -> NegTokenResp(NTLM, request-mic) ->
 *     ..(NTLM's first) -> as above
 *
 * (1) The list of methods is signed by both sides when the client signs it; it has to when the
 *     method is not the one that it preferred, so that a man in the middle cannot remove better
 *     ones. rfc: 4178 5 rfc: 4178 4; ms-spng: 2.2.1, 3.2.5 */
#ifndef LAGRA_SMB_SPNEGO_H
#define LAGRA_SMB_SPNEGO_H

#include "smb/ntlm.h"

/* A longer token is malformed. */
#define SPNEGO_TOKEN_MAX 65535

/* What the answer to NEGOTIATE offers: NegTokenInit2 with NTLM, and the hint that nobody reads. */
struct bytes spnego_offer(struct arena *arena);

struct spnego;
/* challenge  what the client has to prove over; NULL but in tests: random
 * accounts   outlives it */
struct spnego *spnego_new(const struct accounts *accounts,
                          const uint8_t challenge[NTLM_CHALLENGE_SIZE]);
void spnego_free(struct spnego *spnego);

/* Takes the client's next token. Not after anything else than SPNEGO_MORE was returned.
 *
 * now        by the wall clock
 * ret_token  in the arena, or empty; set with SPNEGO_MORE and SPNEGO_DONE */
enum spnego_step spnego_step(struct spnego *spnego, struct arena *arena, struct bytes token,
                             instant now, struct bytes *ret_token);

/* After SPNEGO_DONE; the key lives as long as the acceptor. */
const struct account *spnego_account(const struct spnego *spnego);
struct bytes spnego_session_key(const struct spnego *spnego);

#endif
