/* Commits over several partitions: intents with one primary, aborts, settle, forget, and what readers
 * make of them. Design of the store on RADOS, 5.2 and 5.3.
 *
 * Each op on an object is one atomic step, as RADOS has it. Coordinators die before or after any op;
 * a pause is any interleaving. Nobody has patience: a lock that is found is resolved at once.
 * At most once in a run an op is answered -ECANCELED although it was applied (resent, and the PG log had
 * forgotten it), and at most once it is refused because the bounds row changed meanwhile.
 *
 * A partition is its header (version, two newest attempts, lock), the set of transactions that its
 * records show, the changes prepared ('x') and the transactions decided here ('c'). A transaction
 * overwrites the set with what it saw and itself, so a lost update shows too.
 *
 * Checked: no acknowledged commit is lost, none is halved, one answered with CONFLICT never came to be;
 * what one reader has seen or was acknowledged, every later reader sees, in every partition of it; after
 * a last sweep no lock, no prepared change and no decided transaction is left.
 *
 * Shapes: PAIR (two transactions over the same two), CHAIN (the primary of one is locked by the other),
 * THREE (one over three). Rules, each left out by its name: run.mjs. */

#define NP   3
#define NONE NP

/* PRIMARY decides; FIRST and SECOND, if any, are prepared before it. */
#ifdef PAIR
#define FIRST(t)   0
#define SECOND(t)  NONE
#define PRIMARY(t) 1
#define PLAIN      0
#endif
#ifdef CHAIN
#define FIRST(t)   ((t) == 1 -> 0 : 1)
#define SECOND(t)  NONE
#define PRIMARY(t) ((t) == 1 -> 1 : 2)
#define PLAIN      1
#endif
#ifdef THREE
#define FIRST(t)   0
#define SECOND(t)  1
#define PRIMARY(t) 2
#define PLAIN      1
#endif
#ifdef NO_ORDER /* the second transaction prepares 1 and decides at 0 */
#define FIRST(t)   ((t) == 1 -> 0 : 1)
#define SECOND(t)  NONE
#define PRIMARY(t) ((t) == 1 -> 1 : 0)
#define PLAIN      0
#endif

#define MEMBER(t, p) ((p) == FIRST(t) || (p) == SECOND(t) || (p) == PRIMARY(t))
#define BIT(t)       (1 << ((t) - 1))

/* Header: version, newest attempt, the one before, lock, version of the primary as seen. */
#define VER(h)           ((h) & 15)
#define NEWEST(h)        (((h) >> 4) & 3)
#define OLDER(h)         (((h) >> 6) & 3)
#define LOCK(h)          (((h) >> 8) & 3)
#define SEEN(h)          (((h) >> 10) & 15)
#define LOCKED(h, t, pv) ((h) | ((t) << 8) | ((pv) << 10))
#define UNLOCKED(h)      ((h) & 255)
#define NEXT(h, t)       ((VER(h) + 1) | ((t) << 4) | (NEWEST(h) << 6))
#define ABORTED(h)       ((h) + 1)
#ifdef SETTLE_KEEPS_VERSION
#define SETTLED(h)       UNLOCKED(h)
#else
#define SETTLED(h)       NEXT(h, LOCK(h))
#endif

#define DONE     0
#define CANCELED 1

#define RUNNING  0
#define ACKED    1
#define CONFLICT 2
#define UNKNOWN  3
#define DIED     4

#ifdef THREE
#define COORDINATORS 1
#else
#define COORDINATORS 2
#endif
#ifndef PLAINS
#define PLAINS 0
#endif
#ifndef HELPERS
#define HELPERS 0
#endif
#ifndef READERS
#define READERS 0
#endif
#ifndef FAULTS
#define FAULTS 1
#endif

#define CLEAR(a) a[0] = 0; a[1] = 0; a[2] = 0

short header[NP];
byte records[NP];  /* transactions shown */
byte prepared[NP]; /* records to be */
byte decided[NP];  /* 'c' rows */

byte outcome[4];
byte committed; /* for the assertions: decided, or committed plainly */
byte seen;      /* acknowledged, or seen by a reader */
byte faults = FAULTS;
byte ended;

