/* Moving the last partitions of a shard to the one behind it, beside commits, locks, reads, tasks and fences:
 * how shards are to be split. decision: 750
 *
 * The shard (0) moves a first partition to a new shard (1), then a second one, to the same. Only the second is modelled: what is
 * done to the first changes nothing but bounds. Its rows:
 *   ROW_HEADER  version, and a lock in its lowest bit
 *   ROW_RECORD  changed with the header in one op: equal to it, or the reader sees half
 *   ROW_SLOT    'X': names the partition while it is locked; not moved
 *   ROW_TASK    a task, and when it is due
 *   ROW_FENCE   'F': of the shard
 * Rows are read one by one, in ops of their own. Two movers run the same machine, at any pace: each may stop anywhere for ever,
 * as long as the other goes on.
 *
 * Checked: each acknowledged commit is in the shard that serves the partition at the end, and in every read that began after
 * it; rows are never seen halved; a reader and a writer always find the partition; no slot stays taken; a task that is there
 * has a hint; no piece is deleted that is referred to.
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
#ifndef LOOKERS
#define LOOKERS 0
#endif
#ifndef ZOMBIES
#define ZOMBIES 0
#endif

#define PARENT 0
#define CHILD  1

#define ROW_HEADER 0
#define ROW_RECORD 1
#define ROW_SLOT   2
#define ROW_TASK   3
#define ROW_FENCE  4
#define ROWS       5

/* Bounds of the parent, in their order: the bytes never return. */
#define LIVE_BOTH     1
#define MOVING_FIRST  2
#define LIVE_SECOND   3
#define MOVING_SECOND 4
#define LIVE_NONE     5
/* Of the child. */
#define ABSENT     0
#define FILLING    1
#define HAS_FIRST  2
#define HAS_SECOND 3

#define VERSION(h) ((h) >> 1)
#define LOCK       1

typedef shard {
    byte bounds;
    byte row[ROWS];
    byte looked;   /* 'W': up to which minute tasks have been looked for */
    bool hint[3];  /* by minute */
}
shard shards[2];
byte acknowledged = 1; /* version */
byte ended;
byte stopped;          /* movers that have */
bool has_piece = true, refers;

#define BOUNDS(s) shards[s].bounds
#define ROW(s, r) shards[s].row[r]

/* ---- routing: bounds as they were read, however long ago, and read again after a refusal ---- */

inline route()
{
    if
    :: BOUNDS(PARENT) == LIVE_NONE -> at = CHILD; bounds = BOUNDS(CHILD)
    :: else -> at = PARENT; bounds = BOUNDS(PARENT)
    fi
}

#ifdef OP_WITHOUT_BOUNDS
#define OP_BOUNDS true
#else
#define OP_BOUNDS BOUNDS(at) == bounds
#endif
#ifdef READ_WITHOUT_BOUNDS
#define READ_BOUNDS true
#else
#define READ_BOUNDS BOUNDS(at) == bounds
#endif
#ifdef WRITE_WHILE_MOVING
#define MAY_WRITE true
#else
#define MAY_WRITE BOUNDS(PARENT) != MOVING_SECOND
#endif

/* A read before an op that will be. */
inline look()
{
    atomic { MAY_WRITE -> route(); read = ROW(at, ROW_HEADER) }
}

proctype Writer()
{
    byte at, bounds, read;

    do
    :: look();
       atomic {
           if
           :: OP_BOUNDS && ROW(at, ROW_HEADER) == read && !(read & LOCK) ->
              ROW(at, ROW_HEADER) = read + 2;
              ROW(at, ROW_RECORD) = VERSION(read + 2);
              assert(VERSION(read + 2) == acknowledged + 1);
              acknowledged = VERSION(read + 2);
              break
           :: else
           fi
       }
    od;
    atomic { at = 0; bounds = 0; read = 0; ended++ }
}

/* Locks the partition and settles the lock, as one participant of a commit that is decided in between, elsewhere. */
proctype Participant()
{
    byte at, bounds, read;

    do
    :: look();
       atomic {
           if
           :: OP_BOUNDS && ROW(at, ROW_HEADER) == read && !(read & LOCK) && ROW(at, ROW_SLOT) == 0 ->
              ROW(at, ROW_HEADER) = read | LOCK;
              ROW(at, ROW_SLOT) = 1;
              break
           :: else
           fi
       }
    od;
    do
    :: look();
       atomic {
           if
           :: OP_BOUNDS && ROW(at, ROW_HEADER) == read && (read & LOCK) ->
              ROW(at, ROW_HEADER) = read + 1;
              ROW(at, ROW_RECORD) = VERSION(read + 1);
              ROW(at, ROW_SLOT) = 0;
              acknowledged = VERSION(read + 1);
              break
           :: else
           fi
       }
    od;
    atomic { at = 0; bounds = 0; read = 0; ended++ }
}

