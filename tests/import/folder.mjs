// A data folder of Azurite's with very many blobs, entities and messages: Azurite makes it with a few of each, and its databases
// are continued as it would have, since it takes an hour for 100,000 blobs on a busy machine.

import { createHash, randomUUID } from 'node:crypto';
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { blobOf, entityOf, fillAccount, messageOf, queues, TABLE } from './account.mjs';
import { startAzurite } from './azurite.mjs';

const FEW = { blobs: 101, entities: 1, messages: 1 };

/** A database of LokiJS, changed by work(collection by its name). */
function change(location, name, work) {
    const file = path.join(location, `__azurite_db_${name}__.json`);
    const database = JSON.parse(readFileSync(file, 'utf8'));

    work((wanted) => database.collections.find((collection) => collection.name === wanted));
    writeFileSync(file, JSON.stringify(database));
}

const order = (a, b) => a < b ? -1 : a > b ? 1 : 0;

/** The documents of a collection become those; each index lists them in the order of a member. */
function replace(collection, documents) {
    collection.data = documents.map((document, i) => ({ ...document, $loki: i + 1 }));
    collection.maxId = documents.length;
    for (const [name, index] of Object.entries(collection.binaryIndices))
        index.values = documents.map((_, i) => i).sort((a, b) => order(documents[a][name], documents[b][name]) || a - b);
}

/** One file of bytes that documents point into: add() gives where they lie, end() enters it in its database. */
function newExtent(location, service) {
    const id = randomUUID();
    const file = openSync(path.join(location, `__${service}storage__`, id), 'w');
    let size = 0;

    return {
        add(bytes) {
            writeSync(file, bytes);
            size += bytes.length;
            return { id, offset: size - bytes.length, count: bytes.length };
        },
        end() {
            closeSync(file);
            change(location, `${service}_extent`, (find) => {
                const extents = find('$EXTENTS_COLLECTION$');
                replace(extents, [...extents.data, { ...extents.data[0], id, path: id, size }]);
            });
        },
    };
}

const etagOf = (i) => `"0x${(2 ** 52 + i).toString(16).toUpperCase()}"`;

function multiplyBlobs(location, count) {
    const extent = newExtent(location, 'blob');

    change(location, 'blob', (find) => {
        const blobs = find('$BLOBS_COLLECTION$');
        const made = new Map(blobs.data.map((document) => [document.name, document]));
        const like = (i) => made.get(blobOf([100, 50, 10, 1].find((step) => i % step === 0)).name);
        replace(blobs, Array.from({ length: count }, (_, i) => {
            const { container, name, headers, body } = blobOf(i), document = like(i);
            return {
                ...document, containerName: container, name, persistency: extent.add(body),
                properties: { ...document.properties, etag: etagOf(i), contentLength: body.length, contentType: headers['Content-Type'],
                    contentMD5: { ...createHash('md5').update(body).digest() } },
                ...(document.metadata && { metadata: { number: `${i}` } }),
                ...(document.blobTags && { blobTags: { blobTagSet: [{ key: 'number', value: `${i}` }] } }),
            };
        }));
    });
    extent.end();
}

function multiplyEntities(location, count) {
    change(location, 'table', (find) => {
        const entities = find(`devstoreaccount1$${TABLE}`), [first] = entities.data;
        replace(entities, Array.from({ length: count }, (_, i) => {
            const { PartitionKey, RowKey, ...rest } = entityOf(i);
            return { ...first, PartitionKey, RowKey, properties: { ...first.properties, PartitionKey, RowKey, ...rest } };
        }));
    });
}

function multiplyMessages(location, count) {
    const extent = newExtent(location, 'queue');

    change(location, 'queue', (find) => {
        const messages = find('$MESSAGES_COLLECTION$'), [first] = messages.data;
        replace(messages, Array.from({ length: count }, (_, i) => ({
            ...first, queueName: queues[i % queues.length], messageId: randomUUID(), timeNextVisible: first.timeNextVisible + i,
            insertionTime: new Date(first.timeNextVisible + i).toISOString(), persistency: extent.add(Buffer.from(messageOf(i))),
        })));
    });
    extent.end();
}

/** counts: as fillAccount() has them */
export async function makeFolder(location, counts) {
    const azurite = await startAzurite(location);

    try {
        await fillAccount(azurite.ports, FEW);
    } finally {
        await azurite.stop();
    }
    multiplyBlobs(location, counts.blobs);
    multiplyEntities(location, counts.entities);
    multiplyMessages(location, counts.messages);
}
