'use strict';
/* Tables and charts of the results, from the files that the program wrote. */

const SHOWN_ROWS = 100;
const SHORT_ROWS = 15; /* until the user asks for all that are shown */
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

const percent = (value) => (isNumber(value) ? `${Math.round(100 * Number(value))} %` : '');

/* Titles of columns that have another name in files. */
const COLUMN_TITLES = {
    task: 'Item', worker: 'Annotator', model: 'Judge', p_correct: 'Probability', n: 'Items', ci_low: 'from', ci_high: 'to', quality: 'Accuracy',
};
const columnTitle = (name) => COLUMN_TITLES[name] || (name[0] || '').toUpperCase() + name.slice(1).replaceAll('_', ' ');

/* Columns of names, which are never aligned like numbers, of long texts, and of charts. */
const NAMES = ['task', 'worker', 'label', 'model', 'verdict', 'measure'];
const LONG = ['reason', 'text'];
const CHARTS = ['all classes', 'interval'];

/* cellOf(column, value, row): an element for the value, or null for its text. */
function dataTable(caption, columns, rows, cellOf) {
    const isNumeric = (name, i) => !NAMES.includes(name) && !CHARTS.includes(name) && rows.some((row) => row[i])
        && rows.every((row) => !row[i] || /^-?[\d.,]+(e[-+]?\d+)?( %)?$/.test(row[i]));
    const numeric = columns.map(isNumeric);
    const ends = ['ci_low', 'ci_high']; /* on a phone, the chart stands in for them */
    const classOf = (i) => (ends.includes(columns[i]) ? 'n end' : numeric[i] ? 'n' : LONG.includes(columns[i]) ? 'long' : CHARTS.includes(columns[i]) ? 'wide' : null);
    const body = element('tbody', {}, rows.map((row, r) => element('tr', {hidden: r >= SHORT_ROWS}, columns.map((name, i) =>
        element('td', {class: classOf(i), 'data-title': columnTitle(name)},
            cellOf?.(name, row[i], row) ?? element('bdi', {}, roundNumber(row[i] ?? '')))))));
    const head = columns.map((name, i) => element('th', {scope: 'col', class: numeric[i] ? classOf(i) : null}, element('bdi', {}, columnTitle(name))));
    const table = element('table', {class: columns.length > 5 || columns.some((name) => LONG.includes(name)) ? 'stack' : null},
        element('thead', {}, element('tr', {}, head)), body);
    const parts = [element('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption}, table)];
    if (rows.length > SHORT_ROWS) parts.push(moreButton(body, rows.length));
    return element('div', {class: 'data'}, parts);
}

function moreButton(body, n) {
    const button = element('button', {type: 'button', class: 'small', 'aria-expanded': 'false', onclick: () => {
        const all = button.getAttribute('aria-expanded') === 'false';
        [...body.rows].forEach((row, r) => { row.hidden = !all && r >= SHORT_ROWS; });
        button.setAttribute('aria-expanded', String(all));
        button.textContent = all ? `Show ${SHORT_ROWS} rows` : `Show ${n} rows`;
    }}, `Show ${n} rows`);
    return button;
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
        return [row[0], label < 0 ? '' : row[label], percent(Math.max(...p)), p];
    });
    const key = element('ul', {class: 'key', 'aria-hidden': 'true'}, classes.slice(0, 8).map((name, i) =>
        element('li', {}, element('i', {class: `f${i}`}), element('bdi', {}, name))));
    if (classes.length > 8) key.append(element('li', {}, `and ${classes.length - 8} more`));
    const cell = (column, value) => (column === 'all classes' ? showShares(classes, value) : null);
    return [key, dataTable('Labels', ['task', 'label', 'probability', 'all classes'], rows, cell)];
}

/* A value and its interval on an axis from `from` to 1, with a line at 0. */
function showInterval(value, low, high, from) {
    const at = (x) => `${100 * (x - from) / (1 - from)}%`;
    const chart = element('span', {class: 'interval', role: 'img', 'aria-label': `${value.toFixed(2)}, interval from ${low.toFixed(2)} to ${high.toFixed(2)}`},
        ['zero', 'bar', 'dot'].map((part) => element('i', {class: part})));
    chart.children[0].style.left = at(0);
    chart.children[1].style.left = at(low);
    chart.children[1].style.width = `${100 * (high - low) / (1 - from)}%`;
    chart.children[2].style.left = at(value);
    return chart;
}

