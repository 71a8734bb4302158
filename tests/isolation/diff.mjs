// A unified difference of two lists of lines, by their longest common subsequence.

const CONTEXT = 3;

/** Runs of [sign, line]: ' ' in both, '-' in the first only, '+' in the second only. */
function edits(a, b) {
    const width = b.length + 1;
    const common = new Uint32Array((a.length + 1) * width);
    const out = [];

    for (let i = a.length - 1; i >= 0; i--)
        for (let j = b.length - 1; j >= 0; j--)
            common[i * width + j] = a[i] === b[j] ? common[(i + 1) * width + j + 1] + 1
                : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    for (let i = 0, j = 0; i < a.length || j < b.length;) {
        if (i < a.length && j < b.length && a[i] === b[j])
            out.push([' ', a[i++], j++]);
        else if (j === b.length ||
            (i < a.length && common[(i + 1) * width + j] >= common[i * width + j + 1]))
            out.push(['-', a[i++]]);
        else
            out.push(['+', b[j++]]);
    }
    return out;
}

/** Text of the difference, '' when there is none. */
export function unifiedDiff(a, b, nameA, nameB) {
    const all = edits(a, b);
    const near = all.map((edit, at) => all.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1)
        .some(([sign]) => sign !== ' '));
    const out = [];
    let lineA = 1;
    let lineB = 1;

    for (let at = 0; at < all.length; at++) {
        const [sign, line] = all[at];
        if (near[at] && !near[at - 1])
            out.push(`@@ ${lineA} ${lineB} @@`);
        if (near[at])
            out.push(sign + line);
        lineA += sign !== '+';
        lineB += sign !== '-';
    }
    return out.length === 0 ? '' : [`--- ${nameA}`, `+++ ${nameB}`, ...out].join('\n');
}
