// Tables, and the entities of one by a filter. Entities are edited as JSON with their types, each against the ETag that
// it was shown with: who was overtaken is told, and nothing is overwritten.
import type { TableEntityResult, TableItem } from '@azure/data-tables';
import { useState } from 'preact/hooks';
import type { PageProps } from './app.tsx';
import { tableClient, tableService } from './clients.ts';
import { entityOf, textOf } from './csv.ts';
import { FilterBuilder } from './filter.tsx';
import { hrefOf } from './route.ts';
import { propertiesOf, Transfer } from './transfer.tsx';
import { Crumbs, Field, Form, Listing, Pages, Problem, Table, useLoad } from './ui.tsx';

const PAGE = 100;
const COLUMNS_MAX = 30;
type Entity = TableEntityResult<Record<string, unknown>>;
type Page<T> = T[] & { continuationToken?: string };

function Tables({ account }: { account: string }) {
    const [marks, setMarks] = useState<string[]>([]);
    const list = useLoad(async () => {
        const pages = (await tableService(account)).listTables().byPage({ maxPageSize: PAGE, continuationToken: marks.at(-1) });
        return ((await pages.next()).value ?? []) as Page<TableItem>;
    }, [account, marks]);

    return <Listing title="Tables" one="table" list={list} pages={<Pages of={list.value} marks={marks} setMarks={setMarks} />}
        rows={(list.value ?? []).map(({ name = '' }) => ({ name, href: hrefOf('tables', [account, name]) }))}
        fields={<Field label="Name" name="name" required hint="3 to 63 letters and digits, a letter first." />} warning="Its entities go with it."
        create={async (_form, name) => (await tableClient(account, name)).createTable()}
        remove={async (name) => (await tableService(account)).deleteTable(name)} />;
}

// ---- entities ----

/** Its properties as they are edited. */
const jsonOf = (entity: Entity) => JSON.stringify(propertiesOf(entity), null, 2);

/** What somebody else has changed meanwhile is not overwritten; in words for whoever did not know. */
async function unlessOvertaken(work: () => Promise<unknown>) {
    try {
        await work();
    } catch (error) {
        if ((error as { statusCode?: number }).statusCode === 412)
            throw new Error('The entity was changed by somebody else since it was shown here. Nothing was written: reload it, and edit it anew.');
        throw error;
    }
}

function Entities({ account, table }: { account: string; table: string }) {
    const [filter, setFilter] = useState('');
    const [built, setBuilt] = useState('');
    const [marks, setMarks] = useState<string[]>([]);
    const [dialog, setDialog] = useState<{ edit?: Entity; delete?: Entity }>();
    const list = useLoad(async () => {
        // Types that JSON has none of stay typed: a 64-bit number is not cut to a double.
        const pages = (await tableClient(account, table)).listEntities({ queryOptions: { filter: filter || undefined }, disableTypeConversion: true })
            .byPage({ maxPageSize: PAGE, continuationToken: marks.at(-1) });
        return ((await pages.next()).value ?? []) as Page<Entity>;
    }, [account, table, filter, marks]);
    const hidden = new Set(['etag', 'partitionKey', 'rowKey', 'timestamp']);
    const columns = [...new Set((list.value ?? []).flatMap((entity) => Object.keys(entity)))].filter((name) => !hidden.has(name) && !name.startsWith('odata.')).slice(0, COLUMNS_MAX);

    return <>
        <Crumbs of={[['Tables', hrefOf('tables', [account])], [table, hrefOf('tables', [account, table])]]} />
        <h1>{table}</h1>
        <div class="tools">
            <form role="search" onSubmit={(event) => {
                event.preventDefault();
                setMarks([]);
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
        <FilterBuilder columns={columns} filter={built} onFilter={setBuilt} />
        <Problem of={list.problem} />
        {list.busy && !list.value && <p>Loading…</p>}
        {list.value && <Table label="Entities" head={['PartitionKey', 'RowKey', ...columns, 'Actions']} empty="There are no such entities.">
            {list.value.map((entity) => <tr key={`${entity.partitionKey}\n${entity.rowKey}`}>
                <td>{entity.partitionKey}</td><td>{entity.rowKey}</td>
                {columns.map((name) => <td key={name}>{textOf(entity[name])}</td>)}
                <td>
                    <button type="button" class="plain" aria-label={`Edit ${entity.partitionKey} ${entity.rowKey}`} onClick={() => setDialog({ edit: entity })}>Edit</button>
                    <button type="button" class="plain" aria-label={`Delete ${entity.partitionKey} ${entity.rowKey}`} onClick={() => setDialog({ delete: entity })}>Delete</button>
                </td>
            </tr>)}
        </Table>}
        <Pages of={list.value} marks={marks} setMarks={setMarks} />
        {dialog && !dialog.delete && <Form title={dialog.edit ? 'Edit the entity' : 'New entity'} action="Save" onClose={() => setDialog(undefined)} onDone={async (form) => {
            const entity = entityOf(JSON.parse(String(form.get('json'))));
            const client = await tableClient(account, table);
            if (dialog.edit && (entity.partitionKey !== dialog.edit.partitionKey || entity.rowKey !== dialog.edit.rowKey))
                throw new Error('The keys of an entity cannot be changed: make another one, and delete this.');
            await unlessOvertaken(() => dialog.edit ? client.updateEntity(entity, 'Replace', { etag: dialog.edit.etag }) : client.createEntity(entity));
            list.reload();
        }}>
            <Field label="Properties" name="json" rows={14} required value={dialog.edit ? jsonOf(dialog.edit) : '{\n  "partitionKey": "",\n  "rowKey": ""\n}'}
                hint={'Other types than text, truth and numbers: { "type": "Int64", "value": "1" }; DateTime, Guid, Double, Binary.'} />
        </Form>}
        {dialog?.delete && <Form title="Delete the entity?" action="Delete" danger onClose={() => setDialog(undefined)} onDone={async () => {
            const { partitionKey, rowKey, etag } = dialog.delete!;
            await unlessOvertaken(async () => (await tableClient(account, table)).deleteEntity(partitionKey!, rowKey!, { etag }));
            list.reload();
        }}><p>{dialog.delete.partitionKey}, {dialog.delete.rowKey}</p></Form>}
    </>;
}

export default function TablesPage({ account, route }: PageProps) {
    const [, table] = route.parts;

    return table ? <Entities key={`${account}/${table}`} account={account} table={table} /> : <Tables key={account} account={account} />;
}
