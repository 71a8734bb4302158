// Every element that the definitions have for the body of a request is built: a value without sense is refused, or
// listed below with its effect or the reason why it has none. Other elements are refused, at each place of the body.
// definitions.json: their names. decision: 1435
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { Server } from '../lib/server.mjs';
import { raw } from './raw.mjs';
import { blockId } from './setup.mjs';

const DEFINITIONS = JSON.parse(readFileSync(new URL('definitions.json', import.meta.url)));
const NONSENSE = 'nonsense';

const server = await Server.start({});
after(() => server.kill().then(() => server.remove()));

/* ---- bodies with every element: {name: value}, {name: [item, ..]} ---- */

const RETENTION = { Enabled: 'true', Days: '7' };
const LOGGING = { Version: '1.0', Delete: 'true', Read: 'false', Write: 'false', RetentionPolicy: RETENTION };
const METRICS = { Version: '1.0', Enabled: 'true', IncludeAPIs: 'true', RetentionPolicy: RETENTION };
const RULE = { AllowedOrigins: 'http://a.example', AllowedMethods: 'GET', MaxAgeInSeconds: '5', ExposedHeaders: 'x-ms-a', AllowedHeaders: 'x-ms-b' };
const SERVICE = { Logging: LOGGING, HourMetrics: METRICS, MinuteMetrics: METRICS, Cors: { CorsRule: RULE } };
const POLICIES = { SignedIdentifiers: { SignedIdentifier: { Id: 'one', AccessPolicy: {
    Start: '2026-01-01T00:00:00.0000000Z', Expiry: '2027-01-01T00:00:00.0000000Z', Permission: 'r' } } } };
const PROTECTED = { EncryptionInTransit: { Required: 'false' } };
const MESSAGE = { QueueMessage: { MessageText: 'text' } };

const BODIES = {
    blob: {
        Service_setProperties: { StorageServiceProperties: { ...SERVICE, DefaultServiceVersion: '2026-10-06', DeleteRetentionPolicy: RETENTION,
            StaticWebsite: { Enabled: 'true', IndexDocument: 'i', ErrorDocument404Path: 'e', DefaultIndexDocumentPath: undefined } } },
        Container_setAccessPolicy: POLICIES,
        Blob_setTags: { Tags: { TagSet: { Tag: { Key: 'k', Value: 'v' } } } },
        BlockBlob_commitBlockList: { BlockList: { Uncommitted: blockId(1), Latest: blockId(2), Committed: undefined } },
    },
    file: {
        Service_setProperties: { StorageServiceProperties: { ...SERVICE, Logging: undefined,
            ProtocolSettings: { SMB: { Multichannel: { Enabled: 'false' }, ...PROTECTED }, NFS: PROTECTED } } },
        Share_setAccessPolicy: POLICIES,
    },
    queue: {
        Service_setProperties: { StorageServiceProperties: SERVICE },
        Queue_setAccessPolicy: POLICIES,
        Messages_enqueue: MESSAGE,
        MessageId_update: MESSAGE,
    },
    table: {
        Service_setProperties: { StorageServiceProperties: SERVICE },
        Table_setAccessPolicy: { SignedIdentifiers: { SignedIdentifier: { ...POLICIES.SignedIdentifiers.SignedIdentifier } } },
    },
};
/* An element that another one excludes, and the body that has it. */
const INSTEAD = {
    'StorageServiceProperties/StaticWebsite/DefaultIndexDocumentPath':
        { StorageServiceProperties: { StaticWebsite: { Enabled: 'true', DefaultIndexDocumentPath: 'i' } } },
    'BlockList/Committed': { BlockList: { Committed: blockId(2) } },
};

/* Operations without a body here, and why. */
const ELSEWHERE = {
    Blob_query: '501: unbuilt.test.mjs', Service_getUserDelegationKey: 'by a bearer token: tokens.test.mjs',
    Table_create: 'JSON, whose names are those of properties: tables-wire.test.mjs',
    Share_createPermission: 'JSON: permissions.test.mjs',
};

/* Any value is taken: why. */
const TAKEN = {
    'SignedIdentifiers/SignedIdentifier/Id': 'a name', 'Tags/TagSet/Tag/Key': 'a name', 'Tags/TagSet/Tag/Value': 'a value',
    'QueueMessage/MessageText': 'a text', 'StorageServiceProperties/StaticWebsite/IndexDocument': 'a name',
    'StorageServiceProperties/StaticWebsite/ErrorDocument404Path': 'a name',
    'StorageServiceProperties/StaticWebsite/DefaultIndexDocumentPath': 'a name',
    'StorageServiceProperties/Cors/CorsRule/AllowedOrigins': 'no browser sends it',
    'StorageServiceProperties/Cors/CorsRule/AllowedHeaders': 'the name of a header',
    'StorageServiceProperties/Cors/CorsRule/ExposedHeaders': 'the name of a header',
};

/* ---- the walk ---- */

