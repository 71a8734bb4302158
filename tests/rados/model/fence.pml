/* Pieces of a front end that seems to have died, and the fence against it. src/store/rados/leftovers.h, departed.h.
 *
 * A front end records the range of its numbers, writes a piece with a label that names the partition that will
 * refer to it, and commits the record: in one op; or over two partitions, where it locks this one, decides in the
 * other, and settles; or, after it has changed the label, in another partition. Each commit that refers to
 * pieces compares the fence row of the front end's own incarnation, in that partition's shard, with empty. A collector that
 * thinks it dead, rightly or not, sets the fence where the label says, gets a lock out of the way, then looks: an object that
 * no row refers to is claimed, by its label, if that is still as it was read, and deleted. It looks again a day later,
 * when nothing of the dead one is in flight any more. Another front end may move the piece to another partition
 * meanwhile.
 *
 * Checked: a row never refers to nothing; in the end an object is there only if a row refers to it.
 *
 * Rules, each left out by its name: run.mjs. */

#define NO_ROW 0
#define REFERS 1
#define MOVED  2 /* to the other partition */

bool range;      /* the row of the front end */
bool object;
byte owner;      /* what its label says */
bool is_left;    /* its label says so */
bool fence[2];   /* of the shards of the two partitions */
byte row[2];     /* reference rows there */
bool is_locked;  /* partition 0, by a transaction that will set the row */
bool is_decided; /* that transaction */
bool is_dead;    /* it can be decided no more */
bool is_acknowledged;
bool is_over;    /* nothing of the front end is in flight any more */
byte ended;

#ifdef COMMIT_WITHOUT_FENCE
#define UNFENCED(partition) true
#else
#define UNFENCED(partition) !fence[partition]
#endif

/* Stops or dies anywhere. */
#define MAY_DIE                                                                                    \
    if                                                                                             \
    :: true                                                                                        \
    :: goto dead                                                                                   \
    fi

/* Of a lock that was decided: also by others. */
inline settle()
{
    atomic {
        if
        :: is_locked && is_decided -> is_locked = false; row[0] = REFERS
        :: else
        fi
    }
}

inline commit(partition)
{
    atomic {
        if
        :: UNFENCED(partition) -> row[partition] = REFERS; is_acknowledged = true
        :: else /* it meets its fence, and ends */
        fi
    }
}

active proctype FrontEnd()
{
#ifndef RANGE_AFTER_PIECE
    range = true;
#endif
    MAY_DIE;
    object = true;
    MAY_DIE;
#ifdef RANGE_AFTER_PIECE
    range = true;
    MAY_DIE;
#endif
    if
    :: true -> commit(0)
    :: true ->
       atomic {
           if
           :: !is_left && owner == 0 -> owner = 1
           :: else -> goto dead
           fi
       };
       MAY_DIE;
       commit(1)
    :: true ->
       atomic {
           if
           :: UNFENCED(0) -> is_locked = true
           :: else -> goto dead
           fi
       };
       MAY_DIE;
       atomic {
           if
           :: !is_dead -> is_decided = true; is_acknowledged = true
           :: else -> goto dead
           fi
       };
       MAY_DIE;
       settle()
    fi;
dead:
    atomic { is_over = true; ended++ }
}

/* Another front end moves the record, and the piece with it: a commit over both partitions. */
active proctype Mover()
{
    if
    :: atomic {
           row[0] == REFERS && !is_locked -> row[1] = REFERS;
#ifdef MOVED_WITHOUT_ROW
           row[0] = NO_ROW
#else
           row[0] = MOVED
#endif
       }
    :: ended > 0
    fi;
    ended++
}

/* Whoever needs a locked partition makes its transaction dead, unless it is decided, and then settles it, or rolls it back. */
inline resolve()
{
    atomic {
        if
        :: !is_decided -> is_dead = true
        :: else
        fi
    };
    settle();
    atomic {
        if
        :: is_locked && is_dead -> is_locked = false
        :: else
        fi
    }
}

inline set_fence()
{
    fence[at] = true
}

/* Is there a row of the owner, as the label was read? */
inline look()
{
    atomic {
        found = row[at];
        met_lock = at == 0 && is_locked
    }
#ifndef LOCK_IGNORED
    ;
    if
    :: met_lock -> resolve(); found = row[at]
    :: else
    fi
#endif
}

/* Deletes the object if no row refers to it. */
inline collect()
{
    do
    :: range && object ->
       at = owner;
#ifdef LOOK_BEFORE_FENCE
       look();
       set_fence();
#else
       set_fence();
       look();
#endif
       if
       :: found != NO_ROW -> break
       :: else
       fi;
#ifndef UNCLAIMED
       atomic {
           if
           :: owner == at -> is_left = true
           :: else -> skip
           fi
       };
       if
       :: is_left -> object = false; break
       :: else /* the label has changed: again */
       fi
#else
       object = false; break
#endif
    :: else -> break
    od;
    found = NO_ROW; at = 0; met_lock = false
}

active proctype Collector()
{
    byte found, at;
    bool met_lock;

    collect();
#ifdef FENCE_REMOVED
    range || is_over;
    fence[0] = false; fence[1] = false;
#endif
    is_over;
#ifndef ONE_LOOK
    collect();
#endif
    ended++
}

active proctype Judge()
{
    ended == 3;
    /* Whoever meets a lock settles it. */
    resolve();
    assert(object == (row[0] == REFERS || row[1] == REFERS));
    assert(!is_acknowledged || object)
}

/* At every moment. */
active proctype Watch()
{
end:
    atomic { (row[0] == REFERS || row[1] == REFERS) && !object -> assert(false) }
}
