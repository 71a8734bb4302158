// Export and import of a table's entities. The browser holds exported data outside of the page's memory.
import type { TableClient, TableEntityResult } from '@azure/data-tables';
import { useState } from 'preact/hooks';
import { csvHead, csvRow, entitiesOf, type Entity } from './csv.ts';
import { bytes, number } from './format.ts';
import { wordsOf } from './server.ts';
import { Form, Problem, useAction } from './ui.tsx';

const PAGE = 1000;
const AT_A_TIME = 6;
const IMPORT_MAX_BYTES = 256 << 20;
type Format = 'json' | 'csv';

/** The properties of an entity without system properties. */
export function propertiesOf({ etag: _etag, timestamp: _timestamp, ...rest }: TableEntityResult<Record<string, unknown>>): Entity {
    return Object.fromEntries(Object.entries(rest).filter(([name]) => !name.startsWith('odata.'))) as Entity;
}

/** Exports all entities that match the filter. CSV is written once the names of all properties are known. */
async function exported(client: TableClient, filter: string | undefined, format: Format, onCount: (count: number) => void): Promise<Blob> {
    const pages: Blob[] = [];
    const names = new Set<string>();
    let count = 0;

    for await (const page of client.listEntities({ queryOptions: { filter }, disableTypeConversion: true }).byPage({ maxPageSize: PAGE })) {
        const entities = page.map(propertiesOf);
        entities.forEach((entity) => Object.keys(entity).forEach((name) => names.add(name)));
        if (entities.length > 0)
            pages.push(new Blob([entities.map((entity) => JSON.stringify(entity)).join(',\n')]));
        count += entities.length;
        onCount(count);
    }
    if (format === 'json')
        return new Blob(['[\n', ...pages.flatMap((page, i) => (i === 0 ? [page] : [',\n', page])), '\n]\n'], { type: 'application/json' });
    const columns = [...names].filter((name) => name !== 'partitionKey' && name !== 'rowKey').sort();
    const rows: Blob[] = [];
    for (const page of pages)
        rows.push(new Blob((JSON.parse(`[${await page.text()}]`) as Entity[]).map((entity) => csvRow(entity, columns))));
    return new Blob([csvHead(columns), ...rows], { type: 'text/csv' });
}

function save(content: Blob, name: string) {
    const link = document.createElement('a');

    link.href = URL.createObjectURL(content);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

/** Writes entities, several at a time. Stops at the first failure, and reports how many were written. */
async function imported(client: TableClient, entities: Iterator<Entity>, replaces: boolean, onCount: (count: number) => void) {
    let count = 0;
    let problem: unknown;
    const work = async () => {
        for (let next = entities.next(); !next.done && !problem; next = entities.next()) {
            try {
                await (replaces ? client.upsertEntity(next.value, 'Replace') : client.createEntity(next.value));
                onCount(++count);
            } catch (error) {
                problem ??= new Error(`${wordsOf(error)} (${next.value.partitionKey}, ${next.value.rowKey})`);
            }
        }
    };

    await Promise.all(Array.from({ length: AT_A_TIME }, () => work().catch((error: unknown) => {
        problem ??= error;
    })));
    if (problem)
        throw new Error(`${number(count)} entities were written before this error: ${wordsOf(problem)}`);
}

export function Transfer({ table, filter, client, onDone }: { table: string; filter: string; client: () => Promise<TableClient>; onDone: () => void }) {
    const { problem, busy, run } = useAction();
    const [count, setCount] = useState(0);
    const [imports, setImports] = useState(false);
    const exports = (format: Format) => void run(async () => {
        setCount(0);
        save(await exported(await client(), filter || undefined, format, setCount), `${table}.${format}`);
    });

    return <>
        <button type="button" disabled={busy} onClick={() => exports('json')}>Export JSON</button>
        <button type="button" disabled={busy} onClick={() => exports('csv')}>Export CSV</button>
        <button type="button" onClick={() => {
            setCount(0);
            setImports(true);
        }}>Import…</button>
        {busy && <span role="status">{number(count)} entities</span>}
        <Problem of={problem} />
        {imports && <Form title={`Import into ${table}`} action="Import" onClose={() => setImports(false)} onDone={async (form) => {
            const file = form.get('file') as File;
            if (file.size > IMPORT_MAX_BYTES)
                throw new Error(`The file is larger than ${bytes(IMPORT_MAX_BYTES)}. Split it and import the parts.`);
            try {
                await imported(await client(), entitiesOf(file.name, await file.text()), form.get('replaces') !== null, setCount);
            } finally {
                onDone();
            }
        }}>
            <label class="field"><span>CSV or JSON file, in the format of an export</span><input type="file" name="file" accept=".csv,.json" required /></label>
            <label class="field"><input type="checkbox" name="replaces" /> Replace existing entities</label>
            {count > 0 && <p role="status">{number(count)} entities</p>}
        </Form>}
    </>;
}
