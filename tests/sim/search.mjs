// The search of planted.mjs for a seed that shows a defect.

/** From "N seeds, N requests, .. N in a second of the processor". */
function done(output) {
    const [, seeds, requests, rate] =
        output.match(/(\d+) seeds, (\d+) requests, .* (\d+) in a second of the processor/) ?? [];

    return { seeds: Number(seeds ?? 0), seconds: Number(rate) > 0 ? requests / rate : 0 };
}

/** The seed that the output of a simulator says has failed. */
export function failedSeed(output) {
    return (output.match(/^seed (\d+) fails: /m) ?? [])[1] ?? 'none';
}

/** Runs seed after seed, until one fails that the unchanged program passes, or `seconds` of the processor are used.
 *  `run` runs the changed simulator with arguments; `failsUnchanged` the unchanged one with one seed. Returns the
 *  output of the last run, and in `faults` the seeds that both fail. */
export function search({ run, failsUnchanged, seconds: limit }) {
    const faults = [];
    let output = '', seed = 1, seconds = 0, status = 0, found = false;

    while (!found && (status === 0 || status === 1) && seconds < limit) {
        ({ status, output } = run(['--seed', String(seed), '--seconds', '10']));
        const { seeds, seconds: more } = done(output);
        seconds += more;
        if (status === 0 && seeds === 0)
            throw new Error(output);
        seed += seeds;
        if (status !== 1)
            continue;
        const failed = failedSeed(output);
        if (failed === 'none')
            throw new Error(output);
        if (failsUnchanged(failed))
            faults.push(failed);
        else
            found = seconds <= limit;
        seed = Number(failed) + 1;
    }
    return { found, output, seconds, faults };
}
