'use strict';
/* The page: a file comes in, its columns are checked, the steps run one after the other. */

const engine = new Engine();
const results = new Results();
let reading = newReading();
let preview = null;
let roles = [];
let sample = new Map();
let lastQuestion = 0; /* questions to the program about the current file; only the answer to the last one counts */
let running = 0; /* likewise */

const VOTES_FILE = 'votes.csv';

/* ---- files ---- */

/* named: (name, Blob) of vote files, and of those that `changes` names as texts or known labels. */
async function openFiles(named, changes = {}) {
    if (!named.length) {
        showStartMessage('The folder has no files.');
        return;
    }
    const run = ++running;
    const stopped = isRunning();
    lastQuestion++;
    engine.stop();
    try {
        const opened = Object.assign(newReading(), changes);
        for (const [name, file] of named) {
            const plain = plainName(name);
            opened.inputs.set(plain, await unpack(name, file));
            if (![opened.texts, opened.gold].includes(plain)) opened.files.push(plain);
        }
        if (run !== running) return; /* another file was opened meanwhile */
        await sortFiles(opened);
        await showOpened(run, opened, stopped ? 'The run was stopped, because a file was opened. ' : '');
    } catch (error) {
        if (run !== running) return;
        showStart();
        showStartMessage(error instanceof FileError ? error.message
            : `The file cannot be read (${error.message || error}). It may have been moved, or it may be too large for the browser.`);
    }
}

async function showOpened(run, opened, note) {
    const samples = new Map();
    for (const [name, blob] of opened.inputs) samples.set(name, await sampleFile(name, blob));
    const shown = await previewFile(opened.files[0], opened.inputs.get(opened.files[0]));
    if (run !== running) return;
    reading = opened;
    reading.note = note;
    sample = samples;
    preview = shown;
    showFile();
    await ask({});
}

const isRunning = () => !byId('results').hidden && !byId('stop').hidden;

function describeFiles() {
    const size = [...reading.inputs.values()].reduce((sum, blob) => sum + blob.size, 0);
    const more = reading.files.length > 1 ? ` and ${plural(reading.files.length - 1, 'more file')}` : '';
    const roles = [['texts', 'item texts'], ['gold', 'known labels']].filter(([role]) => reading[role]).map(([role, what]) => `, ${what} from ${reading[role]}`);
    return `${reading.files[0]}${more}${roles.join('')}, ${formatSize(size)}`;
}

function showFile() {
    document.body.classList.add('working');
    showSettings(true);
    byId('start').hidden = true;
    byId('results').hidden = true;
    byId('reading').hidden = false;
    byId('file-name').textContent = describeFiles();
    byId('understood').textContent = '';
    byId('choices').replaceChildren();
    byId('gold').value = byId('texts').value = '';
    byId('options').open = false;
    writeOptions();
    byId('reading-title').focus();
}

/* The settings, or one line in their place once there are results. */
function showSettings(yes) {
    document.body.classList.toggle('ran', !yes);
    byId('edit').hidden = yes;
    if (!yes) byId('reading-title').textContent = 'Input';
}

function showStart() {
    running++;
    lastQuestion++;
    engine.stop();
    document.body.classList.remove('working', 'ran');
    byId('start').hidden = false;
    byId('reading').hidden = true;
    byId('results').hidden = true;
    byId('file').value = byId('folder').value = '';
    showStartMessage('');
    byId('choose').focus();
}

function showStartMessage(text) {
    byId('start-message').className = 'message bad';
    byId('start-message').textContent = text;
}

/* ---- options ---- */

const SIMPLE_OPTIONS = ['preset', 'scale', 'classes', 'duplicates', 'people', 'extra'];

function writeOptions() {
    for (const name of SIMPLE_OPTIONS) byId(name).value = reading[name];
    byId('lenient').checked = reading.lenient;
    byId('question-field').hidden = !reading.preset;
    byId('question').value = reading.preset ? reading.columns.label || '' : '';
    const names = reading.questions.length ? reading.questions : preview ? preview.columns : [];
    byId('question-names').replaceChildren(...names.map((name) => element('option', {value: name})));
    byId('gold-name').textContent = reading.gold || 'a file with columns item and label';
    byId('texts-name').textContent = reading.texts || 'a file with columns item and text';
}

