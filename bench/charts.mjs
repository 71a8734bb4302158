// Charts of the figures of a run of `make bench` (results.mjs), as SVG: bars beside each peer, latency against load,
// cost against the size of the data. Pure: figures in, text out. They stand on a ground of their own, so that they are
// read on dark pages too.

const INK = '#1f2933';
const FAINT = '#cbd2d9';
const COLOURS = { Lagra: '#0b6e4f', before: '#7fb8a4', Azurite: '#2f6fb3', nginx: '#8a8f98' };
const FALLBACK = ['#b3572f', '#6b4fa0', '#a08c2f'];
const WIDTH = 760;

const escape = (text) => `${text}`.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);
const colourOf = (name, i = 0) => COLOURS[name] ?? FALLBACK[i % FALLBACK.length];
const place = (value) => Number(value.toFixed(1));

/** 74,960; 128; 3.1 */
export function figure(value) {
    return value >= 100 ? Math.round(value).toLocaleString('en') : `${Number(value.toPrecision(2))}`;
}

function text(x, y, content, { anchor = 'start', size = 13, weight = 'normal', fill = INK } = {}) {
    return `<text x="${place(x)}" y="${place(y)}" font-size="${size}" font-weight="${weight}" fill="${fill}" text-anchor="${anchor}">${escape(content)}</text>`;
}

const line = (x1, y1, x2, y2, stroke = FAINT) =>
    `<line x1="${place(x1)}" y1="${place(y1)}" x2="${place(x2)}" y2="${place(y2)}" stroke="${stroke}"/>`;

/** When, where and of what: in every chart, since figures without them say nothing. */
export function origin({ when, machine, commit }) {
    return `${when.slice(0, 10)}, ${machine}, commit ${commit}`;
}

function legend(names, y) {
    let x = 20;

    return names.map((name, i) => {
        const at = x;
        x += 34 + 8 * name.length;
        return `<rect x="${at}" y="${y - 10}" width="12" height="12" rx="2" fill="${colourOf(name, i)}"/>${text(at + 18, y, name)}`;
    });
}

function svg(title, results, height, body) {
    return [
        `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" font-family="system-ui, sans-serif">`,
        `<title>${escape(title)}</title>`,
        `<rect width="${WIDTH}" height="${height}" rx="8" fill="#ffffff"/>`,
        text(20, 30, title, { size: 17, weight: 'bold' }),
        ...body,
        text(20, height - 14, origin(results), { size: 11, fill: '#616e7c' }),
        '</svg>', '',
    ].join('\n');
}

const namesOf = (rows) => [...new Set(rows.flatMap(({ servers }) => Object.keys(servers)))];

/* ---- bars ---- */

const BAR = 15;
const LABELS = 200;
const FIGURES = 90;

/** Requests a second of each work, the longest bar of a work being its quickest server. */
export function bars(results, connections) {
    const rows = results.works.filter((work) => work.connections === connections);
    const names = namesOf(rows);
    const room = WIDTH - LABELS - FIGURES - 20;
    const body = legend(names, 56);
    let y = 76;

    for (const { name, servers } of rows) {
        const most = Math.max(...Object.values(servers).map(({ per_second }) => per_second));
        const entries = Object.entries(servers);

        body.push(text(LABELS - 10, y + (BAR * entries.length) / 2 + 4, name, { anchor: 'end' }));
        for (const [server, { per_second }] of entries) {
            const width = Math.max(1, (room * per_second) / most);

            body.push(`<rect x="${LABELS}" y="${y}" width="${place(width)}" height="${BAR - 2}" fill="${colourOf(server, names.indexOf(server))}"/>`,
                text(LABELS + width + 6, y + BAR - 4, `${figure(per_second)}/s`, { size: 11 }));
            y += BAR;
        }
        y += 12;
    }
    return svg(`Requests a second at ${connections} connections`, results, y + 34, body);
}

