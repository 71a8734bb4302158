/* Holds: how a reader that takes long reads one state of a partition in several ops. Design of the store
 * on RADOS, 5.5.
 *
 * The header has the version, and up to two holds: the version kept, and until when. A commit that
 * finds a living hold leaves, in its own op, the old value of each record that it changes in an undo
 * row under its own version, unless there is one newer than the newest hold. A held read is one op: the
 * record and its undo rows; its value at V is the undo row with the least version above V, else the
 * record.
 *
 * Clocks differ from the time by SKEW at most: readers' are slow by it, writers' are fast. Time passes
 * whenever it likes.
 *
 * Checked: every read that a reader uses is of the version it holds; in the end no undo row is left.
 *
 * Rules, each left out by its name: run.mjs. */

#define RECORDS  2
#define VERSIONS 4 /* 0.. */
#define SKEW     1
#define LEASE    3
#ifndef TIME_MAX
#define TIME_MAX 6
#endif

#ifdef READER_WITHOUT_SKEW
#define READER_MARGIN 0
#else
#define READER_MARGIN SKEW
#endif
#ifdef WRITER_WITHOUT_SKEW
#define WRITER_MARGIN 0
#else
#define WRITER_MARGIN SKEW
#endif

byte time = SKEW;
byte version;
byte held[2];  /* version and 1, by reader; 0: no hold */
byte until[2]; /* by the reader's clock */
byte record[RECORDS];
byte undo[RECORDS * VERSIONS]; /* value and 1; 0: no row */

byte history[RECORDS * VERSIONS]; /* for the assertions: value at each version */
byte ended;

#define UNDO(r, v)    undo[(r) * VERSIONS + (v)]
#define HISTORY(r, v) history[(r) * VERSIONS + (v)]

#define WRITERS_CLOCK (time + SKEW)
#define READERS_CLOCK (time - SKEW)

active proctype Time()
{
    do
    :: time < TIME_MAX -> time++
    :: break
    od
}

#define IS_ALIVE(i) (seen_held[i] != 0 && WRITERS_CLOCK < seen_until[i] + WRITER_MARGIN)

#ifdef COMMIT_COMPARES_VERSION
#define SAME_HEADER (version == seen)
#else
#define SAME_HEADER (version == seen && held[0] == seen_held[0] && held[1] == seen_held[1])
#endif

inline remove_undo()
{
    undo[0] = 0; undo[1] = 0; undo[2] = 0; undo[3] = 0;
    undo[4] = 0; undo[5] = 0; undo[6] = 0; undo[7] = 0
}

/* Sets a record, with its undo row if a hold needs one. newest: of the living holds, and 1; 0: none. */
inline change(r)
{
#ifndef HOLDS_IGNORED
    if
    :: newest != 0 ->
       v = bound;
       do
       :: v == VERSIONS -> UNDO(r, version + 1) = record[r] + 1; break
       :: v < VERSIONS && UNDO(r, v) != 0 -> break
       :: else -> v++
       od
    :: else
    fi;
#endif
    record[r] = version + 1
}

/* Changes one record or both. A refused commit is decided again. */
proctype Writer()
{
    byte seen, newest, oldest, bound, v, done;
    byte seen_held[2], seen_until[2];

    do
    :: done == COMMITS -> break
    :: done < COMMITS -> atomic {
           seen = version;
           seen_held[0] = held[0]; seen_held[1] = held[1];
           seen_until[0] = until[0]; seen_until[1] = until[1]
       };
       /* Which holds are alive is decided before the op is sent. */
       atomic {
           newest = 0;
           oldest = 99;
           if
           :: IS_ALIVE(0) -> newest = seen_held[0]; oldest = seen_held[0]
           :: else -> seen_until[0] = 0
           fi;
           if
           :: IS_ALIVE(1) ->
              newest = (seen_held[1] > newest -> seen_held[1] : newest);
              oldest = (seen_held[1] < oldest -> seen_held[1] : oldest)
           :: else -> seen_until[1] = 0
           fi;
#ifdef UNDO_FOR_OLDEST
           bound = oldest
#else
           bound = newest
#endif
       };
       atomic {
           if
           :: SAME_HEADER ->
              if
              :: true -> change(0)
              :: true -> change(1)
              :: true -> change(0); change(1)
              fi;
              version++;
              HISTORY(0, version) = record[0];
              HISTORY(1, version) = record[1];
              /* The dead holds go. With the last one, so do the undo rows. */
              held[0] = (seen_until[0] == 0 -> 0 : held[0]);
              held[1] = (seen_until[1] == 0 -> 0 : held[1]);
              if
              :: newest == 0 && held[0] == 0 && held[1] == 0 -> remove_undo()
              :: else
              fi;
              done++
           :: else
           fi;
           seen = 0; newest = 0; oldest = 0; bound = 0; v = 0
       }
    od;
    atomic {
        done = 0;
        seen_held[0] = 0; seen_held[1] = 0; seen_until[0] = 0; seen_until[1] = 0;
        ended++
    }
}

#define IS_LATE (READERS_CLOCK + READER_MARGIN >= until_when)

/* One read of a record at the version held. It is used if the hold was alive after its answer. */
inline read(r)
{
#ifdef CLOCK_BEFORE_READ
    is_late = IS_LATE;
#endif
    atomic {
        v = mine + 1;
        do
        :: v >= VERSIONS -> value = record[r]; break
        :: v < VERSIONS && UNDO(r, v) != 0 -> value = UNDO(r, v) - 1; break
        :: else -> v++
        od
    };
    atomic {
#ifndef CLOCK_BEFORE_READ
        is_late = IS_LATE;
#endif
        if
        :: is_late -> goto lost
        :: else -> assert(value == HISTORY(r, mine))
        fi;
        value = 0;
        v = 0
    }
}

proctype Reader(byte me)
{
    byte mine, other, until_when, value, v;
    bool is_late;

    atomic { mine = version; other = held[1 - me]; until_when = READERS_CLOCK + LEASE };
    atomic {
        if
#ifdef HOLD_WITHOUT_COMPARE
        :: true ->
#else
        :: version == mine && held[1 - me] == other ->
#endif
           held[me] = mine + 1; until[me] = until_when
        :: else -> goto end
        fi
    };
    read(0);
    read(1);
lost:
    /* Gives the hold up; the undo rows go with the last. */
#ifdef UNDO_REMOVED_APART
    other = held[1 - me];
    held[me] = 0;
    if
    :: other == 0 -> atomic { remove_undo() }
    :: else
    fi;
#else
    atomic {
        held[me] = 0;
        if
        :: held[1 - me] == 0 -> remove_undo()
        :: else
        fi
    };
#endif
end:
    atomic { mine = 0; other = 0; until_when = 0; is_late = 0; value = 0; v = 0; ended++ }
}

init
{
    atomic {
        run Writer();
#if WRITERS > 1
        run Writer();
#endif
        run Reader(0);
#if READERS > 1
        run Reader(1)
#endif
    };
    ended == WRITERS + READERS;
    atomic {
        assert(held[0] == 0 && held[1] == 0);
        assert(undo[0] + undo[1] + undo[2] + undo[3] + undo[4] + undo[5] + undo[6] + undo[7] == 0);
        assert(version == WRITERS * COMMITS)
    }
}