function readOptions() {
    const before = reading.preset;
    reading.byHand = true;
    for (const name of SIMPLE_OPTIONS) reading[name] = byId(name).value.trim();
    reading.lenient = byId('lenient').checked;
    if (reading.preset !== before) Object.assign(reading, {columns: {}, questions: []});
    if (reading.preset) reading.columns = byId('question').value.trim() ? {label: byId('question').value.trim()} : {};
}

async function addFile(role, file) {
    const name = file ? `${role}-${plainName(file.name)}` : '';
    let blob = null;
    try {
        blob = file && await unpack(file.name, file);
    } catch (error) {
        byId(role).value = '';
        showUnderstood('bad', error.message);
        return;
    }
    if (reading[role]) {
        reading.inputs.delete(reading[role]);
        sample.delete(reading[role]);
    }
    reading[role] = name;
    if (file) {
        reading.inputs.set(name, blob);
        sample.set(name, blob);
    }
    byId('file-name').textContent = describeFiles();
    await ask({});
}

/* ---- what the program makes of the files ---- */

function showUnderstood(kind, text) {
    byId('understood').className = `message ${kind}`;
    byId('understood').textContent = text;
    byId('run').disabled = kind === 'bad' || kind === 'wait' || kind === 'ask';
}

function showPreview(found) {
    const hint = byId('reading-hint');
    const known = reading.preset ? TABLES.presets.find((p) => p.name === reading.preset)?.tool.replace(/\.$/, '') || reading.preset : '';
    byId('reading-title').textContent = known ? 'Check the export' : 'Check the columns';
    byId('preview').hidden = !preview;
    if (known) hint.textContent = `This is read as ${known}.${preview ? ' These are its first records.' : ''}`;
    else hint.textContent = preview ? 'Each row is one label of one annotator for one item. Change the roles if they are wrong.' : '';
    if (!preview) return;
    roles = rolesOf(reading, preview, found);
    if (!known && reading.input === 'wide') hint.textContent = 'Each row is one item, with one column per annotator. Change the roles if they are wrong.';
    byId('preview').replaceChildren(previewTable(preview, roles, reading, (i, role) => {
        roles[i] = role;
        for (let j = 0; j < roles.length; j++) if (j !== i && roles[j] === role && role !== 'worker') roles[j] = '';
        Object.assign(reading, columnsOf(roles, preview));
        ask({focus: i});
    }));
}

function showChoices(buttons) {
    byId('choices').replaceChildren(...buttons.map(({content, apply, run}) =>
        element('button', {type: 'button', onclick: run || (() => { apply(); writeOptions(); ask({}); })}, content)));
}

async function readAsWindows1252() {
    for (const name of reading.files) {
        const blob = await decodeWindows1252(reading.inputs.get(name));
        if (blob) reading.inputs.set(name, blob);
    }
    await showOpened(running, reading, '');
}

const questionChoices = (names) => names.map((name) => ({
    content: ['The label is ', element('b', {}, name)],
    apply: () => { reading.columns = {...reading.columns, label: name}; },
}));

function choicesOf(answer) {
    if (answer.questions.length) return questionChoices(answer.questions);
    const addExtra = (option) => () => { reading.extra = `${reading.extra} ${option}`.trim(); };
    const choices = questionChoices(reading.questions.filter((name) => name !== reading.columns.label));
    if (answer.duplicates)
        choices.unshift(...[['first', 'Keep the first vote'], ['last', 'Keep the last vote'], ['all', 'Keep all votes']].map(([rule, content]) =>
            ({content, apply: () => { reading.duplicates = rule; }})));
    else if (answer.several)
        choices.unshift({content: 'Each label is a vote', apply: addExtra('--several all')}, {content: 'Labels together are one class', apply: addExtra('--several join')});
    else if (answer.empty)
        choices.unshift({content: 'Empty labels are no votes', apply: addExtra("--na ''")});
    else if (answer.encoding)
        choices.unshift({content: 'Read it as Windows-1252', run: readAsWindows1252});
    else if (answer.row && !reading.lenient)
        choices.unshift({content: 'Skip invalid rows', apply: () => { reading.lenient = true; }});
    return choices;
}

