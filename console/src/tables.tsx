// Tables, those of Storage Analytics among them, and the entities of one by a filter. Entities are edited as JSON with their
// types, each against the ETag that it was shown with: a conflicting change is reported, and nothing is overwritten.
import type { TableEntityResult, TableItem } from '@azure/data-tables';
import { useState } from 'preact/hooks';
import type { PageProps } from './app.tsx';
import { serviceProperties, tableClient, tableService } from './clients.ts';
import { entityOf, isTyped, textOf } from './csv.ts';
import { FilterBuilder } from './filter.tsx';
import { Name, visible } from './names.tsx';
import { type Column, keysOf } from './order.ts';
import { type Item, RemoveNamed, type Walk } from './remove.tsx';
import { hrefOf } from './route.ts';
import type { Service, Session } from './server.ts';
import { Listing, nameColumn, pageOf, Table, useList } from './table.tsx';
import { propertiesOf, Transfer } from './transfer.tsx';
import { Crumbs, Field, Form, Loading, useLoad } from './ui.tsx';

const PAGE = 100;
const COUNTED_AT_A_TIME = 1000;
const COLUMNS_MAX = 30;
type Entity = TableEntityResult<Record<string, unknown>>;
type Named = TableItem & { name: string };
type Page<T> = T[] & { continuationToken?: string };

/** The entities of a table, for their count: one property of each. */
const entitiesIn = (account: string, table: string): Walk => async function* (signal): AsyncGenerator<Item> {
    const pages = (await tableClient(account, table)).listEntities({ queryOptions: { select: ['PartitionKey'] }, abortSignal: signal }).byPage({ maxPageSize: COUNTED_AT_A_TIME });

    for await (const page of pages)
        yield* page.map(() => ({ name: '' }));
};

// ---- tables of Storage Analytics ----

interface Metrics {
    service: Service;
    of: 'HourMetrics' | 'MinuteMetrics';
    table: string;
    about: string;
}
const SERVICES: [Service, string][] = [['blob', 'Blob'], ['queue', 'Queue'], ['table', 'Table'], ['file', 'File']];
const METRICS: Metrics[] = [
    { service: 'blob', of: 'HourMetrics', table: '$MetricsCapacityBlob', about: 'Capacity: stored bytes, containers and blobs, once a day.' },
    ...SERVICES.map(([service, name]): Metrics => ({ service, of: 'HourMetrics', table: `$MetricsHourPrimaryTransactions${name}`, about: `Requests to the ${name} service by operation, for each hour.` })),
    ...SERVICES.map(([service, name]): Metrics => ({ service, of: 'MinuteMetrics', table: `$MetricsMinutePrimaryTransactions${name}`, about: `Requests to the ${name} service by operation, for each minute.` })),
];
const aboutTable = (name: string) => METRICS.find(({ table }) => table.toLowerCase() === name.toLowerCase())?.about;

/** No list contains the tables that the service writes, so each is looked for by its name: where metrics are turned on, or
 *  everywhere, which leaves errors in the server's figures. decision: 921 */
async function metricsTables(account: string, services: Session['services'], isAll: boolean): Promise<Metrics[]> {
    const properties = new Map(await Promise.all(SERVICES.filter(([service]) => services[service] !== undefined)
        .map(async ([service]): Promise<[Service, string]> => [service, await serviceProperties(service, account)])));
    const isOn = ({ service, of }: Metrics) => new RegExp(`<${of}>.*?<Enabled>true<.*?</${of}>`, 's').test(properties.get(service) ?? '');
    const wanted = METRICS.filter((metrics) => isAll || isOn(metrics));
    const found = await Promise.all(wanted.map(async ({ table }) => {
        try {
            await (await tableClient(account, table)).listEntities({ queryOptions: { select: ['PartitionKey'] } }).byPage({ maxPageSize: 1 }).next();
            return true;
        } catch (error) {
            if ((error as { statusCode?: number }).statusCode === 404)
                return false;
            throw error;
        }
    }));

    return wanted.filter((_, i) => found[i]);
}

