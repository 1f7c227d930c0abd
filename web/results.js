'use strict';
/* The results: tabs, one per step, filled as the steps end. */

const SHOWN_ROWS = 100;
const SHOWN_BYTES = 1 << 18;

/* {columns, rows} of the beginning of a CSV file of the program. */
function firstRows(bytes) {
    const text = new TextDecoder().decode(bytes.subarray(0, SHOWN_BYTES));
    const completeRows = bytes.length > SHOWN_BYTES ? text.slice(0, text.lastIndexOf('\n') + 1) : text;
    const [columns, ...rows] = parseDelimited(completeRows, ',', SHOWN_ROWS + 1);
    return {columns: columns || [], rows};
}

function countRows(bytes) {
    let n = 0;
    for (let i = 0; i < bytes.length; i++) n += bytes[i] === 10;
    return n - 1;
}

const isNumber = (text) => text !== '' && !Number.isNaN(Number(text));
/* Three decimals, but for whole numbers and very small or large ones. */
function roundNumber(text) {
    if (!isNumber(text) || /^-?\d{1,15}$/.test(text)) return text;
    const size = Math.abs(Number(text));
    return size && (size < .0005 || size >= 1e6) ? Number(text).toPrecision(2) : Number(text).toFixed(3);
}

/* Titles of columns that have another name in files. */
const COLUMN_TITLES = {
    task: 'Item', worker: 'Annotator', model: 'Judge', p_correct: 'Probability', n: 'Items', ci_low: 'from', ci_high: 'to', surprise: 'Surprise',
};
const columnTitle = (name) => COLUMN_TITLES[name] || (name[0] || '').toUpperCase() + name.slice(1).replaceAll('_', ' ');

const ALL_CLASSES = 'all classes'; /* a bar of shares */

function dataTable(caption, columns, rows, cellOf) {
    const numeric = columns.map((_, i) => rows.some((row) => row[i]) && rows.every((row) => !row[i] || (typeof row[i] === 'string' && isNumber(row[i]))));
    const cell = (text, i) => cellOf?.(columns[i], text) ?? element('bdi', {}, roundNumber(text ?? ''));
    const classOf = (i) => (numeric[i] ? 'n' : ['reason', 'text'].includes(columns[i]) ? 'long' : columns[i] === ALL_CLASSES ? 'wide' : null);
    return element('div', {class: 'scroll tall', tabindex: 0, role: 'region', 'aria-label': caption},
        element('table', {},
            element('thead', {}, element('tr', {}, columns.map((name, i) =>
                element('th', {scope: 'col', class: numeric[i] ? 'n' : null}, element('bdi', {}, columnTitle(name)))))),
            element('tbody', {}, rows.map((row) =>
                element('tr', {}, columns.map((_, i) => element('td', {class: classOf(i)}, cell(row[i], i))))))));
}

const pickColumns = (table, names) => {
    const at = names.filter((name) => table.columns.includes(name)).map((name) => table.columns.indexOf(name));
    return {columns: at.map((i) => table.columns[i]), rows: table.rows.map((row) => at.map((i) => row[i]))};
};

function showShares(classes, row) {
    const bar = element('span', {class: 'shares', role: 'img', 'aria-label': classes.map((name, i) => `${name} ${Math.round(100 * row[i])} %`).join(', ')});
    classes.forEach((name, i) => {
        const part = element('i', {class: `f${i % 8}`, title: `${name}: ${(100 * row[i]).toFixed(1)} %`});
        part.style.width = `${100 * row[i]}%`;
        bar.append(part);
    });
    return bar;
}

/* Soft labels: item, label, its probability, and a bar of all probabilities. */
function softLabelTable(table) {
    const shares = table.columns.map((name, i) => (name.startsWith('p:') ? i : -1)).filter((i) => i >= 0);
    if (!shares.length) return [dataTable('Labels', table.columns, table.rows)];
    const classes = shares.map((i) => table.columns[i].slice(2));
    const label = table.columns.indexOf('label');
    const rows = table.rows.map((row) => {
        const p = shares.map((i) => Number(row[i]));
        return [row[0], label < 0 ? '' : row[label], Math.max(...p).toFixed(3), p];
    });
    const key = element('ul', {class: 'key', 'aria-hidden': 'true'}, classes.slice(0, 8).map((name, i) =>
        element('li', {}, element('i', {class: `f${i}`}), element('bdi', {}, name))));
    const cell = (column, value) => (column === ALL_CLASSES ? showShares(classes, value) : null);
    return [key, dataTable('Labels', ['task', 'label', 'probability', ALL_CLASSES], rows, cell)];
}