/* Coefficients with intervals as a chart; numbers without an interval below it. */
function agreementTable(table) {
    const titles = Object.fromEntries(TABLES.measures.map((m) => [m.name, m.title]));
    const at = (row, name) => row[table.columns.indexOf(name)] ?? '';
    const known = table.rows.filter((row) => at(row, 'value') !== '');
    const hasInterval = (row) => at(row, 'ci_low') !== '';
    const from = Math.min(0, ...known.filter(hasInterval).map((row) => Number(at(row, 'ci_low'))));
    const rows = known.filter(hasInterval).map((row) => {
        const [value, low, high] = ['value', 'ci_low', 'ci_high'].map((name) => Number(at(row, name)));
        return [titles[row[0]] || columnTitle(row[0]), value.toFixed(2), {value, low, high}, low.toFixed(2), high.toFixed(2)];
    });
    const cell = (column, x) => (column === 'interval' ? showInterval(x.value, x.low, x.high, from) : element('bdi', {}, x));
    const others = known.filter((row) => !hasInterval(row)).map((row) => [titles[row[0]] || columnTitle(row[0]), Number(at(row, 'value')).toFixed(2)]);
    return [rows.length ? dataTable('Agreement', ['measure', 'value', 'interval', 'ci_low', 'ci_high'], rows, cell) : null,
        others.length && rows.length ? element('h3', {}, 'Counts') : null,
        others.length ? dataTable('Counts', ['measure', 'value'], others, cell) : null].filter(Boolean);
}

const VERDICTS = ['constant', 'random', 'weak'];

function reviewTables(step, files) {
    const items = pickColumns(firstRows(files[step.files.items]), ['task', 'text', 'label', 'p_correct', 'votes', 'reason']);
    const all = files[step.files.annotators] ? firstRows(files[step.files.annotators]) : {columns: [], rows: []};
    const annotators = pickColumns(all, ['worker', 'votes', 'quality', 'verdict', 'reason']);
    const verdict = annotators.columns.indexOf('verdict');
    const flagged = annotators.rows.filter((row) => VERDICTS.includes(row[verdict]));
    const cell = (column, value) => (['p_correct', 'quality'].includes(column) ? element('bdi', {}, percent(value))
        : column === 'verdict' ? element('span', {class: VERDICTS.includes(value) ? 'badge bad' : 'badge'}, value) : null);
    return [
        element('h3', {}, 'Items to relabel first'), dataTable('Items to relabel first', items.columns, items.rows, cell),
        element('h3', {}, flagged.length ? 'Annotators to check' : 'Annotators'),
        all.rows.length && !flagged.length ? element('p', {class: 'note'}, 'No annotator has to be checked.') : null,
        all.rows.length ? dataTable('Annotators', annotators.columns, flagged.length ? flagged : annotators.rows, cell)
            : element('p', {class: 'note'}, 'The file has no ids of annotators.'),
    ].filter(Boolean);
}

const PANEL_TITLES = {
    shared: 'items with people', agreement: 'agreement with people', chance: 'agreement by chance', as_good: 'as good as a person',
    beats: 'people it beats', passed: 'passes the test',
};

function panelTable(table) {
    const at = (row, name) => row[table.columns.indexOf(name)] ?? '';
    const names = ['model', 'votes', 'shared', 'agreement', 'chance', 'beats', 'passed'].filter((name) => name === 'beats' || table.columns.includes(name));
    const rows = table.rows.map((row) => names.map((name) => {
        if (name === 'beats') return at(row, 'people') ? `${at(row, 'won')} of ${at(row, 'people')}` : '';
        return ['agreement', 'chance'].includes(name) ? percent(at(row, name)) : at(row, name);
    }));
    const cell = (column, value) => (column === PANEL_TITLES.passed
        ? element('span', {class: `badge ${value === 'true' ? 'good' : 'bad'}`}, value === 'true' ? 'yes' : value === 'false' ? 'no' : 'unknown') : null);
    return [dataTable('LLM judges', names.map((name) => PANEL_TITLES[name] || name), rows, cell)];
}

/* The answer at the top of a report: {verdict, question, text}, or null. */
function answerOf(page) {
    const section = new DOMParser().parseFromString(page, 'text/html').querySelector('section.verdict');
    if (!section) return null;
    return {verdict: section.dataset.verdict, question: section.querySelector('h2').textContent, text: section.querySelector('p')?.textContent || ''};
}