function MetricsTables({ account, services }: { account: string; services: Session['services'] }) {
    const [isAll, setIsAll] = useState(false);
    const loaded = useLoad(() => metricsTables(account, services, isAll), [account, isAll]);
    const columns: Column<Metrics>[] = [
        { title: 'Name', kind: 'name', by: ({ table }) => table, cell: ({ table }) => <a href={hrefOf('tables', [account, table])}>{table}</a> },
        { title: 'Contents', cell: ({ about }) => about },
    ];

    return <>
        <h2>Storage Analytics metrics</h2>
        <p class="about">The server writes tables whose names start with <code>$Metrics</code> while metrics are turned on in the service properties, and deletes old rows
            if a retention is set there. They count as stored data.</p>
        <Loading of={loaded} />
        {loaded.value && <Table label="Storage Analytics metrics" columns={columns} of={loaded.value} keyOf={({ table }) => table}
            empty={isAll ? 'There are no such tables.' : 'There are none of the metrics that are turned on.'} />}
        {!isAll && <p class="buttons"><button type="button" onClick={() => setIsAll(true)}>Look for tables of metrics that are turned off</button></p>}
    </>;
}

function Tables({ account, services }: { account: string; services: Session['services'] }) {
    const columns = [nameColumn<Named>((name) => hrefOf('tables', [account, name]))];
    const list = useList<Named>(async (mark) => pageOf((await tableService(account)).listTables().byPage({ maxPageSize: COUNTED_AT_A_TIME, continuationToken: mark }),
        (page: Page<TableItem>) => page as Named[]), keysOf(columns), COUNTED_AT_A_TIME, [account]);

    return <>
        <Listing title="Tables" one="table" list={list} columns={columns}
            fields={<Field label="Name" name="name" required hint="3 to 63 letters and digits, starting with a letter." />}
            create={async (_form, name) => (await tableClient(account, name)).createTable()}
            removal={(name, onClose, onDone) => <RemoveNamed kind="table" name={name} one="entity" walk={entitiesIn(account, name)} onClose={onClose} onDone={onDone}
                remove={async () => (await tableService(account)).deleteTable(name)} />} />
        <MetricsTables account={account} services={services} />
    </>;
}

// ---- entities ----

const HIDDEN = new Set(['etag', 'partitionKey', 'rowKey', 'timestamp']);

/** What a property is sorted by: numbers of any type as numbers, all else as text. */
function sortKey(value: unknown): string | number | undefined {
    if (value === undefined || value === null)
        return undefined;
    if (typeof value === 'number' || (isTyped(value) && (value.type === 'Int64' || value.type === 'Double' || value.type === 'Int32')))
        return Number(textOf(value));
    return textOf(value);
}

/** The text in which an entity is edited. */
const jsonOf = (entity: Entity) => JSON.stringify(propertiesOf(entity), null, 2);

/** Explains the failure if the entity was changed since it was shown. */
async function unlessChanged(work: () => Promise<unknown>) {
    try {
        await work();
    } catch (error) {
        if ((error as { statusCode?: number }).statusCode === 412)
            throw new Error('The entity was changed by another client since it was shown here. Nothing was written. Reload it and edit it again.');
        throw error;
    }
}

