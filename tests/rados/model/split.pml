/* A split of a shard beside commits, locks and reads. Design of the store on RADOS, 5.9.
 *
 * One partition moves from a shard (0) to a new one (1); what stays is not modelled, since every op
 * compares the bounds row and nothing else of it. The partition has three rows:
 *   ROW_HEADER  version, and a lock in its lowest bit
 *   ROW_RECORD  changed with the header in one op: equal to it, or the reader sees half
 *   ROW_SLOT    'X': names the partition while it is locked
 * Copies go row by row, in ops of their own. Two splitters run the same machine, at any pace: one may
 * stop anywhere for ever, and the other take over while the first is only slow.
 *
 * Checked: each acknowledged commit is in the shard that serves the partition at the end and in every
 * read that began after it; rows are never seen halved; a reader and a writer always find the
 * partition; at the end the slots are empty, so that nobody is blocked for ever.
 *
 * Rules, each left out by its name: run.mjs. */

#ifndef WRITERS
#define WRITERS 0
#endif
#ifndef PARTICIPANTS
#define PARTICIPANTS 0
#endif
#ifndef READERS
#define READERS 0
#endif

#define PARENT 0
#define CHILD  1

#define ROW_HEADER 0
#define ROW_RECORD 1
#define ROW_SLOT   2
#define ROWS       3

/* States of a bounds row; the epoch is below them, so that its bytes never return. */
#define LIVE      1
#define SPLITTING 2
#define FROZEN    3
#define CLEANING  4
#define FILLING   5
#define DONE      6 /* live again, without what moved */

#define NO_ROW 0

#define VERSION(h) ((h) >> 1)
#define LOCK       1
#define NO_TOKEN   0

typedef shard {
    byte state;
    byte token;  /* while it is filled: of the splitter that fills it */
    byte copied; /* 'B': so many rows have been */
    byte row[ROWS];
}
shard shards[2];
byte mark[ROWS];   /* 'D' rows of the parent: changes while it is split */
byte marks;        /* the last that was drawn; the product draws 8 random bytes */
byte acknowledged = 1; /* version */
byte ended;
byte serving;      /* for the assertions: the shard that serves the partition */

#define STATE(s) shards[s].state
#define ROW(s, r) shards[s].row[r]

#ifdef DROP_LOG
#define LOG(r)
#else
#ifdef CONSTANT_MARKS
#define LOG(r) mark[r] = 1
#else
#define LOG(r) marks++; mark[r] = marks
#endif
#endif

/* Sets a row in an op on a shard, logged while the shard is split. */
#define SET(s, r, value)                                                                           \
    ROW(s, r) = value;                                                                             \
    if                                                                                             \
    :: s == PARENT && STATE(PARENT) == SPLITTING -> LOG(r)                                         \
    :: else                                                                                        \
    fi

/* ---- routing: a cached state of the bounds row, read again after a refusal ---- */

/* Sets `at` and `state`, in one step with what follows. A cache of it may be as old as it likes: it is
 * used in a later step. */
inline route()
{
    state = STATE(PARENT);
    if
    :: state == CLEANING || state == DONE -> at = CHILD; state = STATE(CHILD)
    :: else -> at = PARENT
    fi;
    assert(state != FILLING && state != 0)
}

#ifdef OP_WITHOUT_BOUNDS
#define OP_BOUNDS true
#else
#define OP_BOUNDS STATE(at) == state
#endif
#ifdef READ_WITHOUT_BOUNDS
#define READ_BOUNDS true
#else
#define READ_BOUNDS STATE(at) == state
#endif
/* Who would write waits while the shard is frozen. */
#ifdef WRITE_WHILE_FROZEN
#define THAWED true
#else
#define THAWED STATE(PARENT) != FROZEN
#endif

/* A read that is routed and compared with the bounds row, for an op that will be. */
inline look()
{
    atomic { THAWED -> route(); read = ROW(at, ROW_HEADER) }
}

/* A commit: header and record get the next version. */
proctype Writer()
{
    byte at, state, read;

    do
    :: look();
       atomic {
           if
           :: OP_BOUNDS && ROW(at, ROW_HEADER) == read && !(read & LOCK) ->
              SET(at, ROW_HEADER, read + 2);
              SET(at, ROW_RECORD, VERSION(read + 2));
              assert(VERSION(read + 2) == acknowledged + 1);
              acknowledged = VERSION(read + 2);
              break
           :: else
           fi
       }
    od;
    atomic { at = 0; state = 0; read = 0; ended++ }
}

