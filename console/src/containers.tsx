// The containers of an account: a page of them at a time, to make and to delete.
import type { ServiceListContainersSegmentResponse } from '@azure/storage-blob';
import { useState } from 'preact/hooks';
import { blobService } from './clients.ts';
import { time } from './format.ts';
import { hrefOf } from './route.ts';
import { Choice, Field, Form, Problem, Table, useLoad } from './ui.tsx';

const PAGE = 200;
type Access = 'container' | 'blob';

export function Containers({ account }: { account: string }) {
    const [prefix, setPrefix] = useState('');
    const [marks, setMarks] = useState<string[]>([]);
    const [dialog, setDialog] = useState<{ delete?: string }>();
    const list = useLoad(async () => {
        const pages = (await blobService(account)).listContainers({ prefix: prefix || undefined })
            .byPage({ maxPageSize: PAGE, continuationToken: marks.at(-1) });
        return (await pages.next()).value as ServiceListContainersSegmentResponse;
    }, [account, prefix, marks]);
    const look = (wanted: string) => {
        setMarks([]);
        setPrefix(wanted);
    };
    const items = list.value?.containerItems ?? [];

    return <>
        <h1>Containers</h1>
        <div class="tools">
            <form role="search" onSubmit={(event) => {
                event.preventDefault();
                look(String(new FormData(event.currentTarget).get('prefix')));
            }}>
                <Field label="Name begins with" name="prefix" value={prefix} />
                <button type="submit">Search</button>
            </form>
            <button type="button" class="primary" onClick={() => setDialog({})}>New container</button>
            <button type="button" onClick={list.reload}>Reload</button>
        </div>
        <Problem of={list.problem} />
        {list.busy && !list.value && <p>Loading…</p>}
        {list.value && <Table label="Containers" head={['Name', 'Modified', 'Access', 'Lease', 'Actions']} empty="There are no containers.">
            {items.map(({ name, properties: { lastModified, publicAccess, leaseState } }) => <tr key={name}>
                <td class="name"><a href={hrefOf('blobs', [account, name])}>{name}</a></td>
                <td>{time(lastModified)}</td>
                <td>{publicAccess ? `public: ${publicAccess}` : 'private'}</td>
                <td>{leaseState}</td>
                <td><button type="button" class="plain" aria-label={`Delete ${name}`} onClick={() => setDialog({ delete: name })}>Delete</button></td>
            </tr>)}
        </Table>}
        <div class="buttons">
            <button type="button" disabled={marks.length === 0} onClick={() => setMarks(marks.slice(0, -1))}>Previous page</button>
            <button type="button" disabled={!list.value?.continuationToken} onClick={() => setMarks([...marks, list.value!.continuationToken!])}>Next page</button>
        </div>
        {dialog && !dialog.delete && <Form title="New container" action="Create" onClose={() => setDialog(undefined)} onDone={async (form) => {
            const access = String(form.get('access'));
            await (await blobService(account)).createContainer(String(form.get('name')), { access: access ? access as Access : undefined });
            list.reload();
        }}>
            <Field label="Name" name="name" required hint="3 to 63 lower-case letters, digits and dashes." />
            <Choice label="Public access" name="access" of={[['', 'none'], ['blob', 'blobs can be read'], ['container', 'blobs can be read and listed']]} />
        </Form>}
        {dialog?.delete && <Form title={`Delete ${dialog.delete}?`} action="Delete" danger onClose={() => setDialog(undefined)} onDone={async () => {
            await (await blobService(account)).deleteContainer(dialog.delete!);
            list.reload();
        }}><p>All blobs in it go with it.</p></Form>}
    </>;
}