function agreementTable(table) {
    const titles = Object.fromEntries(TABLES.measures.map((m) => [m.name, m.title]));
    const at = (row, name) => row[table.columns.indexOf(name)] ?? '';
    const rows = table.rows.filter((row) => at(row, 'value') !== '').map((row) => {
        const interval = at(row, 'ci_low') === '' ? '' : `${Number(at(row, 'ci_low')).toFixed(3)} to ${Number(at(row, 'ci_high')).toFixed(3)}`;
        return [titles[row[0]] || columnTitle(row[0]), Number(at(row, 'value')).toFixed(3), interval];
    });
    return [dataTable('Agreement', ['measure', 'value', '95 % interval'], rows)];
}

const VERDICTS = ['constant', 'random', 'weak'];

function reviewTables(step, files) {
    const items = pickColumns(firstRows(files[step.files.items]), ['task', 'text', 'label', 'p_correct', 'votes', 'reason']);
    const all = firstRows(files[step.files.annotators]);
    const annotators = pickColumns(all, ['worker', 'votes', 'quality', 'verdict', 'reason']);
    const verdict = annotators.columns.indexOf('verdict');
    const doubtful = annotators.rows.filter((row) => VERDICTS.includes(row[verdict]));
    return [
        element('h3', {}, 'Items to relabel first'), dataTable('Items to relabel first', items.columns, items.rows.slice(0, 25)),
        element('h3', {}, doubtful.length ? 'Annotators to check' : 'Annotators'),
        dataTable('Annotators', annotators.columns, (doubtful.length ? doubtful : annotators.rows).slice(0, 25)),
    ];
}

function panelTable(table) {
    const short = pickColumns(table, ['model', 'votes', 'shared', 'agreement', 'chance', 'as_good', 'winning_rate', 'passed']);
    const titles = {shared: 'items with people', as_good: 'as good as a person', passed: 'passes the test'};
    return [dataTable('LLM judges', short.columns.map((name) => titles[name] || name), short.rows)];
}

function reportFrame(bytes) {
    const frame = element('iframe', {title: 'Report', sandbox: 'allow-scripts allow-downloads allow-popups', referrerpolicy: 'no-referrer'});
    frame.srcdoc = new TextDecoder().decode(bytes);
    return [frame];
}

function shownResult(step, files) {
    const first = files[Object.values(step.files)[0]];
    if (step.id === 'report') return reportFrame(first);
    if (step.id === 'review' && files[step.files.annotators]) return reviewTables(step, files);
    const table = firstRows(first);
    if (step.id === 'labels') return softLabelTable(table);
    if (step.id === 'agree') return agreementTable(table);
    if (step.id === 'panel') return panelTable(table);
    return [dataTable(step.title, table.columns, table.rows)];
}

/* Numbers at the top, from the summary of the labels. */
function tilesOf(summary) {
    const tiles = [[summary.items, 'items'], [summary.workers, 'annotators'], [summary.votes, 'votes']];
    if (Array.isArray(summary.classes)) tiles.push([summary.classes.length, 'classes']);
    return tiles.filter(([n]) => typeof n === 'number').map(([n, name]) => [formatCount(n), name]);
}

class Results {
    constructor() {
        this.files = {};
        this.selected = null;
        this.tabs = byId('tabs');
        this.panels = byId('panels');
        this.tabs.addEventListener('keydown', (event) => this.moveFocus(event));
    }

