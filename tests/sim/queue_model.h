/* The Queue service as the reference describes it, for one account with a few queues: what a request
 * must be answered, and what it changes. It shares no code with src/.
 *
 * Queues and messages have versions, one for each commit that changed them, so that an answer can be
 * held against any state that there was while it was under way. Times are the server's instants, which
 * the judge is told (queue_seen.h) and holds against virtual time (queue_clock.h). */
#ifndef LAGRA_SIM_QUEUE_MODEL_H
#define LAGRA_SIM_QUEUE_MODEL_H

#include "queue_ask.h"
#include "request.h"

#define INSTANTS_A_SECOND UINT64_C(10000000)
#define NEVER             UINT64_MAX
#define RECEIPTS_KEPT     4u

/* A version of a message. */
struct message_state {
    struct message_state *older;
    uint64_t since;   /* the commit that made it */
    uint64_t version; /* no other state of any message has it */
    bool exists;
    uint64_t visible; /* from then on */
    unsigned dequeued;
    uint64_t text;
    uint32_t text_length;
};

struct sim_message {
    struct sim_message *next;
    uint64_t incarnation; /* of the queue's messages */
    unsigned char id[MESSAGE_ID_SIZE];
    uint64_t inserted; /* of the clock; all other times as visibility and expiry go */
    uint64_t expires;
    struct message_state *state;
    /* What clients were told, the newest first. */
    struct {
        uint64_t version;
        char text[RECEIPT_SIZE];
    } receipts[RECEIPTS_KEPT];
};

struct sim_queue {
    struct sim_queue *older;
    uint64_t since;
    bool exists;
    uint64_t incarnation; /* of its messages: another one after a clear */
    unsigned metadata;
    unsigned policies[POLICIES];
};

/* Of a commit: what it changed, and where the record engine was behind it. */
struct commit_note {
    unsigned queue; /* QUEUES: all */
    uint64_t sequence;
    uint64_t wall_known; /* how often the wall clock had been set, as far as it knows */
};

struct queue_model {
    struct sim_queue *queues[QUEUES];
    struct sim_message *messages[QUEUES]; /* the newest first */
    uint64_t incarnations, versions;
    struct commit_note *notes; /* by commit */
    size_t notes_max;
    struct page_ask next_pages[CLIENTS_MAX];
};

/* A message as a request shows or leaves it. */
struct shown {
    struct sim_message *message; /* NULL: of a put, not made yet */
    struct message_state state;
    struct message_state *made; /* by queue_apply() */
};

struct queue_expected {
    int status;
    const char *code;         /* NULL: success */
    bool commits, may_commit; /* must; may also without a change that shows */
    struct sim_queue queue;
    bool changes_queue;
    unsigned count;
    struct shown shown[MESSAGES_SHOWN];
    uint64_t expires;                 /* of a put */
    uint64_t shift, shift_later;      /* what times are shown later by, at least and at most */
    uint64_t count_least, count_most; /* of messages */
};

/* Of signatures and of stored policies. */
extern const char *const queue_letters[SAS_LETTERS];

void queue_model_begin(void);
const struct sim_queue *queue_at(unsigned queue, uint64_t commit);
/* NULL: there was none yet. */
const struct message_state *message_at(const struct sim_message *message, uint64_t commit);
struct sim_message *message_of(unsigned queue, const unsigned char *id);

/* Pure. now: the time of the decision, as visibility and expiry go. policies: of the moment that the queue was looked at. */
void queue_expect(const struct ask *ask, uint64_t commit, const unsigned *policies, uint64_t now,
                  struct queue_expected *ret_expected);
/* Makes it the newest state, of the next commit. id: of the message that was put; inserted: its instant */
void queue_apply(const struct ask *ask, struct queue_expected *expected, const unsigned char *id,
                 uint64_t inserted, struct commit_note note);
/* The newest commit in (from, to] that changed what the ask is about; 0: none. */
uint64_t queue_changed_before(const struct ask *ask, uint64_t from, uint64_t to);
/* Returns the newest commit in (from, to] that changed what a list shows of a queue, or 0. */
uint64_t queue_list_changed(unsigned queue, uint64_t from, uint64_t to);
/* Returns the cell of the queue, or 0 if it does not exist. */
unsigned queue_cell_of(unsigned queue);
/* Returns whether the newest queue of the name is in the cell of the calling process (commits.h). */
bool queue_is_here(unsigned queue);
void queue_prune(uint64_t oldest_commit);
void queue_roll_back(uint64_t commit);
/* The commit returns to the state of an older one: of all queues, or of one. */
void queue_return_to(uint64_t older, uint64_t commit, unsigned name);
/* The newest commit that the record engine has. */
uint64_t queue_commit_of(uint64_t sequence);
uint64_t queue_wall_known(uint64_t commit);
/* Notes a step of a move (moves.h). */
void queue_committed_move(void);

/* ---- texts: characters that XML escapes among them ---- */

char queue_text_char(uint64_t seed, uint32_t at);

#endif