/* An op with its guard and its effect. It may be answered -ECANCELED although it was applied, or
 * because the bounds row was another. */
#define OP(guard, effect)                                                                          \
    if                                                                                             \
    :: (guard) -> effect; rc = DONE                                                                \
    :: (guard) && faults > 0 -> faults--; effect; rc = CANCELED                                    \
    :: (guard) && faults > 0 -> faults--; rc = CANCELED                                            \
    :: !(guard) -> rc = CANCELED                                                                   \
    fi

#define OP_SETTLE(p, as_read)                                                                      \
    OP(header[p] == (as_read), records[p] = prepared[p]; prepared[p] = 0;                          \
       header[p] = SETTLED(as_read))
#define OP_ROLL_BACK(p, as_read)                                                                   \
    OP(header[p] == (as_read), prepared[p] = 0; header[p] = UNLOCKED(as_read))

#define MAY_DIE(where)                                                                             \
    if                                                                                             \
    :: true                                                                                        \
    :: faults > 0 -> faults--; goto where                                                          \
    fi

/* One read of the primary. */
inline read_fate(p, t)
{
#ifdef FATE_IN_TWO_READS
    is_decided = (decided[p] & BIT(t)) != 0;
    primary = header[p]
#else
    d_step { is_decided = (decided[p] & BIT(t)) != 0; primary = header[p] }
#endif
}

/* Resolves the lock of a partition, as a writer that found it. */
inline resolve(first)
{
    at = first;
    depth = 0;
    do
    :: atomic {
           read = header[at];
           if
           :: LOCK(read) == 0 && depth == 0 -> break
           :: LOCK(read) == 0 && depth > 0 -> at = first; depth = 0 /* look at it again */
           :: else
           fi
       };
       if
       :: LOCK(read) != 0 ->
          read_fate(PRIMARY(LOCK(read)), LOCK(read));
          atomic {
              if
              :: is_decided -> OP_SETTLE(at, read)
              :: !is_decided && VER(primary) != SEEN(read) -> OP_ROLL_BACK(at, read)
              :: !is_decided && VER(primary) == SEEN(read) ->
#ifdef ROLL_BACK_OPEN
                 OP_ROLL_BACK(at, read)
#else
                 if
#ifndef ABORT_LOCKED
                 :: LOCK(primary) != 0 -> at = PRIMARY(LOCK(read)); depth++; assert(depth < NP)
#endif
                 :: else ->
                    OP(header[PRIMARY(LOCK(read))] == primary,
                       header[PRIMARY(LOCK(read))] = ABORTED(primary))
                 fi
#endif
              fi;
              primary = 0;
              is_decided = false;
              rc = 0
          }
       :: else
       fi
    od
}

/* Looks at one participant, and settles it if it is locked still. */
inline see_settled(t, p)
{
    do
    :: p != NONE && LOCK(header[p]) == t -> resolve(p)
    :: else -> break
    od
}

/* Removes the 'c' row of a transaction once none of its participants is locked by it. */
inline forget(t)
{
#ifndef FORGET_WITHOUT_LOOK
    see_settled(t, FIRST(t));
    see_settled(t, SECOND(t));
#endif
    decided[PRIMARY(t)] = decided[PRIMARY(t)] & (15 - BIT(t))
}

#define SAW(h, t)      (NEWEST(h) == (t) || OLDER(h) == (t))
/* All attempts since the snapshot are in the ring. */
#define COMPLETE(h, s) (NEWEST(s) == 0 -> OLDER(h) == 0 || NEWEST(h) == 0 : SAW(h, NEWEST(s)))

/* What became of a deciding op that was answered -ECANCELED. */
inline learn(t)
{
    atomic {
        read = header[PRIMARY(t)];
#ifdef NO_RING
        result = CONFLICT;
#else
        if
        :: SAW(read, t) -> result = ACKED
        :: !SAW(read, t) && COMPLETE(read, saw[PRIMARY(t)]) -> result = CONFLICT
#ifdef RING_IS_ALL
        :: !SAW(read, t) && !COMPLETE(read, saw[PRIMARY(t)]) -> result = CONFLICT
#else
        :: !SAW(read, t) && !COMPLETE(read, saw[PRIMARY(t)]) -> result = UNKNOWN
#endif
        fi;
#endif
        read = 0
    }
}