/* Settings that the program asks for and that can be had without a question; true: something changed. */
function applyAnswer(answer) {
    if (answer.guesses.length && !Object.keys(reading.columns).length) {
        applyGuess(reading, answer.guesses[0]);
        return true;
    }
    if (answer.preset && !reading.preset && !reading.byHand) {
        reading.preset = answer.preset;
        return true;
    }
    if (answer.questions.length) reading.questions = answer.questions;
    if (answer.questions.length === 1 && !reading.columns.label) {
        reading.columns = {...reading.columns, label: answer.questions[0]};
        return true;
    }
    if (answer.input && !reading.input && !answer.guesses.length) {
        reading.input = answer.input;
        return true;
    }
    return false;
}

async function ask({guesses = [], focus = -1, tries = 0}) {
    const question = ++lastQuestion;
    if (tries === 0) showUnderstood('wait', 'Reading the file ...');
    const command = reading.scale ? ['labels', '-o', 'sample.csv'] : ['convert', '-o', 'sample.csv'];
    const result = await engine.run([command[0], ...reading.files, ...readingArgs(command[0], reading), ...command.slice(1)], sample);
    if (question !== lastQuestion) return;
    const answer = understand(result, reading);
    if (!answer.good && tries < 4 && applyAnswer(answer)) {
        await ask({guesses: answer.guesses.length ? answer.guesses : guesses, focus, tries: tries + 1});
        return;
    }
    const isText = !answer.encoding || await decodeWindows1252(sample.get(reading.files[0]));
    if (answer.useless || !isText) {
        showStart();
        showStartMessage(isText ? answer.message : `${reading.files[0]} is not text. The page reads CSV, TSV, JSON and JSONL files, and npy files of counts.`);
        return;
    }
    if (answer.good && preview && !reading.preset && !reading.guessed) addObviousColumns(answer.found);
    showPreview(answer.found || {});
    writeOptions();
    if (focus >= 0) byId('preview').querySelectorAll('select')[focus]?.focus();
    const part = [...reading.inputs].some(([name, blob]) => sample.get(name).size < blob.size);
    if (answer.good) {
        reading.anonymous = !/annotator/.test(answer.message);
        const how = reading.preset && reading.columns.label ? `The label is ${reading.columns.label}. `
            : !reading.preset && guesses.length ? 'The columns were guessed from their values; please check. ' : '';
        showUnderstood('good', `${reading.note}${how}${part ? 'The beginning of the file has ' : ''}${answer.message}.`);
        showChoices(otherChoices(guesses));
    } else {
        showUnderstood(answer.questions.length ? 'ask' : 'bad', reading.note + answer.message);
        showChoices(choicesOf(answer));
    }
}

/* What else the columns or the question can be. */
function otherChoices(guesses) {
    if (reading.preset) return questionChoices(reading.questions.filter((name) => name !== reading.columns.label));
    return guesses.slice(1).map((words) => ({
        content: ['Or: ', ...describeGuess(words)],
        apply: () => {
            reading.columns = {};
            applyGuess(reading, words);
        },
    }));
}

/* Adds the columns of people and texts, once; those that the program found have to be named with them. */
function addObviousColumns(found) {
    reading.guessed = true;
    const currentRoles = rolesOf(reading, preview, found);
    const extra = Object.entries(obviousColumns(preview)).filter(([, column]) => !currentRoles[preview.columns.indexOf(column)]);
    if (extra.length) Object.assign(reading.columns, columnsOf(currentRoles, preview).columns, Object.fromEntries(extra));
}

/* ---- running ---- */

function showProgress(step, i, n, share) {
    byId('bar').value = (i + share) / n;
    byId('progress-text').textContent = `${step.title}, step ${i + 1} of ${n} ...`;
}

async function runSteps() {
    const run = ++running;
    const steps = stepsOf(reading);
    reading.note = '';
    showSettings(false);
    byId('results').hidden = false;
    byId('progress').hidden = false;
    byId('stop').hidden = false;
    byId('stopped').hidden = true;
    results.commandLines = commandLines(steps);
    results.begin(steps);
    byId('results-title').focus({preventScroll: true});
    scrollTo(0, 0);
    for (const [i, step] of steps.entries()) {
        results.mark(step, 'busy');
        showProgress(step, i, steps.length, 0);
        const began = performance.now();
        const result = await engine.run(commandArgs(step, reading), reading.inputs, (what, share) => showProgress(step, i, steps.length, share));
        if (run !== running) return;
        performance.measure(step.id, {start: began, end: performance.now()});
        results.show(step, result);
        byId('announce').textContent = `${step.title}: ${result.code === 0 ? 'done' : 'failed'}`;
        if (step.id === 'labels' && result.code !== 0) break;
    }
    byId('progress').hidden = true;
    byId('stop').hidden = true;
}

