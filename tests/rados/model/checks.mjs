// What run.mjs checks: models with the parts of them that take part. With `rule`: that rule is left out, and the
// checker must find it.

const holds = (model, ...configurations) => configurations.map((text) => ({ model, defines: text.split(' ').filter(Boolean) }));
const without = (model, name, configuration, rule) => ({ model, defines: [...configuration.split(' ').filter(Boolean), name], rule });

const COMMIT = [
    ...holds('commit',
        'PAIR HELPERS=1 READERS=1', 'PAIR HELPERS=1 PLAINS=1', 'PAIR READERS=1 PLAINS=1', 'PAIR HELPERS=1 FAULTS=2',
        'CHAIN HELPERS=1 READERS=1', 'CHAIN HELPERS=1 PLAINS=1', 'CHAIN READERS=1 PLAINS=1', 'CHAIN HELPERS=1 FAULTS=2',
        'THREE HELPERS=1 READERS=1 PLAINS=1', 'THREE HELPERS=1 READERS=1 FAULTS=2'),
    without('commit', 'PREPARE_UNGUARDED', 'PAIR HELPERS=1 PLAINS=1', 'prepare compares the header as it was read'),
    without('commit', 'DECIDE_UNGUARDED', 'PAIR HELPERS=1 PLAINS=1', 'the deciding op compares the header of the primary'),
    without('commit', 'ROLL_BACK_OPEN', 'PAIR HELPERS=1', 'an open lock is aborted at its primary before it is rolled back'),
    without('commit', 'FATE_IN_TWO_READS', 'PAIR HELPERS=1', 'the fate of a lock is one atomic read'),
    without('commit', 'FORGET_WITHOUT_LOOK', 'PAIR HELPERS=1', 'forget follows a look at each participant'),
    without('commit', 'DEAD_WITHOUT_LOOK', 'PAIR READERS=1', 'a reader that finds a dead lock reads the partition again'),
    without('commit', 'SETTLE_KEEPS_VERSION', 'PAIR PLAINS=1', 'settling gives the partition a new version'),
    without('commit', 'NO_RING', 'PAIR', 'a refused op looks for its own attempt in the header'),
    without('commit', 'RING_IS_ALL', 'CHAIN HELPERS=1 PLAINS=1', 'only a ring that has all attempts since the snapshot proves a conflict'),
    without('commit', 'NO_ORDER', 'HELPERS=1', 'participants are locked in one order, and the greatest is the primary'),
    // Two rules that each stand in for the other as long as the bounds row stays the same.
    ...holds('commit', 'CHAIN HELPERS=1 FAULTS=0 ABORT_LOCKED', 'CHAIN HELPERS=1 FAULTS=0 FORGET_WITHOUT_LOOK'),
    without('commit', 'ABORT_LOCKED', 'CHAIN HELPERS=1 FAULTS=0 FORGET_WITHOUT_LOOK',
        'a locked header is changed by settle and roll back only'),
];

const MOVE = [
    ...holds('move', 'MOVERS=1 WRITERS=2', 'MOVERS=1 WRITERS=1 PARTICIPANTS=1', 'MOVERS=1 PARTICIPANTS=1 READERS=1',
        'MOVERS=2 WRITERS=1 READERS=1', 'MOVERS=2 PARTICIPANTS=1', 'MOVERS=2 WRITERS=2', 'MOVERS=2 LOOKERS=1', 'ONE_MOVE MOVERS=2 LOOKERS=1', 'MOVERS=2 ZOMBIES=1',
        'MANY_ROWS MOVERS=2 WRITERS=1 READERS=1', 'MANY_ROWS MOVERS=2 LOOKERS=1', 'MANY_ROWS MOVERS=2 ZOMBIES=1'),
    without('move', 'OP_WITHOUT_BOUNDS', 'MOVERS=1 WRITERS=1', 'each op on a shard compares its bounds'),
    without('move', 'READ_WITHOUT_BOUNDS', 'MOVERS=1 WRITERS=1 READERS=1', 'a read compares them too'),
    without('move', 'WRITE_WHILE_MOVING', 'MOVERS=1 WRITERS=1', 'nobody writes to a partition that is being moved'),
    without('move', 'BEGIN_WITH_LOCKS', 'MOVERS=1 PARTICIPANTS=1', 'a move begins by an op that compares that nothing is locked'),
    without('move', 'FILL_WITHOUT_BOUNDS', 'MOVERS=2 WRITERS=1', 'the op that fills compares the bounds of the other'),
    without('move', 'HAND_OVER_UNFILLED', 'MOVERS=1 READERS=1', 'the other is filled before the shard is handed over'),
    without('move', 'HAND_OVER_WITHOUT_BOUNDS', 'MOVERS=2 WRITERS=1', 'the op that hands over compares the bounds'),
    without('move', 'FENCES_STAY', 'MOVERS=1 ZOMBIES=1', 'fences go along'),
    without('move', 'HINT_AFTER', 'MOVERS=2 LOOKERS=1', 'the hint is written before the task is there'),
    without('move', 'HINTED_BEFORE_MADE', 'ONE_MOVE MOVERS=1 LOOKERS=1', 'a new shard is there before hints name it'),
    without('move', 'FILL_WITHOUT_LOOKED', 'MOVERS=1 LOOKERS=1', 'the op that fills compares up to when tasks have been looked for there'),
];

