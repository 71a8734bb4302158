// Storage Analytics of two front ends of one store (run.mjs): each writes what it has counted, and both together lose nothing.

import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '../crash/client.mjs';
import { startFrontEnd } from './front_end.mjs';
import { must } from './server.mjs';

const WRITERS = 3; // of each front end
const WRITE_MS = 6000;
const NOTICED_MS = 20_000;
const TABLES = ['$MetricsHourPrimaryTransactionsBlob', '$MetricsMinutePrimaryTransactionsBlob'];

const said = async (...asked) => (await must(...asked)).body.toString();

const metrics = (name, isOn) => `<${name}><Version>1.0</Version><Enabled>${isOn}</Enabled>${isOn ? '<IncludeAPIs>true</IncludeAPIs>' : ''}` +
    `<RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></${name}>`;

const ask = (server, isOn) => must(new Client(server), 202, 'PUT', '/?restype=service&comp=properties', {
    body: Buffer.from(`<?xml version="1.0"?><StorageServiceProperties><Logging><Version>1.0</Version><Delete>${isOn}</Delete><Read>${isOn}</Read><Write>${isOn}</Write>` +
        `<RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></Logging>${metrics('HourMetrics', isOn)}${metrics('MinuteMetrics', isOn)}</StorageServiceProperties>`),
});

/** All lines of the blobs of $logs. */
async function linesOf(server) {
    const client = new Client(server), lines = [];
    const list = await said(client, 200, 'GET', '/$logs?restype=container&comp=list');

    for (const [, name] of list.matchAll(/<Name>(.*?)<\/Name>/g))
        lines.push(...(await said(client, 200, 'GET', `/$logs/${name}`)).split('\n').filter(Boolean));
    client.close();
    return lines;
}

/** The sum over a table's entities of an operation. */
async function counted(server, table, row) {
    const client = new Client(server, 'table'), filter = encodeURIComponent(`RowKey eq '${row}'`);
    const { value } = JSON.parse(await said(client, 200, 'GET', `/${table}()?$filter=${filter}`,
        { headers: [['Accept', 'application/json;odata=nometadata'], ['DataServiceVersion', '3.0']] }));

    client.close();
    return value.reduce((sum, entity) => sum + Number(entity.TotalRequests), 0);
}

/** Puts blobs until told to end, each named by its request's id. */
async function put(server, name, state, sent) {
    const client = new Client(server);

    for (let n = 0; !state.ends; n++) {
        const id = `${name}-${n}`;

        await must(client, 201, 'PUT', `/counted/${id}`, { headers: [['x-ms-blob-type', 'BlockBlob'], ['x-ms-client-request-id', id]], body: Buffer.from(id) });
        sent.push(id);
    }
    client.close();
}

/** Asks a front end for something until a line of that is there: it has noticed what another was told. */
async function noticed(server, id) {
    const client = new Client(server);

    for (const end = Date.now() + NOTICED_MS; Date.now() < end; await sleep(500)) {
        await must(client, 200, 'GET', '/counted?restype=container', { headers: [['x-ms-client-request-id', id]] });
        if ((await linesOf(server)).some((line) => line.includes(id)))
            return [];
    }
    return [`a front end logs nothing ${NOTICED_MS / 1000} s after another was told to`];
}

/** What is asked for on one is done by both; no line is lost or there twice, and sums are those of both. */
export async function analytics(start, binary, cluster, store) {
    const begin = () => startFrontEnd(binary, ['--store', store.place, '--analyticsEvery', '1s']);
    const servers = [await begin(), await begin()];
    const state = { ends: false }, sent = [];

    await must(new Client(servers[0]), 201, 'PUT', '/counted?restype=container');
    await ask(servers[0], true);
    const problems = (await Promise.all(servers.map((server, i) => noticed(server, `noticed-${i}`)))).flat();
    const writers = servers.flatMap((server, i) => Array.from({ length: WRITERS }, (_, w) => put(server, `put-${i}-${w}`, state, sent)));
    await sleep(WRITE_MS);
    state.ends = true;
    await Promise.all(writers);
    await Promise.all(servers.map((server) => server.stop())); // each writes what is left
    const reader = await begin();
    const lines = (await linesOf(reader)).filter((line) => line.split(';')[2] === 'PutBlob');
    const logged = new Set(lines.map((line) => /put-\d-\d-\d+(?=")/.exec(line)?.[0]));
    if (lines.length !== sent.length || !sent.every((id) => logged.has(id)))
        problems.push(`of ${sent.length} requests there are ${lines.length} lines, of ${logged.size} different ones`);
    for (const table of TABLES) {
        const count = await counted(reader, table, 'user;PutBlob');

        if (count !== sent.length)
            problems.push(`${table}: ${count} of ${sent.length} requests`);
    }
    await ask(reader, false);
    await reader.stop();
    console.log(`analytics: ${sent.length} requests`);
    return problems;
}