#ifdef PREPARE_UNGUARDED
#define PREPARE_GUARD(p) true
#else
#define PREPARE_GUARD(p) header[p] == saw[p]
#endif
#ifdef DECIDE_UNGUARDED
#define DECIDE_GUARD(p) LOCK(header[p]) == 0
#else
#define DECIDE_GUARD(p) header[p] == saw[p]
#endif

inline look(p)
{
    if
    :: p != NONE -> atomic {
           saw[p] = header[p];
           shown[p] = records[p];
           if
           :: LOCK(saw[p]) != 0 -> goto end /* the helper's */
           :: else
           fi
       }
    :: else
    fi
}

inline prepare(p, t)
{
    if
    :: p != NONE -> atomic {
           MAY_DIE(dead);
           OP(PREPARE_GUARD(p), header[p] = LOCKED(saw[p], t, VER(saw[PRIMARY(t)]));
              prepared[p] = shown[p] | BIT(t));
           if
           :: rc == CANCELED -> rc = 0; goto back
           :: else -> locked = locked | (1 << p)
           fi
       }
    :: else
    fi
}

/* Of what this coordinator has locked. */
inline settle(p, t)
{
    if
    :: p != NONE && (locked >> p) & 1 -> atomic {
           MAY_DIE(dead);
           OP_SETTLE(p, LOCKED(saw[p], t, VER(saw[PRIMARY(t)])));
           rc = 0
       }
    :: else
    fi
}

inline roll_back(p, t)
{
    if
    :: p != NONE && (locked >> p) & 1 -> atomic {
           MAY_DIE(dead);
           OP_ROLL_BACK(p, LOCKED(saw[p], t, VER(saw[PRIMARY(t)])));
           rc = 0
       }
    :: else
    fi
}

proctype Coordinator(byte t)
{
    short saw[NP], read, primary;
    byte shown[NP], rc, at, depth, result, locked;
    bool is_decided;

    result = CONFLICT;
    look(PRIMARY(t));
    look(FIRST(t));
    look(SECOND(t));

    prepare(FIRST(t), t);
    prepare(SECOND(t), t);
    atomic {
        MAY_DIE(dead);
        OP(DECIDE_GUARD(PRIMARY(t)), header[PRIMARY(t)] = NEXT(header[PRIMARY(t)], t);
           records[PRIMARY(t)] = shown[PRIMARY(t)] | BIT(t);
           decided[PRIMARY(t)] = decided[PRIMARY(t)] | BIT(t); committed = committed | BIT(t));
        result = ACKED
    };
    if
    :: rc == CANCELED -> learn(t)
    :: else
    fi;
    if
    :: result == CONFLICT -> goto back
    :: result == UNKNOWN -> goto end /* whoever meets the locks resolves them */
    :: else
    fi;
    atomic {
        MAY_DIE(dead);
        outcome[t] = ACKED;
        seen = seen | BIT(t)
    };
    settle(FIRST(t), t);
    settle(SECOND(t), t);
    forget(t);
    goto end;
back:
    roll_back(FIRST(t), t);
    roll_back(SECOND(t), t);
    goto end;
dead:
    result = DIED;
end:
    atomic {
        if
        :: outcome[t] == RUNNING -> outcome[t] = result
        :: else
        fi;
        CLEAR(saw);
        CLEAR(shown);
        read = 0; primary = 0; rc = 0; at = 0; depth = 0; result = 0; locked = 0; is_decided = 0;
        ended++
    }
}

/* A commit of one partition, as transaction 3. */
proctype Plain()
{
    short saw;
    byte shown;

    atomic { saw = header[PLAIN]; shown = records[PLAIN] };
    atomic {
        if
        :: LOCK(saw) == 0 && header[PLAIN] == saw ->
           header[PLAIN] = NEXT(saw, 3);
           records[PLAIN] = shown | BIT(3);
           committed = committed | BIT(3);
           outcome[3] = ACKED;
           seen = seen | BIT(3)
        :: else -> outcome[3] = CONFLICT
        fi;
        saw = 0;
        shown = 0;
        ended++
    }
}

