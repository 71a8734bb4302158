/* Deferred tasks: the task is a row of the partition's shard, and a hint elsewhere says that the shard
 * has one for a minute. Design of the store on RADOS, 5.7.
 *
 * A commit that adds a task writes the hint first, and compares row 'W', the minute up to which the
 * shard has been looked through. What is due by then is due a minute later. A runner moves 'W', looks,
 * runs what is due, removes the hint.
 *
 * Checked: when all have ended and the hints have been followed, no task is left.
 *
 * Rules, each left out by its name: run.mjs. */

#define MINUTES 4

byte looked;            /* row 'W' */
bool task[MINUTES + 1]; /* rows 'T', by the minute they are due */
bool hint[MINUTES + 1];
byte ended;

#ifdef WITHOUT_MARK
#define MARK_AS_READ true
#else
#define MARK_AS_READ looked == seen
#endif

proctype Committer()
{
    byte seen, due;

    do
    :: seen = looked;
#ifdef WITHOUT_MARK
       due = 1;
#else
       due = seen + 1;
#endif
#ifndef HINT_AFTER
       hint[due] = true;
#endif
       if
       :: atomic { MARK_AS_READ -> task[due] = true; break }
       :: !(MARK_AS_READ)
       :: goto dead
       fi
    od;
#ifdef HINT_AFTER
    if
    :: hint[due] = true
    :: true /* it dies */
    fi;
#endif
dead:
    atomic { seen = 0; due = 0; ended++ }
}

/* Follows the hints of the minutes up to `last`. */
inline follow(last)
{
    minute = 1;
    do
    :: minute > last -> break
    :: minute <= last && hint[minute] ->
#ifndef LOOK_BEFORE_MARK
       looked = (minute > looked -> minute : looked);
#endif
       atomic {
           at = 1;
           do
           :: at > minute -> break
           :: else -> task[at] = false; at++
           od;
           at = 0
       };
#ifdef LOOK_BEFORE_MARK
       looked = (minute > looked -> minute : looked);
#endif
       hint[minute] = false;
       minute++
    :: minute <= last && !hint[minute] -> minute++
    od;
    minute = 0
}

proctype Runner()
{
    byte minute, at;

    follow(2);
    ended++
}

init
{
    byte minute, at;

    atomic { run Committer(); run Committer(); run Runner(); run Runner() };
    ended == 4;
    follow(MINUTES);
    assert(!task[1] && !task[2] && !task[3] && !task[4])
}
