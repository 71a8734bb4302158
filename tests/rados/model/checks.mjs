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

const SPLIT = [
    ...holds('split', 'SPLITTERS=1 WRITERS=2', 'SPLITTERS=1 WRITERS=1 PARTICIPANTS=1', 'SPLITTERS=1 PARTICIPANTS=1 READERS=1',
        'SPLITTERS=1 WRITERS=2 READERS=1', 'SPLITTERS=2 WRITERS=1', 'SPLITTERS=2 PARTICIPANTS=1', 'SPLITTERS=2 WRITERS=1 READERS=1'),
    without('split', 'OP_WITHOUT_BOUNDS', 'SPLITTERS=1 WRITERS=1', 'each op on a shard compares its bounds row'),
    without('split', 'SETTLE_WITHOUT_BOUNDS', 'SPLITTERS=1 PARTICIPANTS=1', 'settle compares it too, and its changes are logged'),
    without('split', 'READ_WITHOUT_BOUNDS', 'SPLITTERS=1 WRITERS=1 READERS=1', 'a read (a held one, the fate of a lock) compares it too'),
    without('split', 'DROP_LOG', 'SPLITTERS=1 WRITERS=1', 'changes are logged while the shard is split'),
    without('split', 'CONSTANT_MARKS', 'SPLITTERS=1 WRITERS=2', 'each change of a row has a mark of its own'),
    without('split', 'WRITE_WHILE_FROZEN', 'SPLITTERS=1 WRITERS=1', 'writers wait while the shard is frozen'),
    without('split', 'NO_LAST_CATCH_UP', 'SPLITTERS=1 WRITERS=1', 'what was logged before the freeze is copied after it'),
    without('split', 'COPY_WITHOUT_TOKEN', 'SPLITTERS=2 WRITERS=1', 'writes into the new shard compare the token of the one that fills it'),
    without('split', 'RESUME_TRUSTS_LOG', 'SPLITTERS=2 WRITERS=1', 'who resumes copies all logged rows again'),
    without('split', 'KNOWN_BEFORE_COPIED', 'SPLITTERS=2 WRITERS=1', 'a mark is known when its row has been written, not before'),
    without('split', 'SLOTS_STAY', 'SPLITTERS=1 PARTICIPANTS=1', 'slots of what moved are emptied with the change'),
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

export const CHECKS = [...TASKS, ...FENCE, ...HOLD, ...SPLIT, ...COMMIT];