/* Locks the partition and settles the lock, as one participant of a commit that is decided in
 * between, elsewhere. */
proctype Participant()
{
    byte at, state, read;

    do
    :: look();
       atomic {
           if
           :: OP_BOUNDS && ROW(at, ROW_HEADER) == read && !(read & LOCK) &&
              ROW(at, ROW_SLOT) == 0 ->
              SET(at, ROW_HEADER, read | LOCK);
              SET(at, ROW_SLOT, 1);
              break
           :: else
           fi
       }
    od;
    do
#ifdef SETTLE_WITHOUT_BOUNDS
    :: atomic { route(); read = ROW(at, ROW_HEADER) };
       if
       :: ROW(at, ROW_HEADER) == read && (read & LOCK) -> atomic {
              ROW(at, ROW_HEADER) = read + 1;
              ROW(at, ROW_RECORD) = VERSION(read + 1);
              ROW(at, ROW_SLOT) = 0;
              acknowledged = VERSION(read + 1);
              break
          }
       :: else
       fi
#else
    :: look();
       atomic {
           if
           :: OP_BOUNDS && ROW(at, ROW_HEADER) == read && (read & LOCK) ->
              SET(at, ROW_HEADER, read + 1);
              SET(at, ROW_RECORD, VERSION(read + 1));
              SET(at, ROW_SLOT, 0);
              acknowledged = VERSION(read + 1);
              break
           :: else
           fi
       }
#endif
    od;
    atomic { at = 0; state = 0; read = 0; ended++ }
}

/* One read of the whole partition, routed by a bounds row that may be old. */
proctype Reader()
{
    byte at, state, header, record, least;

    atomic { route(); least = acknowledged };
    do
    :: atomic {
           header = ROW(at, ROW_HEADER);
           record = ROW(at, ROW_RECORD);
           if
           :: READ_BOUNDS -> break
           :: else -> route()
           fi
       }
    od;
    atomic {
        assert(header != NO_ROW && VERSION(header) >= least);
        assert(VERSION(header) == record);
        at = 0; state = 0; header = 0; record = 0; least = 0; ended++
    }
}

/* ---- the machine that splits ---- */

#define PARENT_AS_READ STATE(PARENT) == state
#ifdef COPY_WITHOUT_TOKEN
#define CHILD_AS_READ true
#else
#define CHILD_AS_READ STATE(CHILD) == FILLING && shards[CHILD].token == me
#endif

/* Copies a row: one read, compared with the parent's bounds row, and one write, compared with the
 * child's. */
inline copy(r)
{
    atomic {
        if
        :: PARENT_AS_READ -> value = ROW(PARENT, r)
        :: else -> r = 0; goto again
        fi
    };
    atomic {
        if
        :: CHILD_AS_READ ->
           ROW(CHILD, r) = value;
           value = 0;
           shards[CHILD].copied = (shards[CHILD].copied == r -> r + 1 : shards[CHILD].copied)
        :: else -> value = 0; r = 0; goto again
        fi
    }
}

/* Copies the rows whose mark this splitter does not know. A mark is known once its row is written. */
inline catch_up()
{
    do
    :: atomic {
           r = 0;
           do
           :: r < ROWS && mark[r] == known[r] -> r++
           :: else -> break
           od;
           if
           :: r == ROWS -> r = 0; break
           :: else -> logged = mark[r]
           fi
#ifdef KNOWN_BEFORE_COPIED
           ;
           known[r] = logged
#endif
       };
       copy(r);
       known[r] = logged
    od
}

/* Goes on where the one before has stopped. */
inline copy_all()
{
    atomic {
        r = shards[CHILD].copied;
#ifdef RESUME_TRUSTS_LOG
        /* What was changed until now was copied by the one before. */
        known[0] = mark[0]; known[1] = mark[1]; known[2] = mark[2];
#endif
    };
    do
    :: r == ROWS -> r = 0; break
    :: r < ROWS -> copy(r); r++
    od
}