/* Whoever finds a lock; and the runner of the tasks that forget. */
proctype Helper()
{
    short read, primary;
    byte rc, at, depth;
    bool is_decided;

    if
    :: LOCK(header[0]) != 0 -> resolve(0)
    :: LOCK(header[1]) != 0 -> resolve(1)
    :: decided[PRIMARY(1)] & BIT(1) -> forget(1)
    :: decided[PRIMARY(2)] & BIT(2) -> forget(2)
    :: ended >= COORDINATORS
    fi;
    atomic { read = 0; primary = 0; rc = 0; at = 0; depth = 0; is_decided = 0; ended++ }
}

/* What a reader makes of one partition; it never writes. */
inline view(p)
{
    must = seen;
    do
    :: atomic {
           read = header[p];
           shown = records[p];
           changes = prepared[p];
           if
           :: LOCK(read) == 0 -> break
           :: else
           fi
       };
       read_fate(PRIMARY(LOCK(read)), LOCK(read));
       if
       :: is_decided -> shown = changes; break
       :: !is_decided && VER(primary) == SEEN(read) -> break
       :: !is_decided && VER(primary) != SEEN(read) ->
#ifdef DEAD_WITHOUT_LOOK
          break
#else
          if
          :: header[p] == read -> break
          :: else
          fi
#endif
       fi
    od;
    atomic {
        assert((shown & (7 - committed)) == 0);
        assert(!(must & BIT(1)) || !MEMBER(1, p) || (shown & BIT(1)));
        assert(!(must & BIT(2)) || !MEMBER(2, p) || (shown & BIT(2)));
        assert(!(must & BIT(3)) || p != PLAIN || (shown & BIT(3)));
        seen = seen | shown;
        shown = 0; changes = 0; must = 0; read = 0; primary = 0; is_decided = 0
    }
}

proctype Reader()
{
    short read, primary;
    byte shown, changes, must;
    bool is_decided;

    if
    :: view(0); view(1)
    :: view(1); view(0)
#ifdef CHAIN
    :: view(2); view(1)
#endif
    fi;
    ended++
}

#define WHOLE(t, p)                                                                                \
    (!MEMBER(t, p) || ((records[p] & BIT(t)) != 0) == ((committed & BIT(t)) != 0))

/* Starts all, waits until they have ended or died, sweeps up, and judges. */
init
{
    short read, primary;
    byte rc, p, at, depth;
    bool is_decided;

    atomic {
        run Coordinator(1);
#if COORDINATORS == 2
        run Coordinator(2);
#endif
#if PLAINS
        run Plain();
#endif
#if HELPERS
        run Helper();
#endif
#if READERS
        run Reader()
#endif
    };
    ended == COORDINATORS + PLAINS + HELPERS + READERS;
    faults = 0;
    resolve(0);
    resolve(1);
    resolve(2);
    if
    :: decided[PRIMARY(1)] & BIT(1) -> forget(1)
    :: else
    fi;
    if
    :: decided[PRIMARY(2)] & BIT(2) -> forget(2)
    :: else
    fi;
    atomic {
        p = 0;
        do
        :: p == NP -> break
        :: else ->
           assert(LOCK(header[p]) == 0 && prepared[p] == 0 && decided[p] == 0);
           /* Whole or not at all, and as it was answered. */
           assert(WHOLE(1, p));
           assert(COORDINATORS < 2 || WHOLE(2, p));
           assert(p != PLAIN || ((records[p] & BIT(3)) != 0) == ((committed & BIT(3)) != 0));
           p++
        od;
        assert(outcome[1] != ACKED || (committed & BIT(1)));
        assert(outcome[2] != ACKED || (committed & BIT(2)));
        assert(outcome[1] != CONFLICT || !(committed & BIT(1)));
        assert(outcome[2] != CONFLICT || !(committed & BIT(2)))
    }
}
