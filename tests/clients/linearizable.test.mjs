// The judge of the histories of registers (tests/cluster/linearizable.mjs) agrees with a search of all orders.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notLinearizable } from '../cluster/linearizable.mjs';

const HISTORIES = 5000, OPERATIONS_MAX = 7, TIMES = 60;

/** Is there an order that respects the times, and in which each read returns the value written last? */
function hasOrder(operations, done = 0, value = 0, seen = new Set()) {
    const left = operations.filter((_, i) => !(done >> i & 1)), before = Math.min(...left.map(({ ended }) => ended));

    if (before === Infinity)
        return true;
    if (seen.has(`${done} ${value}`))
        return false;
    seen.add(`${done} ${value}`);
    return operations.some((operation, i) => !(done >> i & 1) && operation.began <= before && (operation.kind === 'write' || operation.value === value) &&
        hasOrder(operations, done | 1 << i, operation.value, seen));
}

test('a history is judged linearizable if and only if an order exists', (t) => {
    let state = 1;
    const below = (limit) => {
        state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
        return (state >> 8) % limit;
    };
    const verdicts = { true: 0, false: 0 };

    for (let i = 0; i < HISTORIES; i++) {
        const kinds = Array.from({ length: 1 + below(OPERATIONS_MAX) }, () => ['write', 'read'][below(2)]);
        const times = Array.from({ length: TIMES }, (_, time) => time).sort(() => below(3) - 1), writes = kinds.filter((kind) => kind === 'write').length;
        let last = 0;
        const operations = kinds.map((kind) => {
            const [began, ended] = [times.pop(), times.pop()].sort((a, b) => a - b);

            return kind === 'read' ? { kind, value: below(writes + 1), began, ended } : { kind, value: ++last, began, ended: below(4) ? ended : Infinity };
        });
        const isOk = notLinearizable(operations) === null;

        assert.equal(isOk, hasOrder(operations), JSON.stringify(operations));
        verdicts[isOk]++;
    }
    assert.ok(verdicts.true > HISTORIES / 10 && verdicts.false > HISTORIES / 10, JSON.stringify(verdicts));
});
