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

async function gunzip(file) {
    const head = new Uint8Array(await file.slice(0, 2).arrayBuffer());
    if (head[0] !== 0x1f || head[1] !== 0x8b) return file;
    return new Response(file.stream().pipeThrough(new DecompressionStream('gzip'))).blob();
}

const plainName = (name) => name.replace(/\.gz$/i, '').replace(/^-+/, '');

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

async function droppedFiles(transfer) {
    const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    if (!entries.some((entry) => entry.isDirectory)) return [...transfer.files].map((file) => [file.name, file]);
    const found = [];
    for (const entry of entries) await filesOfEntry(entry, '', found);
    return found.filter(([name]) => !/(^|\/)\./.test(name)).sort(([a], [b]) => (a < b ? -1 : 1));
}

/* named: (name, Blob) of vote files, and of those that `changes` names as texts or known labels. */
async function openFiles(named, changes = {}) {
    if (!named.length) return;
    const run = ++running;
    lastQuestion++;
    engine.stop();
    const opened = Object.assign(newReading(), changes);
    const samples = new Map();
    for (const [name, file] of named) {
        const plain = plainName(name);
        const blob = await gunzip(file);
        opened.inputs.set(plain, blob);
        samples.set(plain, await sampleFile(plain, blob));
        if (![opened.texts, opened.gold].includes(plain)) opened.files.push(plain);
    }
    const shown = await previewFile(opened.files[0], opened.inputs.get(opened.files[0]));
    if (run !== running) return; /* another file was opened meanwhile */
    reading = opened;
    sample = samples;
    preview = shown;
    showFile();
    await ask({});
}

function showFile() {
    const size = [...reading.inputs.values()].reduce((sum, blob) => sum + blob.size, 0);
    document.body.classList.add('working');
    showSettings(true);
    byId('start').hidden = true;
    byId('results').hidden = true;
    byId('reading').hidden = false;
    const more = reading.files.length > 1 ? ` and ${plural(reading.files.length - 1, 'more file')}` : '';
    byId('file-name').textContent = `${reading.files[0]}${more}, ${formatSize(size)}`;
    byId('understood').textContent = '';
    byId('choices').replaceChildren();
    byId('gold').value = byId('texts').value = '';
    writeOptions();
    byId('reading-title').focus();
}

/* The settings, or one line in their place once there are results. */
function showSettings(yes) {
    document.body.classList.toggle('ran', !yes);
    byId('edit').hidden = yes;
    byId('reading-title').textContent = yes ? 'Check the columns' : 'Input';
}

function showStart() {
    running++;
    lastQuestion++;
    engine.stop();
    document.body.classList.remove('working');
    byId('start').hidden = false;
    byId('reading').hidden = true;
    byId('results').hidden = true;
    byId('file').value = '';
    byId('choose').focus();
}

/* ---- options ---- */

const SIMPLE_OPTIONS = ['preset', 'scale', 'classes', 'duplicates', 'people', 'extra'];

function writeOptions() {
    for (const name of SIMPLE_OPTIONS) byId(name).value = reading[name];
    byId('lenient').checked = reading.lenient;
    byId('question-field').hidden = !reading.preset;
    byId('question').value = reading.preset ? reading.columns.label || '' : '';
    byId('question-names').replaceChildren(...(preview ? preview.columns : []).map((name) => element('option', {value: name})));
}

function readOptions() {
    const before = reading.preset;
    reading.byHand = true;
    for (const name of SIMPLE_OPTIONS) reading[name] = byId(name).value.trim();
    reading.lenient = byId('lenient').checked;
    if (reading.preset !== before) reading.columns = {};
    if (reading.preset) reading.columns = byId('question').value.trim() ? {label: byId('question').value.trim()} : {};
}

async function addFile(role, file) {
    if (reading[role]) {
        reading.inputs.delete(reading[role]);
        sample.delete(reading[role]);
    }
    reading[role] = file ? `${role}-${plainName(file.name)}` : '';
    if (file) {
        const blob = await gunzip(file);
        reading.inputs.set(reading[role], blob);
        sample.set(reading[role], blob);
    }
}

/* ---- what the program makes of the files ---- */

function showUnderstood(kind, text) {
    byId('understood').className = `message ${kind}`;
    byId('understood').textContent = text;
    byId('run').disabled = kind === 'bad' || kind === 'wait';
}

function showPreview(found) {
    const hint = byId('reading-hint');
    byId('preview').hidden = !preview;
    if (!preview) {
        hint.textContent = reading.preset ? 'The columns of this export are known.' : '';
        return;
    }
    roles = rolesOf(reading, preview, found);
    hint.textContent = reading.preset ? 'The columns of this export are known. These are its first rows.'
        : 'Each row is one label of one annotator for one item. Change the roles if they are wrong.';
    if (!reading.preset && reading.input === 'wide') hint.textContent = 'Each row is one item, with one column per annotator. Change the roles if they are wrong.';
    byId('preview').replaceChildren(previewTable(preview, roles, reading, (i, role) => {
        roles[i] = role;
        for (let j = 0; j < roles.length; j++) if (j !== i && roles[j] === role && role !== 'worker') roles[j] = '';
        Object.assign(reading, columnsOf(roles, preview));
        ask({focus: i});
    }));
}

function showChoices(buttons) {
    byId('choices').replaceChildren(...buttons.map(({content, apply}) =>
        element('button', {type: 'button', onclick: () => { apply(); writeOptions(); ask({}); }}, content)));
}

