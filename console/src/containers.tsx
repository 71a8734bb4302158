// The containers of an account: a page of them at a time, to make and to delete.
import type { ServiceListContainersSegmentResponse } from '@azure/storage-blob';
import { useState } from 'preact/hooks';
import { ACCESS, ContainerAccess, Lease } from './access.tsx';
import { blobService, containerOf, retentionOf, setRetention } from './clients.ts';
import { time } from './format.ts';
import { hrefOf } from './route.ts';
import { Choice, Dialog, Field, Form, Listing, Pages, Problem, useLoad } from './ui.tsx';

const PAGE = 200;
const DAYS = 7; // as Azure's portal proposes
type Access = 'container' | 'blob';

/** For how long the account keeps blobs that are deleted or overwritten. */
function SoftDelete({ account, onClose }: { account: string; onClose: () => void }) {
    const { value, problem } = useLoad(() => retentionOf(account), [account]);
    const [chosen, setChosen] = useState<boolean>();
    const title = 'Soft delete of blobs';

    if (!value)
        return <Dialog title={title} onClose={onClose}>
            <Problem of={problem} />
            <p class="buttons"><button type="button" onClick={onClose}>Close</button></p>
        </Dialog>;
    const enabled = chosen ?? value.enabled;
    return <Form title={title} action="Save" onClose={onClose} onDone={(form) => setRetention(account,
        enabled ? { enabled, days: Number(form.get('days')), permanent: form.get('permanent') !== null } : { enabled })}>
        <label class="field"><input type="checkbox" name="enabled" checked={enabled} onChange={(event) => setChosen(event.currentTarget.checked)} /> Keep what is deleted or overwritten</label>
        {enabled && <>
            <Field label="For days" name="days" type="number" step="1" value={String(value.days ?? DAYS)} required hint="1 to 365." />
            <label class="field"><input type="checkbox" name="permanent" defaultChecked={value.permanent} /> Clients may delete snapshots that are kept for good</label>
        </>}
        <p class="empty">What is kept already keeps its days.</p>
    </Form>;
}

export function Containers({ account }: { account: string }) {
    const [prefix, setPrefix] = useState('');
    const [marks, setMarks] = useState<string[]>([]);
    const list = useLoad(async () => {
        const pages = (await blobService(account)).listContainers({ prefix: prefix || undefined })
            .byPage({ maxPageSize: PAGE, continuationToken: marks.at(-1) });
        return (await pages.next()).value as ServiceListContainersSegmentResponse;
    }, [account, prefix, marks]);
    const look = (wanted: string) => {
        setMarks([]);
        setPrefix(wanted);
    };

    const [accessOf, setAccessOf] = useState<string>();
    const [softDelete, setSoftDelete] = useState(false);

    return <><Listing title="Containers" one="container" head={['Modified', 'Access', 'Lease']} list={list}
        search={<>
            <form role="search" onSubmit={(event) => {
                event.preventDefault();
                look(String(new FormData(event.currentTarget).get('prefix')));
            }}>
                <Field label="Name begins with" name="prefix" value={prefix} />
                <button type="submit">Search</button>
            </form>
            <button type="button" onClick={() => setSoftDelete(true)}>Soft delete…</button>
        </>}
        pages={<Pages of={list.value} marks={marks} setMarks={setMarks} />}
        rows={(list.value?.containerItems ?? []).map(({ name, properties: { lastModified, publicAccess, leaseState } }) =>
            ({ name, href: hrefOf('blobs', [account, name]), cells: [time(lastModified), publicAccess ? `public: ${publicAccess}` : 'private', leaseState] }))}
        fields={<>
            <Field label="Name" name="name" required hint="3 to 63 lower-case letters, digits and dashes." />
            <Choice label="Public access" name="access" of={ACCESS} />
        </>} warning="All blobs in it go with it."
        create={async (form, name) => {
            const access = String(form.get('access'));
            await (await blobService(account)).createContainer(name, { access: access ? access as Access : undefined });
        }}
        remove={async (name) => (await blobService(account)).deleteContainer(name)}
        actions={(name) => {
            const state = list.value?.containerItems.find((item) => item.name === name)?.properties.leaseState;
            return <>
                <button type="button" class="plain" aria-label={`Access to ${name}`} onClick={() => setAccessOf(name)}>Access</button>
                <Lease state={state} name={name} onBreak={async () => {
                    await (await containerOf(account, name)).getBlobLeaseClient().breakLease(0);
                    list.reload();
                }} />
            </>;
        }} />
        {softDelete && <SoftDelete account={account} onClose={() => setSoftDelete(false)} />}
        {accessOf && <ContainerAccess account={account} container={accessOf} onClose={() => {
            setAccessOf(undefined);
            list.reload();
        }} />}
    </>;
}