/* ---- lines over two logarithmic axes ---- */

const PLOT = { left: 70, right: WIDTH - 30, top: 76, bottom: 330 };

/** The powers of ten from below the least to above the most. */
export function decades(values) {
    const low = Math.floor(Math.log10(Math.min(...values)) + 1e-9);
    const high = Math.ceil(Math.log10(Math.max(...values)) - 1e-9);

    return Array.from({ length: Math.max(high, low + 1) - low + 1 }, (_, i) => 10 ** (low + i));
}

function scale(ticks, from, to) {
    const [low, high] = [Math.log10(ticks[0]), Math.log10(ticks.at(-1))];

    return (value) => from + ((Math.log10(value) - low) / (high - low)) * (to - from);
}

/** lines: [{ name, points: [{ x, y, label }] }] */
function plot(title, results, lines, { x: xTitle, y: yTitle }) {
    const points = lines.flatMap(({ points }) => points);
    const [xs, ys] = ['x', 'y'].map((axis) => decades(points.map((point) => point[axis])));
    const [toX, toY] = [scale(xs, PLOT.left, PLOT.right), scale(ys, PLOT.bottom, PLOT.top)];
    const body = legend(lines.map(({ name }) => name), 56);

    for (const tick of xs)
        body.push(line(toX(tick), PLOT.top, toX(tick), PLOT.bottom), text(toX(tick), PLOT.bottom + 18, figure(tick), { anchor: 'middle', size: 11 }));
    for (const tick of ys)
        body.push(line(PLOT.left, toY(tick), PLOT.right, toY(tick)), text(PLOT.left - 8, toY(tick) + 4, figure(tick), { anchor: 'end', size: 11 }));
    body.push(text(PLOT.right, PLOT.bottom + 36, xTitle, { anchor: 'end', size: 12 }), text(20, PLOT.top - 8, yTitle, { size: 12 }));
    lines.forEach(({ name, points }, i) => {
        const colour = colourOf(name, i);
        const path = points.map(({ x, y }) => `${place(toX(x))},${place(toY(y))}`).join(' ');

        body.push(`<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`);
        for (const { x, y, label } of points)
            body.push(`<circle cx="${place(toX(x))}" cy="${place(toY(y))}" r="3" fill="${colour}"/>`,
                ...(label ? [text(toX(x) + 5, toY(y) - 5, label, { size: 10, fill: colour })] : []));
    });
    return svg(title, results, 400, body);
}

/** What 99 of 100 requests take at most, as more connections ask for more: a point for each number of connections. */
export function latency(results, work) {
    const rows = results.load.filter(({ name }) => name === work);

    return plot(`${work}: the 99th percentile against load`, results, namesOf(rows).map((server) => ({
        name: server,
        points: rows.filter(({ servers }) => servers[server]).map(({ connections, servers }) =>
            ({ x: servers[server].per_second, y: servers[server].p99_us / 1000, label: `${connections}` })),
    })), { x: 'requests a second; a point says how many connections', y: 'ms' });
}

/** Draws the time to list a page by number of blobs. */
export function sizes(results) {
    return plot('Time to list a page of 5,000 blobs, by number of blobs in the container', results, results.sizes.map(({ name, points }) => ({
        name, points: points.map(({ count, p50_us }) => ({ x: count, y: p50_us / 1000, label: `${figure(p50_us / 1000)} ms` })),
    })), { x: 'blobs in the container', y: 'ms' });
}

/** All charts there are figures for, by the names of their files. */
export function charts(results) {
    const all = {};

    for (const connections of new Set(results.works.map((work) => work.connections)))
        all[`bench-requests-${connections}.svg`] = bars(results, connections);
    for (const name of new Set(results.load.map((row) => row.name)))
        all[`bench-latency-${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.svg`] = latency(results, name);
    if (results.sizes.length > 0)
        all['bench-sizes.svg'] = sizes(results);
    return all;
}
