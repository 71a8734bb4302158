// The File service beside what the Blob service does with the same bytes: reads, ranges, small files, long paths,
// listings and renames of large directories.

import { Client } from './client.mjs';
import { cpuSeconds, middle } from './process.mjs';

const KiB = 1 << 10, MiB = 1 << 20;
const FEW = 10000, PAGE = 5000;
const CONNECTIONS = 32;
const RENAMES = 51; /* odd */
const SHARE = 'bench';

export const number = (value) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3));
const ofFiles = (target) => ({ ...target, port: target.filePort });

/** Requests a second, CPU of one and p50 of each work, in turns: the middle of the rounds. */
export function measureBeside(works, { load, rounds, seconds }) {
    const all = new Map(works.map(({ name }) => [name, []]));

    for (let round = 0; round < rounds; round++) {
        for (const { name, target, ...asked } of round % 2 === 0 ? works : [...works].reverse()) {
            const before = cpuSeconds(target.pid);
            const result = load(target, { connections: CONNECTIONS, seconds: seconds / rounds, ...asked });

            all.get(name).push({ ...result, cpuUs: ((cpuSeconds(target.pid) - before) / result.answered) * 1e6 });
        }
    }
    return works.map(({ name }) => {
        const of = (column) => middle(all.get(name).map((result) => result[column]));
        const values = { name, perSecond: of('per_second'), cpuUs: of('cpuUs'), p50Us: of('p50_us') };

        console.log(`${name}: ${number(values.perSecond)}/s, CPU of one ${number(values.cpuUs)} us, p50 ${number(values.p50Us / 1000)} ms`);
        return values;
    });
}

export const ratio = (what, value, limit) => console.log(`  ${what}: ${value.toFixed(2)} (${limit})`);

async function makeDirectories(client, path) {
    const names = path.split('/');

    for (let i = 1; i <= names.length; i++)
        await client.ask('PUT', `${names.slice(0, i).join('/')}?restype=directory`);
}

/** Milliseconds of one rename of a directory. */
async function measureRename(client, from) {
    const times = [];
    let at = from;

    for (let i = 0; i < RENAMES; i++) {
        const to = `${from}-${i}`;
        const began = performance.now();

        await client.ask('PUT', `${to}?comp=rename&restype=directory`, { 'x-ms-file-rename-source': client.url(at) });
        times.push(performance.now() - began);
        at = to;
    }
    return { ms: middle(times), at };
}

async function measureLarge(target, client, tools) {
    const pages = [], renames = [];

    for (const count of [FEW, tools.million]) {
        await makeDirectories(client, `dir${count}`);
        tools.load(target, { work: 'file-fill', size: 0, container: `${SHARE}/dir${count}`, names: count, count, connections: CONNECTIONS });
        pages.push({ name: `List ${PAGE.toLocaleString('en')} of ${count.toLocaleString('en')} files`, target, work: 'file-list', size: 0, container: `${SHARE}/dir${count}`, connections: 1 });
    }
    const [few, many] = measureBeside(pages, tools);
    ratio('a page of the large one to a page of the small one', many.p50Us / few.p50Us, 'at most 1.2');
    await makeDirectories(client, 'ten');
    tools.load(target, { work: 'file-fill', size: 0, container: `${SHARE}/ten`, names: 10, count: 10, connections: 1 });
    for (const name of ['ten', `dir${tools.million}`])
        renames.push(await measureRename(client, name));
    console.log(`Rename Directory: of ten files ${number(renames[0].ms)} ms, of ${tools.million.toLocaleString('en')} ${number(renames[1].ms)} ms`);
    ratio('the large one to the small one', renames[1].ms / renames[0].ms, 'at most 2');
}

export async function measureFiles(blobs, tools) {
    const files = ofFiles(blobs), client = await Client.open(files, SHARE);

    try {
        await client.ask('PUT', '?restype=share');
        await tools.createContainer(blobs, SHARE);
        const deep = Array.from({ length: 9 }, (_, i) => `d${i}`).join('/');
        await makeDirectories(client, deep);
        await makeDirectories(client, 's');
        for (const [size, names] of [[KiB, 1000], [4 * MiB, 16]]) {
            tools.load(blobs, { work: 'fill', size, container: SHARE, names, count: names, connections: CONNECTIONS });
            tools.load(files, { work: 'file-fill', size, container: SHARE, names, count: names, connections: CONNECTIONS });
        }
        for (const folder of [deep, 's'])
            tools.load(files, { work: 'file-fill', size: KiB, container: `${SHARE}/${folder}`, names: 100, count: 100, connections: CONNECTIONS });
        console.log(`\nFiles, ${CONNECTIONS} connections`);
        for (const [size, names, what] of [[KiB, 1000, '1 KiB'], [4 * MiB, 16, '4 MiB']]) {
            const [blob, file] = measureBeside([
                { name: `Get Blob ${what}`, target: blobs, work: 'get', size, names, container: SHARE },
                { name: `Get File ${what}`, target: files, work: 'file-get', size, names, container: SHARE },
            ], tools);
            ratio('files to blobs, a second', file.perSecond / blob.perSecond, 'at least 0.9');
        }
        const [put, range] = measureBeside([
            { name: 'PUT 1 KiB', target: blobs, work: 'put', size: KiB, names: 1000, container: SHARE },
            { name: 'Put Range 4 KiB anywhere in 8 GiB', target: files, work: 'file-range', size: 4 * KiB, container: SHARE },
            { name: 'Create File 1 KiB, Delete File', target: files, work: 'file-cycle', size: KiB, container: SHARE },
            { name: 'Create File, Delete File, empty', target: files, work: 'file-cycle', size: 0, container: SHARE },
        ], tools);
        ratio('Put Range to PUT, a second', range.perSecond / put.perSecond, 'at least 0.7');
        const [short, long] = measureBeside([
            { name: 'Get File 1 KiB, path of 2', target: files, work: 'file-get', size: KiB, names: 100, container: `${SHARE}/s` },
            { name: 'Get File 1 KiB, path of 10', target: files, work: 'file-get', size: KiB, names: 100, container: `${SHARE}/${deep}` },
        ], tools);
        ratio('CPU of the long path to that of the short one', long.cpuUs / short.cpuUs, 'at most 1.3');
        await measureLarge(files, client, tools);
    } finally {
        client.close();
    }
}