const LIMB = [
    ...holds('limb', 'COMMITS=2 READERS=1', 'LIMB_FIRST COMMITS=2 READERS=1', 'COMMITS=2 CUTS=1', 'LIMB_FIRST COMMITS=1 CUTS=1 READERS=1', 'COMMITS=1 CUTS=2 READERS=1'),
    without('limb', 'READ_ANY_VERSION', 'LIMB_FIRST COMMITS=1 READERS=1', 'a reader takes of a limb the version that the home lists'),
    without('limb', 'READ_BEHIND', 'LIMB_FIRST COMMITS=1 READERS=1', 'a limb that is behind the list is settled first'),
    without('limb', 'PREPARE_UNGUARDED', 'LIMB_FIRST COMMITS=2', 'a limb is locked by an op that compares its header'),
    without('limb', 'DECIDE_UNGUARDED', 'LIMB_FIRST COMMITS=2', 'the home decides, by an op that compares its header'),
    without('limb', 'LIST_UNCHANGED', 'LIMB_FIRST COMMITS=1 READERS=1', 'who changes a limb lists the version that it will have'),
    without('limb', 'ROLL_BACK_OPEN', 'LIMB_FIRST COMMITS=2', 'an open lock is aborted at the home before it is rolled back'),
    without('limb', 'FORGET_FIRST', 'LIMB_FIRST COMMITS=1 READERS=1', 'the decision stays until the limb is settled'),
    without('limb', 'CUT_UNGUARDED', 'COMMITS=1 CUTS=1', 'what goes to a limb is as the home has it when that decides'),
    without('limb', 'CUT_UNLISTED', 'COMMITS=1 CUTS=1 READERS=1', 'rows come to a limb, and leave it, by the commit that lists it'),
];

const HOLD = [
    ...holds('hold', 'WRITERS=2 COMMITS=1 READERS=1', 'WRITERS=1 COMMITS=3 READERS=1', 'WRITERS=1 COMMITS=2 READERS=2 TIME_MAX=3'),
    without('hold', 'HOLDS_IGNORED', 'WRITERS=1 COMMITS=1 READERS=1', 'a commit leaves undo rows while a hold is alive'),
    without('hold', 'HOLD_WITHOUT_COMPARE', 'WRITERS=1 COMMITS=2 READERS=1', 'a hold enters by an op that compares the header'),
    without('hold', 'COMMIT_COMPARES_VERSION', 'WRITERS=1 COMMITS=1 READERS=1', 'a commit compares the holds too'),
    without('hold', 'UNDO_FOR_OLDEST', 'WRITERS=1 COMMITS=2 READERS=2 TIME_MAX=2', 'an undo row is needed unless there is one newer than the newest hold'),
    without('hold', 'READER_WITHOUT_SKEW', 'WRITERS=1 COMMITS=1 READERS=1', 'readers stop before the hold ends by the skew'),
    without('hold', 'WRITER_WITHOUT_SKEW', 'WRITERS=1 COMMITS=1 READERS=1', 'writers honour a hold for the skew beyond its end'),
    without('hold', 'CLOCK_BEFORE_READ', 'WRITERS=1 COMMITS=1 READERS=1', 'the clock is looked at after the answer, not before the read'),
    without('hold', 'UNDO_REMOVED_APART', 'WRITERS=1 COMMITS=2 READERS=2 TIME_MAX=2', 'undo rows go in the op that takes the last hold out'),
];

const FENCE = [
    ...holds('fence', ''),
    without('fence', 'RANGE_AFTER_PIECE', '', 'the range is recorded before a piece is written'),
    without('fence', 'COMMIT_WITHOUT_FENCE', '', 'a commit that refers to pieces compares the fence of its incarnation'),
    without('fence', 'LOOK_BEFORE_FENCE', '', 'the fence is set before the first look'),
    without('fence', 'ONE_LOOK', '', 'there is a second look, when nothing is in flight any more'),
    without('fence', 'LOCK_IGNORED', '', 'a lock of the owner is got out of the way before the look'),
    without('fence', 'UNCLAIMED', '', 'a piece is claimed before it is deleted, by the label that was read'),
    without('fence', 'MOVED_WITHOUT_ROW', '', 'a row is left where a piece has moved from'),
    without('fence', 'FENCE_REMOVED', '', 'a fence is not removed while its front end may wake up'),
];

const TASKS = [
    ...holds('todo', ''),
    without('todo', 'WITHOUT_MARK', '', 'a commit that adds a task compares the minute up to which the shard was looked through'),
    without('todo', 'HINT_AFTER', '', 'the hint is written before the task'),
    without('todo', 'LOOK_BEFORE_MARK', '', 'the mark moves before the look'),
];

export const CHECKS = [...TASKS, ...FENCE, ...HOLD, ...LIMB, ...MOVE, ...COMMIT];
