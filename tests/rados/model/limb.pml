/* Limbs: a range of the records of a large partition in an object of its own, which the partition's home lists with the
 * version that it has in this state of the partition: src/store/rados/limb.h, decision 831.
 *
 * Two records are changed together by each commit. The first is at home; the second at home, or in the limb, as the list
 * says. A commit that changes the limb locks it first, with the change beside it; the commit of the home decides, and lists
 * the version that the limb will have; then the limb is settled. A cutter moves the second record into the limb, or back, as
 * such a commit. A reader reads the home in one op, then the limb in one, and takes of it what has the version listed.
 *
 * Each op on an object is one atomic step. Whoever commits or cuts may die before any op. Nobody has patience: an open
 * lock that is met is aborted at once, by a new version of the home.
 *
 * Checked: no acknowledged commit is lost, none is halved, a reader sees the two records of one state, and none older than
 * what was acknowledged before it began; it never finds the limb behind the list without a lock. After a last sweep
 * nothing is locked, and the second record is in one place.
 *
 * Rules, each left out by its name: run.mjs. */

#ifndef COMMITS
#define COMMITS 1
#endif
#ifndef CUTS
#define CUTS 0
#endif
#ifndef READERS
#define READERS 0
#endif
#define TXNS (COMMITS + CUTS)

/* Of the home: one row each, changed by one op. */
byte version = 1;
byte first = 1, second = 1;
bool in_limb; /* the list */
byte listed;
byte decided; /* bits of transactions */

/* Of the limb. */
byte limb_version = 1;
byte record;
byte lock, lock_seen; /* the transaction, and the version of the home that it saw */
byte to_be;           /* the record, once it is settled */
byte version_to_be;

byte acknowledged = 1, committed = 1;
byte ended;

#define BIT(t) (1 << ((t) - 1))

#ifdef PREPARE_UNGUARDED
#define PREPARE_GUARD true
#else
#define PREPARE_GUARD lock == 0 && limb_version == saw_limb
#endif
#ifdef DECIDE_UNGUARDED
#define DECIDE_GUARD true
#else
#define DECIDE_GUARD version == saw
#endif

inline settle_limb()
{
    record = to_be;
    limb_version = version_to_be;
    lock = 0; lock_seen = 0; to_be = 0; version_to_be = 0
}

inline roll_back_limb()
{
    lock = 0; lock_seen = 0; to_be = 0; version_to_be = 0
}

/* Gets the lock of the limb out of the way, if it is this one. The fate is one read of the home. */
inline resolve()
{
    atomic {
        met = lock; met_seen = lock_seen;
        is_decided = met != 0 && (decided & BIT(met));
        is_dead = met != 0 && !is_decided && version != met_seen
    };
    if
    :: met != 0 && is_decided ->
       atomic {
           if
           :: lock == met && lock_seen == met_seen -> settle_limb()
           :: else
           fi
       }
    :: met != 0 && is_dead ->
       atomic {
           if
           :: lock == met && lock_seen == met_seen -> roll_back_limb()
           :: else
           fi
       }
    :: met != 0 && !is_decided && !is_dead ->
#ifdef ROLL_BACK_OPEN
       atomic {
           if
           :: lock == met && lock_seen == met_seen -> roll_back_limb()
           :: else
           fi
       }
#else
       atomic {
           if
           :: version == met_seen -> version++
           :: else
           fi
       }
#endif
    :: else
    fi;
    atomic { met = 0; met_seen = 0; is_decided = false; is_dead = false }
}

/* What a reader makes of the limb, at the version that the home lists. */
inline read_limb()
{
    do
    :: atomic {
           got = record; got_version = limb_version; met = lock
       };
       if
#ifdef READ_ANY_VERSION
       :: true -> break
#else
       :: got_version == saw_listed -> break
#ifdef READ_BEHIND
       :: got_version < saw_listed -> break
#else
       :: got_version < saw_listed -> assert(met != 0); resolve() /* what locks it is decided */
#endif
       :: got_version > saw_listed -> goto again
#endif
       fi
    od
}

inline read_home()
{
    atomic {
        saw = version; saw_first = first; saw_second = second; saw_in_limb = in_limb; saw_listed = listed
    }
}

/* The limb is got unlocked before a commit on it begins; another state of the home is another list. */
inline read_limb_to_change()
{
    do
    :: lock != 0 -> resolve()
    :: atomic { lock == 0 -> saw_limb = limb_version; got = record; break }
    od
}

#define MAY_DIE                                                                                    \
    if                                                                                             \
    :: true                                                                                        \
    :: goto dead                                                                                   \
    fi

/* Locks the limb with what its record will be. */
inline prepare(value)
{
    atomic {
        if
        :: PREPARE_GUARD ->
           lock = id; lock_seen = saw; to_be = value; version_to_be = saw_limb + 1
        :: else -> goto dead /* a conflict */
        fi
    }
}