function choicesOf(answer) {
    if (answer.questions.length)
        return answer.questions.map((name) => ({
            content: ['The label is ', element('b', {}, name)],
            apply: () => { reading.columns = {...reading.columns, label: name}; },
        }));
    if (answer.duplicates)
        return [['first', 'Keep the first vote'], ['last', 'Keep the last vote'], ['all', 'Keep all votes']].map(([rule, content]) =>
            ({content, apply: () => { reading.duplicates = rule; }}));
    if (answer.several)
        return [['all', 'Each label is a vote'], ['join', 'Labels together are one class']].map(([rule, content]) =>
            ({content, apply: () => { reading.extra = `${reading.extra} --several ${rule}`.trim(); }}));
    return [];
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
    const answer = understand(result);
    if (!answer.good && tries < 4 && applyAnswer(answer)) {
        await ask({guesses: answer.guesses.length ? answer.guesses : guesses, focus, tries: tries + 1});
        return;
    }
    if (answer.good && preview && !reading.preset && !reading.guessed) addObviousColumns(answer.found);
    showPreview(answer.found || {});
    writeOptions();
    if (focus >= 0) byId('preview').querySelectorAll('select')[focus]?.focus();
    const part = [...reading.inputs].some(([name, blob]) => sample.get(name).size < blob.size);
    if (answer.good) {
        const how = reading.preset ? `Read as ${reading.preset}. ` : guesses.length ? 'The columns were guessed from their values; please check. ' : '';
        showUnderstood('good', `${how}${part ? 'The beginning of the file has ' : ''}${answer.message}.`);
        showChoices(guesses.slice(1).map((words) => ({
            content: ['Or: ', ...describeGuess(words)],
            apply: () => {
                reading.columns = {};
                applyGuess(reading, words);
            },
        })));
    } else {
        showUnderstood('bad', answer.message);
        showChoices(choicesOf(answer));
        if (/--label/.test(answer.message) && reading.preset) byId('options').open = true;
    }
}

/* Adds the columns of people and texts, once; those that the program found have to be named with them. */
function addObviousColumns(found) {
    reading.guessed = true;
    const currentRoles = rolesOf(reading, preview, found);
    const extra = Object.entries(obviousColumns(preview)).filter(([, column]) => !currentRoles[preview.columns.indexOf(column)]);
    if (extra.length) Object.assign(reading.columns, columnsOf(currentRoles, preview).columns, Object.fromEntries(extra));
}

/* ---- running ---- */

function showProgress(step, i, n, what, share) {
    byId('bar').value = (i + share) / n;
    byId('progress-text').textContent = `${step.title}${what ? `: ${what}` : ''} ...`;
}

async function runSteps() {
    const run = ++running;
    const steps = stepsOf(reading);
    showSettings(false);
    byId('results').hidden = false;
    byId('progress').hidden = false;
    byId('stop').hidden = false;
    results.commandLines = commandLines(steps);
    results.begin(steps);
    byId('results-title').focus({preventScroll: true});
    scrollTo(0, 0);
    for (const [i, step] of steps.entries()) {
        results.mark(step, 'busy');
        showProgress(step, i, steps.length, '', 0);
        const began = performance.now();
        const result = await engine.run(commandArgs(step, reading), reading.inputs, (what, share) => showProgress(step, i, steps.length, what, share));
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
    byId('announce').textContent = 'Stopped';
    byId('results-title').focus();
}

function commandLines(steps) {
    const lines = steps.map((step) => `dissent ${commandArgs(step, reading).map(quoteWord).join(' ')}`);
    return element('div', {}, element('h3', {}, 'The same on the command line'), element('pre', {class: 'says', tabindex: 0}, lines.join('\n')));
}

/* ---- the example: a simulated crowd of people and two LLM judges, with texts ---- */

async function openExample() {
    byId('example').disabled = true;
    const result = await engine.run(['synth', '--theme', 'tickets', '--model', 'ambiguous', '--items', '400', '--workers', '24', '--votes-per-item', '4',
        '--spammers', '.1', '--judges', '2', '--human-items', '250', '--text', 'texts.csv', '-o', VOTES_FILE, '-q'], new Map());
    byId('example').disabled = false;
    if (result.code !== 0) {
        showUnderstood('bad', result.lines.join('\n'));
        return;
    }
    await openFiles([[VOTES_FILE, new Blob([result.files[VOTES_FILE]])], ['texts.csv', new Blob([result.files['texts.csv']])]],
        {texts: 'texts.csv', title: 'Example: support tickets'});
}

/* ---- events ---- */

function fillLists() {
    byId('preset').append(element('option', {value: ''}, 'Table or detected export'), ...TABLES.presets.map((p) => element('option', {value: p.name}, p.name)));
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
        openFiles(await droppedFiles(event.dataTransfer));
    });
    byId('choose').addEventListener('click', () => byId('file').click());
    byId('file').addEventListener('change', (event) => openFiles([...event.target.files].map((file) => [file.name, file])));
    byId('example').addEventListener('click', openExample);
    byId('another').addEventListener('click', showStart);
    byId('edit').addEventListener('click', () => { showSettings(true); byId('reading-title').focus(); });
    byId('run').addEventListener('click', runSteps);
    byId('stop').addEventListener('click', stopRun);
    byId('save-all').addEventListener('click', () => results.saveAll('dissent-results.zip'));
    for (const name of [...SIMPLE_OPTIONS, 'question', 'lenient']) byId(name).addEventListener('change', () => { readOptions(); ask({}); });
    for (const name of ['gold', 'texts']) byId(name).addEventListener('change', async (event) => { await addFile(name, event.target.files[0]); ask({}); });
}

fillLists();
listen();
engine.start();
