// The charts that `make bench` draws of its figures: bench/charts.mjs, of a fixed file of results.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { bars, charts, decades, figure, latency, sizes } from '../../bench/charts.mjs';
import { addRow, newResults, writeResults } from '../../bench/results.mjs';

const results = JSON.parse(readFileSync(new URL('bench-results.json', import.meta.url), 'utf8'));

/** The elements of a well-formed SVG of ours: [{ name, attributes, text }]. */
function elementsOf(svg) {
    const open = [], all = [];

    for (const [, end, name, attributes, closed, text] of svg.matchAll(/<(\/?)([a-z]+)((?: [a-zA-Z-]+="[^"<]*")*)(\/?)>([^<]*)/g)) {
        if (end) {
            assert.equal(open.pop(), name);
            continue;
        }
        all.push({ name, text, attributes: Object.fromEntries([...attributes.matchAll(/ ([a-zA-Z-]+)="([^"]*)"/g)].map(([, key, value]) => [key, value])) });
        if (!closed)
            open.push(name);
    }
    assert.deepEqual(open, []);
    assert.doesNotMatch(svg, /NaN|undefined|Infinity/);
    return all;
}

const textsOf = (svg) => elementsOf(svg).filter(({ name }) => name === 'text').map(({ text }) => text);
const figuresOf = (svg, kind, attribute) => elementsOf(svg).filter(({ name }) => name === kind).map(({ attributes }) => Number(attributes[attribute]));

test('each chart says when, where and of what; what is in it is escaped', () => {
    const all = charts(results);

    assert.deepEqual(Object.keys(all), ['bench-requests-1.svg', 'bench-requests-32.svg', 'bench-latency-put-1-kib.svg', 'bench-sizes.svg']);
    for (const svg of Object.values(all))
        assert.ok(textsOf(svg).includes('2026-11-20, 2 cores of A &amp; B &lt;CPU&gt;, Linux 6.1, commit 0123456789'));
});

test('bars: as long as what they show, the longest of each work being its quickest server', () => {
    const svg = bars(results, 32);
    const widths = elementsOf(svg).filter(({ name, attributes }) => name === 'rect' && attributes.x === '200').map(({ attributes }) => Number(attributes.width));

    assert.equal(widths.length, 5);
    assert.equal(widths[0], widths[3]);
    assert.ok(Math.abs(widths[2] - widths[0] / 2) < 0.1);
    assert.ok(Math.abs(widths[1] - (widths[0] * 2344) / 74960) < 0.1);
    for (const text of ['Requests a second at 32 connections', 'GET 1 KiB', 'List 5,000 blobs', '74,960/s', '2,344/s', '3/s', 'Lagra', 'Azurite', 'nginx'])
        assert.ok(textsOf(svg).includes(text), text);
    assert.ok(!textsOf(bars(results, 1)).includes('Azurite'));
});

test('latency: a point for each number of connections, on logarithmic axes', () => {
    const svg = latency(results, 'PUT 1 KiB');
    const [x, y] = ['cx', 'cy'].map((attribute) => figuresOf(svg, 'circle', attribute));

    // 1,000/s and 10,000/s of Lagra, 100/s of Azurite; 1, 10 and 10 ms.
    assert.ok(Math.abs(x[1] - x[0] - (x[0] - x[2])) < 0.2);
    assert.equal(y[1], y[2]);
    assert.ok(y[0] > y[1]);
    assert.deepEqual(figuresOf(svg, 'polyline', 'stroke-width'), [2, 2]);
});

test('sizes: out of ever more blobs', () => {
    const texts = textsOf(sizes(results));

    for (const text of ['10,000', '1,000,000', 'List Blobs', 'Find Blobs by Tags', '4.4 ms', '3.1 ms'])
        assert.ok(texts.includes(text), text);
});

test('figures and axes', () => {
    assert.deepEqual([74960, 128.4, 99.6, 3.14, 0.5, 1e6].map(figure), ['74,960', '128', '100', '3.1', '0.5', '1,000,000']);
    assert.deepEqual(decades([3, 40]), [1, 10, 100]);
    assert.deepEqual(decades([10, 10]), [10, 100]);
});

test('a run writes its figures and a chart of each kind that it has figures for', (t) => {
    const folder = path.join(mkdtempSync(path.join(os.tmpdir(), 'lagra-charts-')), 'new');
    const run = newResults({ machine: 'here', commit: 'abc', rounds: 1, seconds: 1 });

    t.after(() => rmSync(path.dirname(folder), { recursive: true }));
    addRow(run.works, 'GET 1 KiB', 8, new Map([['Lagra', { per_second: 10, p50_us: 1, p99_us: 2, cpuUs: 3 }]]));
    assert.deepEqual(writeResults(run, folder), ['results.json', 'bench-requests-8.svg']);
    assert.deepEqual(JSON.parse(readFileSync(path.join(folder, 'results.json'), 'utf8')), run);
    assert.match(readFileSync(path.join(folder, 'bench-requests-8.svg'), 'utf8'), /commit abc/);
    assert.ok(!existsSync(path.join(folder, 'bench-sizes.svg')));
});
