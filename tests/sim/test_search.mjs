// Rules of search.mjs, with simulators of a few lines. Run by `make check`.
import assert from 'node:assert/strict';
import { search } from './search.mjs';

/** A simulator that runs to the first of the seeds which fail, or past `most` of them; a second each. */
function simulator(fails, most = 4) {
    return ([, first]) => {
        const from = Number(first);
        const failed = fails.find((seed) => seed >= from && seed < from + most);
        const seeds = failed === undefined ? most : failed - from + 1;

        return {
            status: failed === undefined ? 0 : 1,
            output: `${failed === undefined ? '' : `seed ${failed} fails: why\n`}` +
                `${seeds} seeds, ${seeds} requests, 0 crashes, 1 in a second of the processor\n`,
        };
    };
}

function find(fails, unchanged, seconds = 20) {
    const { found, faults } = search({
        run: simulator(fails), failsUnchanged: (seed) => unchanged.includes(Number(seed)), seconds,
    });

    return { found, faults };
}

// A seed that fails is a find, if the unchanged program passes it.
assert.deepEqual(find([7], []), { found: true, faults: [] });
assert.deepEqual(find([7], [7]), { found: false, faults: ['7'] });
// Else the search continues after it.
assert.deepEqual(find([2, 3, 9], [2, 3]), { found: true, faults: ['2', '3'] });
// Until the time is used.
assert.deepEqual(find([], []), { found: false, faults: [] });
assert.deepEqual(find([9], [], 6), { found: false, faults: [] });
// A simulator that does not say which seed has failed, or that runs none, is an error.
assert.throws(() => search({ run: () => ({ status: 1, output: 'x' }), failsUnchanged: () => false, seconds: 9 }));
assert.throws(() => search({ run: () => ({ status: 0, output: 'x' }), failsUnchanged: () => false, seconds: 9 }));
