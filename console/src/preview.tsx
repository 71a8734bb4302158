// The content of a blob as text, JSON, an image, audio or video, never as markup: <img>, <audio> and <video> run no scripts.
// Audio and video are played by ranges while they load.
import type { BlobClient } from '@azure/storage-blob';
import { useEffect, useState } from 'preact/hooks';
import { bytes } from './format.ts';
import { Problem, useLoad } from './ui.tsx';

const TEXT_BYTES = 256 << 10;
const IMAGE_BYTES = 32 << 20;
const IMAGES = /^image\/(png|jpeg|gif|webp|avif|bmp|x-icon|svg\+xml)\b/;

const PLAYED = /^(audio|video)\//;

/** Returns text unchanged, and complete JSON with one member per line; undefined for binary content, which has NULs. */
function textOf(content: Uint8Array, type: string, isWhole: boolean): string | undefined {
    if (content.includes(0))
        return undefined;
    const text = new TextDecoder().decode(content);

    if (!isWhole || !/json/.test(type))
        return text;
    try {
        return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
        return text;
    }
}

export function Preview({ of, type, size, isArchived }: { of: BlobClient; type: string; size: number; isArchived: boolean }) {
    const played = isArchived || size === 0 ? undefined : PLAYED.exec(type)?.[1];
    const isImage = IMAGES.test(type) && size <= IMAGE_BYTES;
    const content = useLoad(async () => {
        if (isArchived || size === 0 || played)
            return undefined;
        const answer = await of.download(0, isImage ? size : Math.min(size, TEXT_BYTES));
        return answer.blobBody;
    }, [of.url]);
    const [shown, setShown] = useState<{ text?: string; image?: string; none?: boolean }>();

    useEffect(() => {
        const blob = content.value;
        let image: string | undefined;

        if (!blob)
            return undefined;
        if (isImage) {
            image = URL.createObjectURL(new Blob([blob], { type: type.split(';')[0] }));
            setShown({ image });
        } else {
            void blob.arrayBuffer().then((buffer) => {
                const text = textOf(new Uint8Array(buffer), type, size <= TEXT_BYTES);
                setShown(text === undefined ? { none: true } : { text });
            });
        }
        return () => image && URL.revokeObjectURL(image);
    }, [content.value]);
    if (isArchived)
        return <p class="empty">The blob is archived. Change its tier to read it.</p>;
    if (size === 0)
        return <p class="empty">The blob is empty.</p>;
    if (played === 'audio')
        return <audio class="preview" controls preload="metadata" src={of.url} aria-label="The content of the blob" />;
    if (played === 'video')
        return <video class="preview" controls preload="metadata" src={of.url} aria-label="The content of the blob" />;
    return <>
        <Problem of={content.problem} retry={content.reload} />
        {shown?.image && <img class="preview" src={shown.image} alt="The content of the blob" />}
        {shown?.text !== undefined && <pre tabIndex={0} role="region" aria-label="Content">{shown.text}</pre>}
        {shown?.text !== undefined && size > TEXT_BYTES && <p class="empty">Only the first {bytes(TEXT_BYTES)} are shown.</p>}
        {shown?.none && <p class="empty">No preview for binary content. Download it to see it ({bytes(size)}).</p>}
    </>;
}
