/* The asking side of NTLMv2, for tests of the side that is asked: an honest client, and one that
 * lies where a test wants it. ms-nlmp: 3.1.5 */
#ifndef LAGRA_TESTS_INITIATOR_H
#define LAGRA_TESTS_INITIATOR_H

#include "base/arena.h"
#include "smb_protocol/ntlm_keys.h"

struct initiator {
    const char *user, *domain, *password;
    uint32_t flags;         /* that are offered; 0: all that a client of today has */
    bool without_mic;       /* as old clients */
    bool has_no_password;   /* lies: the NT hash of zeros */
    bool short_key;         /* lies: half of a session key */
    bool other_version;     /* lies: a response of version 2 */
    bool odd_flags_pair;    /* an AV pair of flags that has 8 bytes, which mean nothing */
    uint32_t changes_flags; /* lies: bits of the last message's flags that are turned over */
    bool spoils_mic;        /* lies: a wrong code */
    uint16_t response_size; /* lies: so much of the response only; 0: all of it */
    struct bytes negotiate; /* set by initiator_begin() */
    uint8_t session_key[NTLM_KEY_SIZE]; /* set by initiator_answer() */
    uint32_t agreed;                    /* likewise */
};

struct bytes initiator_begin(struct initiator *i, struct arena *arena);
struct bytes initiator_answer(struct initiator *i, struct arena *arena, struct bytes challenge);

#endif
