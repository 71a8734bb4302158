// Is the history of a register linearizable? Each write has a value of its own, so the zones of Gibbons and Korach ("Testing Shared Memories", 1997)
// decide it in n log n: the operations of a value are its write and the reads that returned it. If the first of them ended before the last began, the
// register had the value for all of the time in between (forward), otherwise at some instant between the two (backward). Forward zones must not
// overlap, and no backward zone may lie within a forward one.

/** operations: { kind: 'write' or 'read', value, began, ended }; ended is Infinity for a write without a response, which may be executed at any
 *  time. The register has the value 0 at first. Returns what is wrong, or null. */
export function notLinearizable(operations) {
    const zones = new Map([[0, { value: 0, write: -Infinity, firstEnd: -Infinity, lastBegin: -Infinity }]]);

    for (const { kind, value, began, ended } of operations)
        if (kind === 'write')
            zones.set(value, { value, write: began, firstEnd: ended, lastBegin: began });
    for (const { kind, value, began, ended } of operations) {
        if (kind !== 'read')
            continue;
        const zone = zones.get(value);

        if (!zone || ended < zone.write)
            return `${value} is read before it was written`;
        zone.firstEnd = Math.min(zone.firstEnd, ended);
        zone.lastBegin = Math.max(zone.lastBegin, began);
    }
    const all = [...zones.values()], forward = all.filter(({ firstEnd, lastBegin }) => firstEnd < lastBegin).sort((a, b) => a.firstEnd - b.firstEnd);

    for (const [i, zone] of forward.entries())
        if (i > 0 && zone.firstEnd < forward[i - 1].lastBegin)
            return `${zone.value} was current at ${zone.firstEnd}, but ${forward[i - 1].value} is read from ${forward[i - 1].lastBegin} on`;
    for (const { value, firstEnd, lastBegin } of all.filter((zone) => zone.firstEnd >= zone.lastBegin)) {
        const around = lastAtMost(forward, lastBegin);

        if (around && around.firstEnd < lastBegin && firstEnd < around.lastBegin)
            return `${value} was current between ${lastBegin} and ${firstEnd}, but ${around.value} from ${around.firstEnd} to ${around.lastBegin}`;
    }
    return null;
}

/** The last of these sorted zones that begins at or before this time. */
function lastAtMost(zones, time) {
    let from = 0, to = zones.length;

    while (from < to) {
        const middle = (from + to) >> 1;

        if (zones[middle].firstEnd <= time)
            from = middle + 1;
        else
            to = middle;
    }
    return zones[from - 1];
}
