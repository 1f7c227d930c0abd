'use strict';
/* Tables for the eye: the first rows of a file that was dropped, and of files that the program wrote. The program reads
 * the files itself; nothing computed here reaches a result. */

/* The first rows (at most maxRows) of delimited text, quotes as in RFC 4180. */
function parseDelimited(text, delimiter, maxRows) {
    const rows = [];
    let row = [];
    let cell = '';
    let quoted = false;
    let started = false; /* the row has a character */
    for (let i = 0; i < text.length && rows.length < maxRows; i++) {
        const c = text[i];
        if (quoted) {
            if (c !== '"') cell += c;
            else if (text[i + 1] === '"') cell += text[i++];
            else quoted = false;
        } else if (c === '"' && cell === '') {
            quoted = true;
        } else if (c === delimiter) {
            row.push(cell);
            cell = '';
        } else if (c === '\n') {
            if (started) rows.push([...row, cell]);
            row = [];
            cell = '';
            started = false;
            continue;
        } else if (c !== '\r') {
            cell += c;
        }
        started = true;
    }
    if (started && rows.length < maxRows) rows.push([...row, cell]);
    return rows;
}

/* The separator that occurs most often in the first line. */
function guessDelimiter(name, text) {
    if (/\.tsv$/i.test(name)) return '\t';
    const line = text.split('\n', 1)[0];
    const count = (c) => line.split(c).length;
    return [',', '\t', ';', '|'].reduce((best, c) => (count(c) > count(best) ? c : best));
}

/* Values of a record by the paths that lead to them, two levels deep; a list counts as one value. */
function flattenRecord(record, before, out) {
    for (const [key, value] of Object.entries(record)) {
        const nested = value !== null && typeof value === 'object' && !Array.isArray(value);
        if (nested && !before) flattenRecord(value, `${key}.`, out);
        else out[before + key] = typeof value === 'string' ? value : JSON.stringify(value);
    }
    return out;
}

function tableOfRecords(records) {
    const rows = records.filter((r) => r && typeof r === 'object').map((r) => flattenRecord(r, '', {}));
    const columns = [...new Set(rows.flatMap((r) => Object.keys(r)))];
    return columns.length ? {columns, rows: rows.map((r) => columns.map((c) => r[c] || ''))} : null;
}

function parseOrNull(text) {
    try {
        return JSON.parse(text);
    } catch {
        return null;
    }
}

const PREVIEW_ROWS = 6;
const SAMPLE_BYTES = 1 << 20;
const MAX_JSON_BYTES = 64 << 20;

/* {columns, rows} of the beginning of a file; null: it cannot be shown as a table. */
async function previewFile(name, blob) {
    if (/\.(npy|ann)$/i.test(name)) return null;
    const text = (await blob.slice(0, SAMPLE_BYTES).text()).replace(/^\ufeff/, '');
    const first = text.trimStart()[0];
    if (first === '{' || first === '[') {
        const lines = text.split('\n').slice(0, PREVIEW_ROWS).map(parseOrNull);
        if (first === '{' && lines.length > 1 && lines[0]) return tableOfRecords(lines.filter(Boolean));
        const parsed = blob.size <= MAX_JSON_BYTES ? parseOrNull(await blob.text()) : null;
        if (Array.isArray(parsed)) return tableOfRecords(parsed.slice(0, PREVIEW_ROWS));
        return null;
    }
    const [columns, ...rows] = parseDelimited(text, guessDelimiter(name, text), PREVIEW_ROWS + 1);
    return columns ? {columns, rows} : null;
}

/* The beginning of a file that the program is asked about; whole lines. JSON files are read in full. */
async function sampleFile(name, blob) {
    if (blob.size <= SAMPLE_BYTES || !/\.(csv|tsv|txt|jsonl|ndjson)$/i.test(name)) return blob;
    const bytes = new Uint8Array(await blob.slice(0, SAMPLE_BYTES).arrayBuffer());
    return new Blob([bytes.subarray(0, bytes.lastIndexOf(10) + 1)]);
}