#define IS_SPLIT (state == SPLITTING || state == FROZEN)
#ifdef COPY_WITHOUT_TOKEN
#define IS_MINE true
#else
#define IS_MINE token == me
#endif

inline remove(row_number)
{
    atomic {
        if
        :: PARENT_AS_READ -> ROW(PARENT, row_number) = NO_ROW; mark[row_number] = 0
        :: else
        fi
    }
}

proctype Splitter(byte me)
{
    byte state, child, token, value, logged, r;
    byte known[ROWS];
    bool is_copied;

again:
    do
    :: atomic {
           state = STATE(PARENT);
           if
           :: state == DONE -> break
           :: else
           fi
       };
       atomic { child = STATE(CHILD); token = shards[CHILD].token };
       if
       :: atomic {
              state == LIVE ->
              if
              :: PARENT_AS_READ -> STATE(PARENT) = SPLITTING
              :: else
              fi
          }
       :: atomic {
              IS_SPLIT && child == 0 ->
              if
              :: STATE(CHILD) == 0 -> STATE(CHILD) = FILLING; shards[CHILD].token = me
              :: else
              fi
          }
       :: atomic {
              /* The other seems to have stopped. The greater takes over only, or they would do it for
               * ever. */
              IS_SPLIT && child == FILLING && token < me ->
              if
              :: STATE(CHILD) == FILLING -> shards[CHILD].token = me; is_copied = false
              :: else
              fi
          }
#ifndef COPY_WITHOUT_TOKEN
       :: IS_SPLIT && child == FILLING && token > me -> break /* taken over */
#endif
       :: IS_SPLIT && child == FILLING && IS_MINE && !is_copied -> copy_all(); is_copied = true
       :: state == SPLITTING && child == FILLING && IS_MINE && is_copied ->
          catch_up();
          atomic {
              if
              :: PARENT_AS_READ -> STATE(PARENT) = FROZEN
              :: else
              fi
          }
       :: state == FROZEN && child == FILLING && IS_MINE && is_copied ->
#ifndef NO_LAST_CATCH_UP
          catch_up();
#endif
          atomic {
              if
              :: CHILD_AS_READ -> STATE(CHILD) = LIVE; shards[CHILD].token = NO_TOKEN
              :: else
              fi
          }
       :: atomic {
              state == FROZEN && child == LIVE ->
              if
              :: PARENT_AS_READ ->
                 STATE(PARENT) = CLEANING;
#ifndef SLOTS_STAY
                 ROW(PARENT, ROW_SLOT) = 0;
#endif
                 serving = CHILD
              :: else
              fi
          }
       :: state == CLEANING ->
          remove(ROW_HEADER);
          remove(ROW_RECORD); /* in ops of their own, as there may be many */
          atomic {
              if
              :: PARENT_AS_READ -> STATE(PARENT) = DONE
              :: else
              fi
          }
       :: state == SPLITTING && child == LIVE /* it went on between the two reads */
       fi
    od;
    atomic {
        state = 0; child = 0; token = 0; value = 0; logged = 0; r = 0; is_copied = 0;
        known[0] = 0; known[1] = 0; known[2] = 0;
        ended++
    }
}

init
{
    atomic {
        STATE(PARENT) = LIVE;
        ROW(PARENT, ROW_HEADER) = 2;
        ROW(PARENT, ROW_RECORD) = 1;
        run Splitter(1);
#if SPLITTERS == 2
        run Splitter(2);
#endif
#if WRITERS > 0
        run Writer();
#endif
#if WRITERS > 1
        run Writer();
#endif
#if PARTICIPANTS
        run Participant();
#endif
#if READERS
        run Reader()
#endif
    };
    ended == SPLITTERS + WRITERS + PARTICIPANTS + READERS;
    assert(STATE(PARENT) == DONE && STATE(CHILD) == LIVE && serving == CHILD);
    assert(VERSION(ROW(CHILD, ROW_HEADER)) == acknowledged);
    assert(ROW(CHILD, ROW_RECORD) == acknowledged && !(ROW(CHILD, ROW_HEADER) & LOCK));
    assert(ROW(CHILD, ROW_SLOT) == 0 && ROW(PARENT, ROW_SLOT) == 0);
    assert(acknowledged == 1 + WRITERS + PARTICIPANTS)
}
