/* Pieces of a front end that seems to have died, and the fence against it. Design of the store on
 * RADOS, 5.8.
 *
 * A front end records the range of its numbers, writes a piece, and commits the record that refers to
 * it. The commit compares the fence row of the front end's own incarnation with empty. A collector that
 * thinks it dead, rightly or not, sets the fence, then looks at each number of the range: an object
 * that no row refers to is deleted. It looks again a day later, when nothing of the dead one is in
 * flight any more. Another front end may move the piece to another partition meanwhile.
 *
 * Checked: a row never refers to nothing; in the end an object is there only if a row refers to it.
 *
 * Rules, each left out by its name: run.mjs. */

#define NO_ROW 0
#define REFERS 1
#define MOVED  2 /* to the other partition */

bool range;      /* the row of the front end */
bool object;
bool fence;
byte row[2];     /* reference rows of the two partitions */
bool is_acknowledged;
bool is_over;    /* nothing of the front end is in flight any more */
byte ended;

#ifdef COMMIT_WITHOUT_FENCE
#define UNFENCED true
#else
#define UNFENCED !fence
#endif

/* Stops or dies anywhere. */
#define MAY_DIE                                                                                    \
    if                                                                                             \
    :: true                                                                                        \
    :: goto dead                                                                                   \
    fi

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
    atomic {
        if
        :: UNFENCED -> row[0] = REFERS; is_acknowledged = true
        :: else /* it meets its fence, and ends */
        fi
    };
dead:
    atomic { is_over = true; ended++ }
}

/* Another front end moves the record, and the piece with it: a commit over both partitions. */
active proctype Mover()
{
    if
    :: atomic {
           row[0] == REFERS -> row[1] = REFERS;
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

/* Deletes the object if no row refers to it. */
inline collect()
{
    if
    :: range && object ->
       found = row[0];
       if
       :: found == MOVED -> found = row[1]
       :: else
       fi;
       if
       :: found == NO_ROW -> object = false
       :: else
       fi
    :: else
    fi;
    found = NO_ROW
}

active proctype Collector()
{
    byte found;

#ifdef LOOK_BEFORE_FENCE
    collect();
    fence = true;
#else
    fence = true;
    collect();
#endif
#ifdef FENCE_REMOVED
    range || is_over;
    fence = false;
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
    assert(object == (row[0] == REFERS || row[1] == REFERS));
    assert(!is_acknowledged || object)
}

/* At every moment. */
active proctype Watch()
{
end:
    atomic { (row[0] == REFERS || row[1] == REFERS) && !object -> assert(false) }
}
