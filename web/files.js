'use strict';
/* Files of the user: unpacked, sorted into votes, item texts and known labels. */

/* A problem that the page reports in its own words. */
class FileError extends Error {}

const plainName = (name) => name.replace(/\.gz$/i, '').replace(/^-+/, '');

const startsWith = (head, ...bytes) => bytes.every((byte, i) => head[i] === byte);

async function unpack(name, file) {
    const head = new Uint8Array(await file.slice(0, 4).arrayBuffer());
    if (startsWith(head, 0x28, 0xb5, 0x2f, 0xfd)) {
        throw new FileError(`${name} is a zstd archive, which this page cannot read. Unpack it first, for example with unzstd.`);
    }
    if (!startsWith(head, 0x1f, 0x8b)) return file;
    try {
        return await new Response(file.stream().pipeThrough(new DecompressionStream('gzip'))).blob();
    } catch {
        throw new FileError(`${name} is a damaged gzip archive. Copy or download it again.`);
    }
}

/* Files of a folder that was dropped, with their paths: some exports are folders. */
async function filesOfEntry(entry, before, found) {
    if (entry.isFile) {
        found.push([before + entry.name, await new Promise((resolve, reject) => entry.file(resolve, reject))]);
        return;
    }
    const reader = entry.createReader();
    for (;;) {
        const entries = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
        if (!entries.length) return;
        for (const inner of entries) await filesOfEntry(inner, `${before}${entry.name}/`, found);
    }
}

const isHidden = (path) => /(^|\/)\./.test(path);
const byPath = ([a], [b]) => (a < b ? -1 : 1);

async function droppedFiles(transfer) {
    const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    if (!entries.some((entry) => entry.isDirectory)) return [...transfer.files].map((file) => [file.name, file]);
    const found = [];
    for (const entry of entries) await filesOfEntry(entry, '', found);
    return found.filter(([name]) => !isHidden(name)).sort(byPath);
}

/* Of an input of folders. */
const chosenFolder = (files) =>
    [...files].map((file) => [file.webkitRelativePath, file]).filter(([name]) => !isHidden(name)).sort(byPath);

/* Of several tables: which one has the texts of items, and which one known labels? The others have votes. */
const TEXT_COLUMN = /^(text|content|sentence|body|title|prompt)$/i;
const LABEL_COLUMN = /^(label|labels|gold|gold_label|true_label|answer|class|category)$/i;
const WORKER_COLUMN = /^(worker|annotator|performer|user|rater|coder|labeler|judge|(worker|annotator|user|rater|coder|labeler)_?id)$/i;

async function sortFiles(opened) {
    const columns = new Map();
    for (const name of opened.files) columns.set(name, (await previewFile(name, opened.inputs.get(name)))?.columns || []);
    const has = (name, pattern) => columns.get(name).some((column) => pattern.test(column));
    if (opened.files.length < 2 || !opened.files.some((name) => has(name, WORKER_COLUMN))) return;
    for (const [role, pattern] of [['texts', TEXT_COLUMN], ['gold', LABEL_COLUMN]]) {
        const found = opened.files.filter((name) => !has(name, WORKER_COLUMN) && has(name, pattern));
        if (found.length === 1 && !opened[role]) {
            opened[role] = found[0];
            opened.files = opened.files.filter((name) => name !== found[0]);
        }
    }
}

/* Text that is not UTF-8: a blob in UTF-8, or null if the bytes are not text at all. */
async function decodeWindows1252(blob) {
    const head = new Uint8Array(await blob.slice(0, 1 << 16).arrayBuffer());
    if (head.includes(0)) return null;
    return new Blob([new TextDecoder('windows-1252').decode(await blob.arrayBuffer())]);
}
