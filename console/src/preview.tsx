// What is in a blob, as text, JSON or an image, never as markup: images are shown by <img>, which runs nothing.
import type { BlobClient } from '@azure/storage-blob';
import { useEffect, useState } from 'preact/hooks';
import { bytes } from './format.ts';
import { Problem, useLoad } from './ui.tsx';

const TEXT_BYTES = 256 << 10;
const IMAGE_BYTES = 32 << 20;
const IMAGES = /^image\/(png|jpeg|gif|webp|avif|bmp|x-icon|svg\+xml)\b/;

/** Text as it is; JSON that is whole with a line for each member; NULs say that it is no text. */
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
    const isImage = IMAGES.test(type) && size <= IMAGE_BYTES;
    const content = useLoad(async () => {
        if (isArchived || size === 0)
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
        return <p class="empty">It is archived: it can be read after its tier was changed.</p>;
    if (size === 0)
        return <p class="empty">It is empty.</p>;
    return <>
        <Problem of={content.problem} />
        {shown?.image && <img class="preview" src={shown.image} alt="The content of the blob" />}
        {shown?.text !== undefined && <pre tabIndex={0} role="region" aria-label="Content">{shown.text}</pre>}
        {shown?.text !== undefined && size > TEXT_BYTES && <p class="empty">The first {bytes(TEXT_BYTES)} of it.</p>}
        {shown?.none && <p class="empty">It is no text and no image: {bytes(size)} to download.</p>}
    </>;
}
