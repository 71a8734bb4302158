/* NTLMv2 computations: pure functions. The caller zeroes keys. ms-nlmp: 3.3.2, 3.4 */
#ifndef LAGRA_SMB_PROTOCOL_NTLM_KEYS_H
#define LAGRA_SMB_PROTOCOL_NTLM_KEYS_H

#include "base/bytes.h"

#define NTLM_HASH_SIZE         16
#define NTLM_KEY_SIZE          16
#define NTLM_CHALLENGE_SIZE    8
#define NTLM_PROOF_SIZE        16
#define NTLM_MIC_SIZE          16
#define NTLM_SIGNATURE_SIZE    16

/* NEGOTIATE flags. ms-nlmp: 2.2.2.5 */
#define NTLM_UNICODE           0x00000001u
#define NTLM_REQUEST_TARGET    0x00000004u
#define NTLM_SIGN              0x00000010u
#define NTLM_SEAL              0x00000020u
#define NTLM_NTLM              0x00000200u
#define NTLM_ANONYMOUS         0x00000800u
#define NTLM_ALWAYS_SIGN       0x00008000u
#define NTLM_TARGET_IS_SERVER  0x00020000u
#define NTLM_EXTENDED_SECURITY 0x00080000u
#define NTLM_TARGET_INFO       0x00800000u
#define NTLM_VERSION           0x02000000u
#define NTLM_128               0x20000000u
#define NTLM_KEY_EXCHANGE      0x40000000u
#define NTLM_56                0x80000000u

/* Computes NTOWFv2, the key of a user in a domain, from the NT hash of the password. user, domain:
 * UTF-16LE as received */
void ntlm_user_key(const uint8_t hash[NTLM_HASH_SIZE], struct bytes user, struct bytes domain,
                   uint8_t ret_key[NTLM_KEY_SIZE]);
/* Computes NTProofStr over the server's challenge and the part of the response after the proof. */
void ntlm_proof(const uint8_t user_key[NTLM_KEY_SIZE], const uint8_t challenge[NTLM_CHALLENGE_SIZE],
                struct bytes blob, uint8_t ret_proof[NTLM_PROOF_SIZE]);
/* Computes SessionBaseKey, which is the KeyExchangeKey in NTLMv2. */
void ntlm_base_key(const uint8_t user_key[NTLM_KEY_SIZE], const uint8_t proof[NTLM_PROOF_SIZE],
                   uint8_t ret_key[NTLM_KEY_SIZE]);
/* Decrypts the session key sent by the client, or encrypts it: RC4 is its own inverse. */
void ntlm_exchange_key(const uint8_t base_key[NTLM_KEY_SIZE], const uint8_t sent[NTLM_KEY_SIZE],
                       uint8_t ret_key[NTLM_KEY_SIZE]);
/* Computes the MIC over the three messages of an authentication as sent, with the MIC field of the
 * third set to zeros. */
void ntlm_mic(const uint8_t session_key[NTLM_KEY_SIZE], const struct bytes messages[3],
              uint8_t ret_mic[NTLM_MIC_SIZE]);

enum ntlm_sender { NTLM_CLIENT, NTLM_SERVER };
/* Computes GSS_GetMIC for a sender's first message (sequence number 0), with extended session
 * security. flags: as negotiated; they select the key strength and whether the signature is
 * encrypted */
void ntlm_sign(const uint8_t session_key[NTLM_KEY_SIZE], uint32_t flags, enum ntlm_sender sender,
               struct bytes message, uint8_t ret_signature[NTLM_SIGNATURE_SIZE]);

#endif