function stopRun() {
    running++;
    engine.stop();
    for (const tab of byId('tabs').children) if (tab.className === 'busy') tab.className = '';
    byId('progress').hidden = true;
    byId('stop').hidden = true;
    byId('stopped').hidden = false;
    byId('stopped').textContent = 'Stopped. Results that were complete are kept; the others are missing. To run again, open the settings.';
    byId('announce').textContent = 'Stopped';
    byId('results-title').focus();
}

function commandLines(steps) {
    const text = steps.map((step) => `dissent ${commandArgs(step, reading).map(quoteWord).join(' ')}`).join('\n');
    const copy = navigator.clipboard && element('button', {type: 'button', class: 'small', onclick: async () => {
        await navigator.clipboard.writeText(text);
        copy.textContent = 'Copied';
    }}, 'Copy');
    return element('div', {}, element('div', {class: 'panel-top'}, element('h3', {}, 'The same on the command line'), copy),
        element('pre', {class: 'says', tabindex: 0}, text));
}

/* ---- the example: a simulated crowd of people and two LLM judges, with texts ---- */

async function openExample() {
    byId('example').disabled = true;
    const result = await engine.run(['synth', '--theme', 'tickets', '--model', 'ambiguous', '--items', '400', '--workers', '24', '--votes-per-item', '4',
        '--spammers', '.1', '--judges', '2', '--human-items', '250', '--text', 'texts.csv', '-o', VOTES_FILE, '-q'], new Map());
    byId('example').disabled = false;
    if (result.code !== 0) {
        showStartMessage(result.lines.join('\n'));
        return;
    }
    await openFiles([[VOTES_FILE, new Blob([result.files[VOTES_FILE]])], ['texts.csv', new Blob([result.files['texts.csv']])]],
        {texts: 'texts.csv', title: 'Example: support tickets'});
}

/* ---- events ---- */

function fillLists() {
    byId('preset').append(element('option', {value: ''}, 'Table or detected export'), ...TABLES.presets.map((p) => element('option', {value: p.name}, p.tool === p.name ? p.name : `${p.name}: ${p.tool}`)));
    byId('scale').append(...TABLES.scales.map((s, i) => element('option', {value: i ? s.name : ''}, `${s.name}: ${s.summary}`)));
    byId('n-presets').textContent = String(TABLES.presets.length - 4);
}

function listen() {
    let depth = 0;
    const dragging = (yes) => document.body.classList.toggle('dragging', yes);
    addEventListener('dragenter', (event) => { event.preventDefault(); depth++; dragging(true); });
    addEventListener('dragleave', () => { depth--; if (depth <= 0) { depth = 0; dragging(false); } });
    addEventListener('dragover', (event) => event.preventDefault());
    addEventListener('drop', async (event) => {
        event.preventDefault();
        depth = 0;
        dragging(false);
        const named = await droppedFiles(event.dataTransfer);
        if (named.length) openFiles(named);
        else showStartMessage('No file was dropped. Drop a file or a folder.');
    });
    byId('choose').addEventListener('click', () => byId('file').click());
    byId('file').addEventListener('change', (event) => openFiles([...event.target.files].map((file) => [file.name, file])));
    byId('choose-folder').addEventListener('click', () => byId('folder').click());
    byId('folder').addEventListener('change', (event) => openFiles(chosenFolder(event.target.files)));
    byId('example').addEventListener('click', openExample);
    byId('another').addEventListener('click', showStart);
    byId('edit').addEventListener('click', () => { showSettings(true); showPreview({}); byId('reading-title').focus(); });
    byId('run').addEventListener('click', runSteps);
    byId('stop').addEventListener('click', stopRun);
    byId('save-all').addEventListener('click', () => results.saveAll('dissent-results.zip'));
    for (const name of [...SIMPLE_OPTIONS, 'question', 'lenient']) byId(name).addEventListener('change', () => { readOptions(); ask({}); });
    for (const name of ['gold', 'texts']) byId(name).addEventListener('change', (event) => addFile(name, event.target.files[0]));
}

fillLists();
listen();
engine.start();