/* Settles the limb, if nobody has, and forgets the decision. */
inline end_commit()
{
#ifdef FORGET_FIRST
    decided = decided & (255 - BIT(id));
    MAY_DIE;
#endif
    do
    :: lock == id -> resolve()
    :: else -> break
    od;
    MAY_DIE;
    decided = decided & (255 - BIT(id))
}

proctype Committer(byte id)
{
    byte saw, saw_first, saw_second, saw_listed, saw_limb, got, met, met_seen;
    bool saw_in_limb, is_decided, is_dead;

again:
    atomic { saw_limb = 0; got = 0; met = 0 };
    read_home();
    if
    :: saw_in_limb ->
       read_limb_to_change();
       if
       :: saw_limb != saw_listed -> goto again
       :: else
       fi;
       MAY_DIE;
       prepare(saw_first + 1);
       MAY_DIE;
       atomic {
           if
           :: DECIDE_GUARD ->
              version++;
              first = saw_first + 1;
#ifndef LIST_UNCHANGED
              listed = saw_limb + 1;
#endif
              decided = decided | BIT(id);
              assert(first == committed + 1);
              committed = first;
              acknowledged = first
           :: else -> goto undo
           fi
       };
       MAY_DIE;
       end_commit()
    :: else ->
       MAY_DIE;
       atomic {
           if
           :: DECIDE_GUARD ->
              version++;
              first = saw_first + 1;
              second = saw_first + 1;
              assert(first == committed + 1);
              committed = first;
              acknowledged = first
           :: else -> goto dead
           fi
       }
    fi;
    goto dead;
undo: /* a conflict: as whoever meets the lock */
    do
    :: lock == id -> resolve()
    :: else -> break
    od;
dead:
    atomic {
        saw = 0; saw_first = 0; saw_second = 0; saw_listed = 0; saw_limb = 0; got = 0; met = 0; met_seen = 0;
        saw_in_limb = false; is_decided = false; is_dead = false; ended++
    }
}

/* Moves the second record to the limb, or out of it. */
proctype Cutter(byte id)
{
    byte saw, saw_first, saw_second, saw_listed, saw_limb, got, met, met_seen;
    bool saw_in_limb, is_decided, is_dead;

again:
    atomic { saw_limb = 0; got = 0; met = 0 };
    read_home();
    read_limb_to_change();
    if
    :: saw_in_limb && saw_limb != saw_listed -> goto again
    :: else
    fi;
    MAY_DIE;
    prepare((saw_in_limb -> 0 : saw_second));
    MAY_DIE;
#ifdef CUT_UNLISTED
    /* The record goes to the limb in an op of its own, and is listed later. */
    atomic {
        if
        :: lock == id -> settle_limb()
        :: else -> goto dead
        fi
    };
#endif
    atomic {
        if
#ifdef CUT_UNGUARDED
        :: true ->
#else
        :: DECIDE_GUARD ->
#endif
           version++;
           second = (saw_in_limb -> got : 0);
           in_limb = !saw_in_limb;
           listed = saw_limb + 1;
           decided = decided | BIT(id)
        :: else -> goto undo
        fi
    };
    MAY_DIE;
    end_commit();
    goto dead;
undo:
    do
    :: lock == id -> resolve()
    :: else -> break
    od;
dead:
    atomic {
        saw = 0; saw_first = 0; saw_second = 0; saw_listed = 0; saw_limb = 0; got = 0; met = 0; met_seen = 0;
        saw_in_limb = false; is_decided = false; is_dead = false; ended++
    }
}

proctype Reader()
{
    byte saw, saw_first, saw_second, saw_listed, got, got_version, met, met_seen, least;
    bool saw_in_limb, is_decided, is_dead;

    least = acknowledged;
again:
    read_home();
    if
    :: saw_in_limb -> read_limb()
    :: else -> got = saw_second
    fi;
    atomic {
        assert(saw_first >= least);
        assert(got == saw_first);
        saw = 0; saw_first = 0; saw_second = 0; saw_listed = 0; got = 0; got_version = 0; met = 0; met_seen = 0; least = 0;
        saw_in_limb = false; is_decided = false; is_dead = false; ended++
    }
}

init
{
    byte met, met_seen;
    bool is_decided, is_dead;

    atomic {
#ifdef LIMB_FIRST
        in_limb = true; second = 0; record = 1; listed = 1;
#endif
        run Committer(1);
#if COMMITS > 1
        run Committer(2);
#endif
#if CUTS
        run Cutter(COMMITS + 1);
#endif
#if CUTS > 1
        run Cutter(COMMITS + 2);
#endif
#if READERS
        run Reader();
#endif
    };
    ended == COMMITS + CUTS + READERS;
    do
    :: lock != 0 -> resolve()
    :: else -> break
    od;
    assert(first == committed && acknowledged == committed);
    assert(!in_limb || (limb_version == listed && record == first));
    assert(in_limb || (second == first && record == 0))
}