proctype Reader()
{
    byte at, bounds, header, record, least;

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
        assert(header != 0 && VERSION(header) >= least);
        assert(VERSION(header) == record);
        at = 0; bounds = 0; header = 0; record = 0; least = 0; ended++
    }
}

/* Follows the hint of the first minute, which is over, in the child: the one in the parent is followed whenever that may be.
 * What it finds it leaves to be done. */
proctype Looker()
{
    do
    :: atomic { shards[CHILD].hint[1] -> skip };
       if
       :: atomic { BOUNDS(CHILD) == ABSENT -> shards[CHILD].hint[1] = false }
       :: atomic { BOUNDS(CHILD) != ABSENT -> shards[CHILD].looked = 1 };
          if
          :: atomic { ROW(CHILD, ROW_TASK) != 1 -> skip }; shards[CHILD].hint[1] = false
          :: ROW(CHILD, ROW_TASK) == 1 -> break
          fi
       fi
    :: atomic { stopped == MOVERS && !shards[CHILD].hint[1] -> break }
    od;
    ended++
}

/* The commit of a front end that was taken for dead, and names a piece. */
proctype Zombie()
{
    byte at, bounds, read;

    do
    :: look();
       atomic {
           if
           :: OP_BOUNDS && ROW(at, ROW_FENCE) -> break
           :: OP_BOUNDS && !ROW(at, ROW_FENCE) && ROW(at, ROW_HEADER) == read && !(read & LOCK) ->
              assert(has_piece);
              refers = true;
              break
           :: else
           fi
       }
    od;
    atomic { at = 0; bounds = 0; read = 0; ended++ }
}

/* Who collects what that front end has left: the fence, then the look, then the piece. */
proctype Collector()
{
    byte at, bounds, read;
    bool found;

    do
    :: look();
       atomic {
           if
           :: OP_BOUNDS -> ROW(at, ROW_FENCE) = 1; break
           :: else
           fi
       }
    od;
    do
    :: look();
       atomic {
           if
           :: OP_BOUNDS -> found = refers; break
           :: else
           fi
       }
    od;
    if
    :: !found -> atomic { assert(!refers); has_piece = false }
    :: else
    fi;
    atomic { at = 0; bounds = 0; read = 0; found = 0; ended++ }
}

/* ---- the machine that moves ---- */

#ifdef FILL_WITHOUT_BOUNDS
#define FILL_BOUNDS BOUNDS(CHILD) != ABSENT
#else
#define FILL_BOUNDS BOUNDS(CHILD) == child
#endif
#ifdef FILL_WITHOUT_LOOKED
#define FILL_LOOKED true
#else
#define FILL_LOOKED shards[CHILD].looked == looked
#endif
#ifdef HAND_OVER_WITHOUT_BOUNDS
#define HAND_OVER_BOUNDS true
#else
#define HAND_OVER_BOUNDS BOUNDS(PARENT) == parent
#endif
#ifdef BEGIN_WITH_LOCKS
#define NO_LOCKS true
#else
#define NO_LOCKS ROW(PARENT, ROW_SLOT) == 0
#endif

inline begin()
{
    atomic {
        if
        :: BOUNDS(PARENT) == parent && (parent == LIVE_BOTH || NO_LOCKS) ->
           BOUNDS(PARENT) = parent + 1
        :: else
        fi
    }
}

/* Of rows that were read one by one. MANY_ROWS: more than go in one op, so some are written before, where nobody reads. */
inline fill()
{
#ifdef MANY_ROWS
    atomic {
        if
        :: FILL_BOUNDS && FILL_LOOKED && parent == MOVING_SECOND ->
           ROW(CHILD, ROW_RECORD) = record;
           ROW(CHILD, ROW_TASK) = (task > 0 -> due : ROW(CHILD, ROW_TASK))
        :: else
        fi
    };
#endif
    atomic {
        if
        :: FILL_BOUNDS && FILL_LOOKED ->
           if
           :: parent == MOVING_SECOND ->
              ROW(CHILD, ROW_HEADER) = header;
#ifndef MANY_ROWS
              ROW(CHILD, ROW_RECORD) = record;
              ROW(CHILD, ROW_TASK) = (task > 0 -> due : ROW(CHILD, ROW_TASK));
#endif
              BOUNDS(CHILD) = HAS_SECOND
           :: else -> BOUNDS(CHILD) = HAS_FIRST
           fi;
#ifndef FENCES_STAY
           ROW(CHILD, ROW_FENCE) = ROW(CHILD, ROW_FENCE) | fence
#endif
        :: else
        fi
    }
}