function render(body, { path, value, child }, at = '') {
    return Object.entries(body).filter(([, one]) => one !== undefined).map(([name, one]) => {
        const own = at ? `${at}/${name}` : name;
        const inner = own === path && value !== undefined ? value : typeof one === 'string' ? one : render(one, { path, value, child }, own);
        return `<${name}>${inner}${own === path && child ? child : ''}</${name}>`;
    }).join('');
}

const pathsOf = (body, at = '') => Object.entries(body).flatMap(([name, one]) => {
    const own = at ? `${at}/${name}` : name;
    return one === undefined ? [] : [own, ...(typeof one === 'string' ? [] : pathsOf(one, own))];
});

const ask = (service, method, path, headers, body) =>
    raw(method, path, headers, body, { service, version: service === 'table' ? '2019-02-02' : '2026-10-06',
        base: { host: server.host, port: server.ports[service] } });
async function must(...request) {
    const answer = await ask(...request);
    assert.ok(answer.status < 300, `${request.slice(0, 3).join(' ')}: ${answer.status} ${answer.text}`);
    return answer;
}

let count = 0;
/** Where the body is sent to: [method, path]. */
const TARGETS = {
    Service_setProperties: async () => ['PUT', '/?restype=service&comp=properties'],
    async Container_setAccessPolicy(name) {
        await must('blob', 'PUT', `/${name}?restype=container`);
        return ['PUT', `/${name}?restype=container&comp=acl`];
    },
    async Blob_setTags(name) {
        await must('blob', 'PUT', `/${name}?restype=container`);
        await must('blob', 'PUT', `/${name}/b`, { 'x-ms-blob-type': 'BlockBlob' }, 'x');
        return ['PUT', `/${name}/b?comp=tags`];
    },
    async BlockBlob_commitBlockList(name) {
        await must('blob', 'PUT', `/${name}?restype=container`);
        for (const [number, commit] of [[2, true], [1, false]]) {
            await must('blob', 'PUT', `/${name}/b?comp=block&blockid=${encodeURIComponent(blockId(number))}`, {}, 'x');
            if (commit)
                await must('blob', 'PUT', `/${name}/b?comp=blocklist`, {}, `<BlockList><Latest>${blockId(number)}</Latest></BlockList>`);
        }
        return ['PUT', `/${name}/b?comp=blocklist`];
    },
    async Share_setAccessPolicy(name) {
        await must('file', 'PUT', `/${name}?restype=share`);
        return ['PUT', `/${name}?restype=share&comp=acl`];
    },
    async Queue_setAccessPolicy(name) {
        await must('queue', 'PUT', `/${name}`);
        return ['PUT', `/${name}?comp=acl`];
    },
    async Messages_enqueue(name) {
        await must('queue', 'PUT', `/${name}`);
        return ['POST', `/${name}/messages`];
    },
    async MessageId_update(name) {
        await must('queue', 'PUT', `/${name}`);
        const { text } = await must('queue', 'POST', `/${name}/messages`, {}, render(MESSAGE, {}));
        const part = (word) => encodeURIComponent(new RegExp(`<${word}>(.*?)</${word}>`).exec(text)[1]);
        return ['PUT', `/${name}/messages/${part('MessageId')}?popreceipt=${part('PopReceipt')}&visibilitytimeout=0`];
    },
    async Table_setAccessPolicy(name) {
        const types = { Accept: 'application/json;odata=nometadata', 'Content-Type': 'application/json' };
        await must('table', 'POST', '/Tables', types, JSON.stringify({ TableName: name }));
        return ['PUT', `/${name}?comp=acl`];
    },
};

async function sent(service, operation, body, change) {
    const [method, path] = await TARGETS[operation](`elements${++count}`);
    return ask(service, method, path, {}, render(body, change));
}

/** What is wrong with how the operation takes an element; null if nothing is. */
async function problem(service, operation, path) {
    const body = INSTEAD[path] ?? BODIES[service][operation];
    const isGroup = pathsOf(body).some((one) => one.startsWith(`${path}/`));
    const unchanged = await sent(service, operation, body, {});
    const { status, code } = await sent(service, operation, body, isGroup ? { path, child: '<Nonsense>1</Nonsense>' } : { path, value: NONSENSE });
    const is = `${service} ${operation} ${path}`;

    if (!pathsOf(body).includes(path))
        return `${is}: no body has it`;
    if (unchanged.status >= 300)
        return `${is}: ${unchanged.status} ${unchanged.text.slice(0, 90)}`;
    if (!isGroup && path in TAKEN)
        return status < 300 ? null : `${is}: ${status} ${code}`;
    return status === 400 ? null : `${is}: ${status} ${code}`;
}

for (const [service, operations] of Object.entries(DEFINITIONS)) {
    for (const [operation, { elements }] of Object.entries(operations)) {
        if (elements.length === 0 || operation in ELSEWHERE)
            continue;
        test(`${service}: ${operation}: each element of its body`, async () => {
            const found = [];
            for (const path of elements)
                found.push(await problem(service, operation, path));
            assert.deepEqual(found.filter(Boolean), []);
        });
    }
}
