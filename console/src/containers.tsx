// The containers of an account: a page of them at a time, to make and to delete.
import type { ServiceListContainersSegmentResponse } from '@azure/storage-blob';
import { useState } from 'preact/hooks';
import { ACCESS, ContainerAccess, Lease } from './access.tsx';
import { blobService, containerOf } from './clients.ts';
import { time } from './format.ts';
import { hrefOf } from './route.ts';
import { Choice, Field, Listing, Pages, useLoad } from './ui.tsx';

const PAGE = 200;
type Access = 'container' | 'blob';

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

    return <><Listing title="Containers" one="container" head={['Modified', 'Access', 'Lease']} list={list}
        search={<form role="search" onSubmit={(event) => {
            event.preventDefault();
            look(String(new FormData(event.currentTarget).get('prefix')));
        }}>
            <Field label="Name begins with" name="prefix" value={prefix} />
            <button type="submit">Search</button>
        </form>}
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
        {accessOf && <ContainerAccess account={account} container={accessOf} onClose={() => {
            setAccessOf(undefined);
            list.reload();
        }} />}
    </>;
}