inline hand_over()
{
    atomic {
        if
        :: HAND_OVER_BOUNDS ->
           if
           :: parent == MOVING_SECOND ->
              ROW(PARENT, ROW_HEADER) = 0;
              ROW(PARENT, ROW_RECORD) = 0;
              ROW(PARENT, ROW_TASK) = 0
           :: else
           fi;
           BOUNDS(PARENT) = parent + 1
        :: else
        fi
    }
}

#define IS_FILLED (child >= (parent == MOVING_FIRST -> HAS_FIRST : HAS_SECOND))

proctype Mover()
{
    byte parent, child, header, record, task, due, looked, fence;

    do
    :: parent = BOUNDS(PARENT);
       if
       :: parent == LIVE_NONE -> break
       :: parent == LIVE_BOTH || parent == LIVE_SECOND -> begin()
       :: parent == MOVING_FIRST || parent == MOVING_SECOND ->
          header = ROW(PARENT, ROW_HEADER);
          record = ROW(PARENT, ROW_RECORD);
          task = (parent == MOVING_SECOND -> ROW(PARENT, ROW_TASK) : 0);
          fence = ROW(PARENT, ROW_FENCE);
          atomic { child = BOUNDS(CHILD); looked = shards[CHILD].looked };
          due = (task > looked -> task : looked + 1);
          if
#ifdef HINTED_BEFORE_MADE
          /* Hints first, then the shard that they name. */
          :: child == ABSENT ->
             if
             :: task > 0 -> shards[CHILD].hint[due] = true
             :: else
             fi;
             atomic {
                 if
                 :: BOUNDS(CHILD) == ABSENT -> BOUNDS(CHILD) = FILLING; child = FILLING; fill()
                 :: else
                 fi
             }
#else
          :: child == ABSENT -> atomic { BOUNDS(CHILD) = (BOUNDS(CHILD) == ABSENT -> FILLING : BOUNDS(CHILD)) }
#endif
#ifdef HAND_OVER_UNFILLED
          :: child != ABSENT -> hand_over(); fill()
#else
          :: child != ABSENT && !IS_FILLED ->
#ifndef HINT_AFTER
             if
             :: task > 0 -> shards[CHILD].hint[due] = true
             :: else
             fi;
#endif
             fill();
             if
             :: atomic { stopped + 1 < MOVERS -> stopped++; goto over }
             :: skip
             fi
#ifdef HINT_AFTER
             ;
             if
             :: task > 0 -> shards[CHILD].hint[due] = true
             :: else
             fi
#endif
          :: IS_FILLED -> hand_over()
#endif
          fi
       fi;
       atomic { header = 0; record = 0; task = 0; due = 0; looked = 0; fence = 0; child = 0 }
    :: atomic { stopped + 1 < MOVERS -> stopped++; goto over } /* it dies */
    od;
    stopped++;
over:
    atomic { parent = 0; child = 0; header = 0; record = 0; task = 0; due = 0; looked = 0; fence = 0; ended++ }
}

init
{
    atomic {
#ifdef ONE_MOVE
        BOUNDS(PARENT) = LIVE_SECOND;
#else
        BOUNDS(PARENT) = LIVE_BOTH;
#endif
        ROW(PARENT, ROW_HEADER) = 2;
        ROW(PARENT, ROW_RECORD) = 1;
        run Mover();
#if MOVERS == 2
        run Mover();
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
        run Reader();
#endif
#if LOOKERS
        ROW(PARENT, ROW_TASK) = 1;
        shards[PARENT].hint[1] = true;
        run Looker();
#endif
#if ZOMBIES
        run Zombie();
        run Collector()
#endif
    };
    ended == MOVERS + WRITERS + PARTICIPANTS + READERS + LOOKERS + 2 * ZOMBIES;
    assert(BOUNDS(PARENT) == LIVE_NONE && BOUNDS(CHILD) == HAS_SECOND);
    assert(VERSION(ROW(CHILD, ROW_HEADER)) == acknowledged);
    assert(ROW(CHILD, ROW_RECORD) == acknowledged && !(ROW(CHILD, ROW_HEADER) & LOCK));
    assert(ROW(CHILD, ROW_SLOT) == 0 && ROW(PARENT, ROW_SLOT) == 0);
    assert(ROW(PARENT, ROW_HEADER) == 0);
    assert(acknowledged == 1 + WRITERS + PARTICIPANTS);
#if LOOKERS
    assert(ROW(CHILD, ROW_TASK) > 0);
    assert(shards[CHILD].hint[ROW(CHILD, ROW_TASK)]);
#endif
    assert(has_piece || !refers)
}