    begin(steps) {
        this.files = {};
        this.tabs.replaceChildren();
        this.panels.replaceChildren();
        byId('tiles').replaceChildren();
        byId('save-all').hidden = true;
        for (const {id, title} of [...steps, {id: 'files', title: 'Files'}]) {
            this.tabs.append(element('button', {type: 'button', role: 'tab', id: `tab-${id}`, 'data-step': id, 'aria-controls': `panel-${id}`,
                onclick: () => this.select(id)}, title));
            this.panels.append(element('div', {role: 'tabpanel', id: `panel-${id}`, 'aria-labelledby': `tab-${id}`, tabindex: 0, hidden: true},
                element('p', {class: 'note'}, 'Not computed yet.')));
        }
        this.select(steps[0].id);
        this.showFiles();
    }

    select(id) {
        for (const tab of this.tabs.children) {
            const chosen = tab.dataset.step === id;
            tab.setAttribute('aria-selected', String(chosen));
            tab.tabIndex = chosen ? 0 : -1;
            byId(`panel-${tab.dataset.step}`).hidden = !chosen;
        }
        this.selected = id;
    }

    moveFocus(event) {
        const tabs = [...this.tabs.children];
        const at = tabs.indexOf(document.activeElement);
        const next = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1}[event.key];
        if (next === undefined || at < 0) return;
        event.preventDefault();
        const tab = tabs[(next + tabs.length) % tabs.length];
        this.select(tab.dataset.step);
        tab.focus();
    }

    mark(step, state) {
        byId(`tab-${step.id}`).className = state;
        const words = {busy: ', running', done: ', done', failed: ', failed', '': ''}[state];
        byId(`tab-${step.id}`).setAttribute('aria-label', step.title + words);
    }

    /* The outcome of a step: its table and what the program said, or why it failed. */
    show(step, result) {
        const panel = byId(`panel-${step.id}`);
        if (result.code !== 0) {
            this.mark(step, 'failed');
            panel.replaceChildren(element('p', {class: 'message bad', role: 'alert'},
                result.lines.map((line) => line.replace(/^dissent: /, '')).join('\n')));
            return;
        }
        this.mark(step, 'done');
        Object.assign(this.files, result.files);
        const saves = Object.keys(result.files).sort().map((name) =>
            element('button', {type: 'button', onclick: () => download(name, new Blob([result.files[name]]))}, `Download ${name}`));
        const rows = step.id === 'report' ? 0 : countRows(result.files[Object.values(step.files)[0]]);
        const note = rows > SHOWN_ROWS && step.id !== 'review' ? ` The first ${SHOWN_ROWS} of ${formatCount(rows)} rows are shown.` : '';
        panel.replaceChildren(element('div', {class: 'panel-top'}, element('p', {}, step.about + note), element('p', {class: 'buttons'}, saves)),
            ...shownResult(step, result.files),
            element('details', {}, element('summary', {}, 'Messages of the program'), element('pre', {class: 'says', tabindex: 0}, result.lines.join('\n'))));
        this.showFiles();
        if (step.id === 'labels') this.showTiles(JSON.parse(new TextDecoder().decode(result.files[step.files.summary])), result.lines);
    }

    showTiles(summary, lines) {
        const share = (word) => (/^\s+\S.*?([\d,]+) of ([\d,]+) /.exec(lines.find((line) => line.trim().startsWith(word)) || '') || [])[1];
        const tiles = [...tilesOf(summary)];
        if (share('confident')) tiles.push([share('confident'), 'confident labels']);
        if (share('to relabel')) tiles.push([share('to relabel'), 'to relabel']);
        byId('tiles').replaceChildren(...tiles.map(([value, name]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))));
    }

    showFiles() {
        const names = Object.keys(this.files).sort();
        const save = (name) => download(name, new Blob([this.files[name]]));
        const rows = names.map((name) => element('tr', {},
            element('th', {scope: 'row'}, name), element('td', {class: 'n'}, formatSize(this.files[name].length)),
            element('td', {}, element('button', {type: 'button', class: 'plain', 'aria-label': `Download ${name}`, onclick: () => save(name)},
                'Download'))));
        byId('panel-files').replaceChildren(names.length
            ? element('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Files'}, element('table', {}, element('tbody', {}, rows)))
            : element('p', {class: 'note'}, 'No files yet.'), this.commandLines || '');
        byId('save-all').hidden = !names.length;
    }

    saveAll(name) {
        download(name, zipFiles(this.files));
    }
}
