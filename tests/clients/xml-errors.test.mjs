// Bodies of XML that a service refuses: service properties and stored access policies of all four
// services, with LineNumber, LinePosition and Reason. decisions: 266, 860
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { raw } from './raw.mjs';
import { newContainer } from './setup.mjs';
import { newShare } from './shares-setup.mjs';
import { newTable } from './tables-setup.mjs';

const SERVICES = ['blob', 'file', 'queue', 'table'];
const baseOf = (service) => {
    const url = service === 'blob' ? process.env.LAGRA_TEST_URL : process.env[`LAGRA_TEST_${service.toUpperCase()}_URL`];
    const { hostname: host, port } = new URL(url);
    return { host, port: Number(port) };
};
const put = (service, path, body) => raw('PUT', path, { 'Content-Type': 'application/xml' }, body, { base: baseOf(service), service });
const setProperties = (service, body) => put(service, '/?restype=service&comp=properties', body);

const elementsOf = (text) => Object.fromEntries(['Code', 'LineNumber', 'LinePosition', 'Reason'].map((name) => [
    name, new RegExp(`<(?:m:)?${name.replace('Code', '[Cc]ode')}(?: [^>]*)?(?:/>|>([^<]*)<)`).exec(text)?.[1]?.replaceAll('&apos;', "'") ?? '']));

async function refusedDocument(answer, where, { line, position, reason }) {
    const { status, text } = await answer;
    assert.equal(status, 400, `${where}: ${text}`);
    const places = where.startsWith('table') ? { LineNumber: '', LinePosition: '', Reason: '' } // tables' errors have none (recorded)
        : { LineNumber: String(line), LinePosition: String(position), Reason: reason };
    assert.deepEqual(elementsOf(text), { Code: 'InvalidXmlDocument', ...places }, where);
}

test('service properties without elements are refused, at the end of the document', async () => {
    // recorded for queues, 2 of 2; the reader is that of every service
    const DECLARATION = "<?xml version='1.0' encoding='utf-8'?>\n";
    const none = (line, position) =>
        ({ line, position, reason: `Error parsing Xml content: 'None' is an invalid XmlNodeType. Line ${line}, position ${position}.` });
    for (const service of SERVICES) {
        await refusedDocument(setProperties(service, `${DECLARATION}<StorageServiceProperties />`), service, none(2, 29));
        await refusedDocument(setProperties(service, '<StorageServiceProperties/>'), service, none(1, 28));
        await refusedDocument(setProperties(service, '<StorageServiceProperties/>\n\n'), service, none(3, 1));
        assert.equal((await setProperties(service, '<StorageServiceProperties></StorageServiceProperties>')).status, 202, service);
    }
});

test('a retention that lacks its days, or has them though it is off', async () => {
    // recorded, 4 of 4, without the text; the text of the second was reported by giovanni's authors
    const policy = (name, inner) => `<${name}>${inner}</${name}>`;
    const properties = (inner) => `<StorageServiceProperties>${inner}</StorageServiceProperties>`;
    const positionIn = (body, name) => body.indexOf(`</${name}>`) + 3;
    const retentions = {
        blob: ['DeleteRetentionPolicy', 'ContainerDeleteRetentionPolicy'], file: ['ShareDeleteRetentionPolicy'], queue: [], table: [],
    };
    for (const service of SERVICES) {
        const bodies = [
            ...retentions[service].map((name) => [name, (inner) => properties(policy(name, inner))]),
            ['RetentionPolicy', (inner) => properties(`<HourMetrics><Version>1.0</Version><Enabled>false</Enabled>${policy('RetentionPolicy', inner)}</HourMetrics>`)],
        ];
        for (const [name, make] of bodies) {
            const missing = make('<Enabled>true</Enabled>');
            await refusedDocument(setProperties(service, missing), `${service} ${name}`,
                { line: 1, position: positionIn(missing, name), reason: `Element Days is expected when ${name} is enabled.` });
            const off = make('<Enabled>false</Enabled><Days>7</Days>');
            await refusedDocument(setProperties(service, off), `${service} ${name}`,
                { line: 1, position: positionIn(off, name), reason: `Element Days is only expected when ${name} is enabled.` });
        }
    }
});

/** A path for Set ACL of a new resource of the service, and a letter that its policies know. */
async function aclOf(t, service) {
    if (service === 'blob')
        return `/${(await newContainer(t)).containerName}?restype=container&comp=acl`;
    if (service === 'file')
        return `/${(await newShare(t)).name}?restype=share&comp=acl`;
    if (service === 'table')
        return `/${(await newTable(t)).tableName}?comp=acl`;
    const name = `xml-${process.pid}`;
    assert.equal((await put('queue', `/${name}`)).status, 201);
    t.after(() => raw('DELETE', `/${name}`, {}, '', { base: baseOf('queue') }));
    return `/${name}?comp=acl`;
}

test('stored access policies that break a rule are refused as a whole', async (t) => {
    // recorded: ids of more than 64 characters (2), without Id (1), six policies of a table, and one without what it needs
    const whole = { line: 0, position: 0, reason: '' };
    const policy = (id, inner = '') => `<SignedIdentifier>${id === null ? '' : `<Id>${id}</Id>`}<AccessPolicy>${inner}</AccessPolicy></SignedIdentifier>`;
    for (const service of SERVICES) {
        const path = await aclOf(t, service);
        const set = (inner) => put(service, path, `<SignedIdentifiers>${inner}</SignedIdentifiers>`);
        for (const inner of [policy('x'.repeat(65)), policy(null), policy(''), policy('a') + policy('a'), policy('a', '<Permission>?</Permission>'),
            ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => policy(id, '<Start>soon</Start>')).join('')])
            await refusedDocument(set(inner), `${service} ${inner}`, whole);
        assert((await set(policy('x'.repeat(64), '<Permission>r</Permission>'))).status < 300, service);
    }
});

test('letters out of order are refused for containers alone', async (t) => {
    // reported: azure-sdk-for-net issue 14456; decision: 860
    const policy = (letters) => `<SignedIdentifiers><SignedIdentifier><Id>a</Id><AccessPolicy><Permission>${letters}</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>`;
    const container = await aclOf(t, 'blob');
    for (const letters of ['wrld', 'lr', 'dw', 'rlt' + 'a'])
        await refusedDocument(put('blob', container, policy(letters)), letters, { line: 0, position: 0, reason: '' });
    for (const letters of ['rwdl', 'racwdxltmeop', 'racwdxyltfmeopi', 'racwdxltmeiyf']) // .NET and JavaScript place y, f and i differently
        assert.equal((await put('blob', container, policy(letters))).status, 200, letters);
    for (const [service, letters] of [['queue', 'par'], ['table', 'dar'], ['file', 'dwr']])
        assert((await put(service, await aclOf(t, service), policy(letters))).status < 300, service);
});