function Entities({ account, table }: { account: string; table: string }) {
    const [filter, setFilter] = useState('');
    const [built, setBuilt] = useState('');
    const [dialog, setDialog] = useState<{ edit?: Entity; delete?: Entity }>();
    const load = async (mark: string | undefined) => pageOf(
        // Types that JSON does not have stay typed, so that a 64-bit number is not rounded to a double.
        (await tableClient(account, table)).listEntities({ queryOptions: { filter: filter || undefined }, disableTypeConversion: true }).byPage({ maxPageSize: PAGE, continuationToken: mark }),
        (page: Page<Entity>) => page);
    const keyColumns: Column<Entity>[] = [
        { title: 'PartitionKey', by: ({ partitionKey }) => partitionKey, cell: ({ partitionKey = '' }) => <Name of={partitionKey} /> },
        { title: 'RowKey', by: ({ rowKey }) => rowKey, cell: ({ rowKey = '' }) => <Name of={rowKey} /> },
    ];
    const list = useList<Entity>(load, (title) => keysOf(keyColumns)(title) ?? ((entity) => sortKey(entity[title])), PAGE, [account, table, filter]);
    const names = [...new Set(list.rows.flatMap((entity) => Object.keys(entity)))].filter((name) => !HIDDEN.has(name) && !name.startsWith('odata.')).slice(0, COLUMNS_MAX);
    const columns: Column<Entity>[] = [
        ...keyColumns,
        ...names.map((name): Column<Entity> => ({
            title: name, kind: list.rows.every((entity) => entity[name] === undefined || typeof sortKey(entity[name]) === 'number') ? 'number' : undefined,
            by: (entity) => sortKey(entity[name]), cell: (entity) => textOf(entity[name]),
        })),
        { title: 'Actions', kind: 'actions', cell: (entity) => {
            const of = visible(`${entity.partitionKey} ${entity.rowKey}`);
            return <>
                <button type="button" class="plain" aria-label={`Edit ${of}`} onClick={() => setDialog({ edit: entity })}>Edit</button>
                <button type="button" class="plain" aria-label={`Delete ${of}`} onClick={() => setDialog({ delete: entity })}>Delete</button>
            </>;
        } },
    ];
    const about = aboutTable(table);

    return <>
        <Crumbs of={[['Tables', hrefOf('tables', [account])], [table, hrefOf('tables', [account, table])]]} />
        <h1>{table}</h1>
        {about && <p class="about">{about}</p>}
        <div class="tools">
            <form role="search" onSubmit={(event) => {
                event.preventDefault();
                const wanted = String(new FormData(event.currentTarget).get('filter'));
                setBuilt(wanted);
                setFilter(wanted);
            }}>
                <Field key={built} label="Filter" name="filter" value={built} hint="PartitionKey eq 'a' and size gt 5" />
                <button type="submit">Query</button>
            </form>
            <button type="button" class="primary" onClick={() => setDialog({})}>New entity</button>
            <button type="button" onClick={list.reload}>Reload</button>
            <Transfer table={table} filter={filter} client={() => tableClient(account, table)} onDone={list.reload} />
        </div>
        <FilterBuilder columns={names} filter={built} onFilter={setBuilt} />
        <Loading of={list} />
        {list.value && <Table label="Entities" columns={columns} of={list.rows} keyOf={({ partitionKey, rowKey }) => `${partitionKey}\n${rowKey}`} empty="There are no such entities."
            order={list.order} onOrder={list.setOrder} />}
        {list.pages}
        {dialog && !dialog.delete && <Form title={dialog.edit ? 'Edit the entity' : 'New entity'} action="Save" onClose={() => setDialog(undefined)} onDone={async (form) => {
            const entity = entityOf(JSON.parse(String(form.get('json'))));
            const client = await tableClient(account, table);
            if (dialog.edit && (entity.partitionKey !== dialog.edit.partitionKey || entity.rowKey !== dialog.edit.rowKey))
                throw new Error('The keys of an entity cannot be changed. Create another entity and delete this one.');
            await unlessChanged(() => dialog.edit ? client.updateEntity(entity, 'Replace', { etag: dialog.edit.etag }) : client.createEntity(entity));
            list.reload();
        }}>
            <Field label="Properties" name="json" rows={14} required value={dialog.edit ? jsonOf(dialog.edit) : '{\n  "partitionKey": "",\n  "rowKey": ""\n}'}
                hint={'Values of the types Int64, DateTime, Guid, Double and Binary are written as { "type": "Int64", "value": "1" }.'} />
        </Form>}
        {dialog?.delete && <Form title="Delete the entity?" action="Delete" danger onClose={() => setDialog(undefined)} onDone={async () => {
            const { partitionKey, rowKey, etag } = dialog.delete!;
            await unlessChanged(async () => (await tableClient(account, table)).deleteEntity(partitionKey!, rowKey!, { etag }));
            list.reload();
        }}><p><Name of={dialog.delete.partitionKey ?? ''} />, <Name of={dialog.delete.rowKey ?? ''} /></p></Form>}
    </>;
}

export default function TablesPage({ session, account, route }: PageProps) {
    const [, table] = route.parts;

    return table ? <Entities key={`${account}/${table}`} account={account} table={table} /> : <Tables key={account} account={account} services={session.services} />;
}
