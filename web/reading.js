'use strict';
/* How the files are read: the settings, what the program makes of them, and the table in which columns get their roles.
 * The program finds the columns; this file shows what it found and passes on what the user changes. */

const newReading = () => ({
    files: [], /* names of the vote files in `inputs` */
    inputs: new Map(), /* name -> Blob, with those of gold labels and texts */
    preset: '', input: '', columns: {}, scale: '', classes: '', duplicates: '', lenient: false,
    gold: '', texts: '', people: '', extra: '', title: '',
    questions: [], /* names that the label of an export can have */
    note: '', /* what happened before the file was opened */
    anonymous: false, /* votes without annotators */
    byHand: false, /* the user has changed an option: exports are no longer recognized by themselves */
    guessed: false, /* obviousColumns() was used */
});

/* The words of the page for messages of the program. Buttons below the message stand in for its options. */
const WORDS = [
    [/^preset \S+: --label is required.*$|^.*(choose one|choose the answer that is the label) with --label.*$/s, 'The export has several questions. Which one is the label?'],
    [/; choose the vote to keep: --duplicates.*$/s, '. Which vote counts?'],
    [/; name one question with --label, or say --several.*$/s, '. How should they be read?'],
    [/; if it means "no vote", set --na.*$/s, '. What does it mean?'],
    [/no key "task", which is not an object; .*$/s, 'no votes were found. The page needs one record per vote, or an export that it knows.'],
    [/^(.*?): (\d+: )*no column (?:for|").*?(?:; the columns are: .*|: .*)$/s, '$1: no columns for item, annotator and label were found. Give columns these roles above.'],
    [/; save the file as UTF-8.*$/s, ', so the text is not UTF-8'],
    [/; name the one to use with --.*$/s, ''],
];

const LOCATION = /^(.+?):(\d+)(?::\d+)?: /;

function sayPlainly(message, single) {
    let text = message;
    for (const [pattern, words] of WORDS) text = text.replace(pattern, words);
    return text.replace(LOCATION, (all, file, line) => `${single ? 'Line' : `${file}, line`} ${formatCount(Number(line))}: `);
}

/* What the program said about the files: {good, message, found}, or {good, message, guesses, preset, input, questions, ...}. */
function understand(result, reading) {
    const lines = result.lines.map((line) => line.replace(/^dissent: (note: )?/, ''));
    const message = lines[0] || '';
    if (result.code === 0) {
        const found = {};
        const note = lines.find((line) => line.startsWith('using column')) || '';
        for (const [, column, role] of note.matchAll(/"((?:[^"\\]|\\.)*)" \((\w+)\)/g)) found[role] = column;
        return {good: true, message: message.replace(/^.*?: (?=[\d,]+ (items?|rows?|things?|pairs?|texts?) ?,)/, ''), found, questions: []};
    }
    const match = (pattern) => (pattern.exec(message) || [])[1] || '';
    return {
        good: false,
        message: sayPlainly(message, reading.inputs.size === 1),
        guesses: lines.filter((line) => /^ +dissent /.test(line)).map((line) => splitWords(line).slice(1)),
        preset: match(/--preset ([a-z0-9-]+)/),
        input: match(/--input ([a-z]+)/),
        questions: match(/the (?:answers|names) are: (.+)$/).split(', ').filter(Boolean),
        duplicates: message.includes('--duplicates'),
        several: message.includes('--several'),
        empty: message.includes('--na'),
        encoding: /invalid UTF-8|the character NUL/.test(message),
        row: Number((LOCATION.exec(message) || [])[2]) > 1,
        useless: /: (this is an? |the file is empty|a header and no rows)/.test(message), /* no other setting helps */
    };
}

const quoteWord = (word) => (/^[\w.,:=+*/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/* Changes `reading` to the options of a suggested command. */
function applyGuess(reading, words) {
    const rest = [];
    const options = words.slice(words.findIndex((word) => word.startsWith('--')));
    for (let i = 0; i < options.length; i++) {
        const role = ROLES.find((r) => r.option === options[i]);
        if (role) reading.columns[role.id] = options[++i];
        else if (options[i] === '--input') reading.input = options[++i];
        else if (options[i] === '--scale') reading.scale = options[++i];
        else if (options[i] === '--preset') reading.preset = options[++i];
        else rest.push(quoteWord(options[i]));
    }
    if (!reading.extra) reading.extra = rest.join(' ');
}

function describeGuess(words) {
    const reading = newReading();
    applyGuess(reading, words);
    const parts = ROLES.filter((r) => reading.columns[r.id]).flatMap((r) => [element('b', {}, `${r.name}: `), `${reading.columns[r.id]}  `]);
    return [...parts, reading.input === 'wide' ? '(one column per annotator)' : ''];
}

/* Roles of the columns of the preview: those of `reading`, else those that the program found. */
function rolesOf(reading, preview, found) {
    const named = {...found, ...reading.columns};
    const byName = (id, column) => !Object.keys(reading.columns).length && ['task', 'worker', 'label'].includes(id) && column.toLowerCase() === id;
    return preview.columns.map((column) => {
        const role = ROLES.find(({id}) => {
            if (named[id] === undefined) return byName(id, column);
            const names = id === 'worker' && reading.input === 'wide' ? named[id].split(',') : [named[id]];
            return names.includes(column) || names.includes(pathOf(column));
        });
        return role ? role.id : '';
    });
}

/* The settings that follow from roles: several columns of annotators and none of labels are a wide table. */
function columnsOf(roles, preview) {
    const columns = {};
    const workers = [];
    roles.forEach((role, i) => {
        const path = pathOf(preview.columns[i]);
        if (role === 'worker') workers.push(path);
        else if (role) columns[role] = path;
    });
    if (workers.length) columns.worker = workers.join(',');
    return {columns, input: workers.length > 1 && !columns.label ? 'wide' : ''};
}

/* Columns whose use can be seen: people and models by their values, texts by their name. */
function obviousColumns(preview) {
    const found = {};
    preview.columns.forEach((column, i) => {
        const values = preview.rows.map((row) => (row[i] || '').toLowerCase());
        if (values.length && values.every((v) => /^(human|person|people|llm|model|ai|judge|machine)$/.test(v))) found.voter = pathOf(column);
        if (column === 'text') found.text = column;
    });
    return found;
}

function previewTable(preview, roles, reading, onChange) {
    const choosing = !reading.preset;
    const used = (id) => ['task', 'worker', 'label', 'voter', 'text'].includes(id);
    const shade = (role) => (role ? `role-${used(role) ? role : 'other'}` : null);
    const select = (column, i) => {
        const offered = ROLES.filter((r) => !r.scale || r.scale === reading.scale);
        return element('select', {'aria-label': `Role of column ${column}`, onchange: (event) => onChange(i, event.target.value)},
            element('option', {value: ''}, 'not used'),
            offered.map((r) => element('option', {value: r.id, selected: roles[i] === r.id}, r.name)));
    };
    const head = preview.columns.map((column, i) =>
        element('th', {scope: 'col', class: choosing ? shade(roles[i]) : null}, element('bdi', {}, column), choosing && select(column, i)));
    const body = preview.rows.map((row) => element('tr', {}, preview.columns.map((_, i) =>
        element('td', {class: choosing ? shade(roles[i]) : null}, element('bdi', {}, row[i] ?? '')))));
    return element('table', {}, element('thead', {}, element('tr', {}, head)), element('tbody', {}, body));
}
