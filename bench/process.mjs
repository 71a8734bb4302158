// What the kernel counts for a process and its children or threads: CPU time and memory; whether it
// rests; its caches; and the middle of several rounds.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/* A server rests that takes less of a second. */
const IDLE_CPU_S = 0.05;
const IDLE_LIMIT_S = 180;
const TICKS_PER_SECOND = 100; /* USER_HZ of Linux's /proc */

function children(pid) {
    try {
        return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
    } catch {
        return [];
    }
}

function family(pid) {
    return [pid, ...children(pid).flatMap(family)];
}

/** How many processes it and its descendants are. */
export const processes = (pid) => family(pid).length;

/** With those of children that have ended; of a process that has just ended itself its parent has them. */
function ownCpuSeconds(pid) {
    let stat;

    try {
        stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    } catch {
        return 0;
    }
    return stat.split(') ')[1].split(' ').slice(11, 15).reduce((ticks, field) => ticks + Number(field), 0) / TICKS_PER_SECOND;
}

/** Seconds of CPU used so far by it and its descendants. */
export const cpuSeconds = (pid) => family(pid).map(ownCpuSeconds).reduce((a, b) => a + b, 0);

/** What filling a server has left to be compacted is no part of what is measured next: seconds until it rests. */
export async function untilIdle(pid) {
    const began = performance.now(), seconds = () => (performance.now() - began) / 1000;
    let before;

    do {
        before = cpuSeconds(pid);
        await delay(1000);
    } while (cpuSeconds(pid) - before > IDLE_CPU_S && seconds() < IDLE_LIMIT_S);
    return seconds();
}

/** MiB; name: VmRSS (now) or VmHWM (the most so far). */
export function memoryMiB(pid, name) {
    return family(pid).map((one) => {
        const found = readFileSync(`/proc/${one}/status`, 'utf8').match(new RegExp(`${name}:\\s+(\\d+) kB`));
        return found ? Number(found[1]) / 1024 : 0;
    }).reduce((a, b) => a + b, 0);
}

/** Seconds of CPU of each thread whose name begins so, by its id. */
export function threadSeconds(pid, prefix) {
    const seconds = new Map();

    for (const thread of readdirSync(`/proc/${pid}/task`)) {
        if (readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8').startsWith(prefix))
            seconds.set(thread, Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e9);
    }
    return seconds;
}

/** Has the kernel forget what it read of disks. False: only root may ask for it. */
export function dropCaches() {
    try {
        writeFileSync('/proc/sys/vm/drop_caches', '3');
        return true;
    } catch {
        return false;
    }
}

/** The middle one; their number is odd. */
export const middle = (values) => [...values].sort((a, b) => a - b)[(values.length - 1) / 2];

/** Lagra's rounds over those of the baseline, one by one: the middle of the quotients in words; '' without a baseline. */
export function againstBefore(rounds, figure) {
    const before = rounds.get('before');

    return before ? ` (${middle(rounds.get('Lagra').map((one, i) => one[figure] / before[i][figure])).toFixed(3)} of before)` : '';
}
