'use strict';
/* What is computed, in this order: one row per command of the tool. */

const TABLES = JSON.parse(document.getElementById('tables').textContent);

/* What a column can be; `commands`: those that take the option (all, if it is missing). */
const ROLES = [
    {id: 'task', name: 'Item', option: '--task'},
    {id: 'worker', name: 'Annotator', option: '--worker'},
    {id: 'label', name: 'Label', option: '--label'},
    {id: 'voter', name: 'Person or model', option: '--voter-type', commands: ['panel', 'report']},
    {id: 'text', name: 'Item text', option: '--text', commands: ['review', 'report']},
    {id: 'time', name: 'Time', option: '--time'},
    {id: 'a', name: 'First candidate', option: '--a', scale: 'pairwise'},
    {id: 'b', name: 'Second candidate', option: '--b', scale: 'pairwise'},
    {id: 'start', name: 'Start', option: '--start', scale: 'spans'},
    {id: 'end', name: 'End', option: '--end', scale: 'spans'},
];

const hasPeople = (r) => Boolean(r.people || r.columns.voter);

/* `files`: what the command writes; the first one is shown as a table. */
const STEPS = [
    {
        id: 'labels',
        title: 'Labels',
        about: 'The most probable class of each item, and the probability of every class.',
        files: {labels: 'labels.csv', summary: 'labels.json'},
        args: (files) => ['-o', files.labels, '--json', files.summary],
    },
    {
        id: 'review',
        title: 'Review',
        about: 'Items to relabel first, and annotators to check, with reasons.',
        files: {items: 'review.csv', annotators: 'annotators.csv'},
        args: (files, r) => ['-o', files.items, ...(r.anonymous ? [] : ['--workers', files.annotators])],
    },
    {
        id: 'agree',
        title: 'Agreement',
        about: 'Inter-annotator agreement: 1 is perfect. For all coefficients but the mean item agreement, 0 is chance. Bars are 95 % intervals.',
        files: {agreement: 'agreement.csv'},
        args: (files) => ['-o', files.agreement],
    },
    {
        id: 'panel',
        title: 'LLM judges',
        about: 'How closely each judge agrees with people. A judge that passes the alternative-annotator test answers like these people.',
        when: hasPeople,
        files: {judges: 'panel.csv', labels: 'panel-labels.csv'},
        args: (files) => ['-o', files.judges, '--save-labels', files.labels],
    },
    {
        id: 'report',
        title: 'Report',
        about: 'Everything on one page, with charts. The file works offline.',
        files: {page: 'report.html'},
        args: (files, r) => ['-o', files.page, ...(r.title ? ['--title', r.title] : [])],
    },
];

/* What is in the files, for their list. */
const FILE_TITLES = {
    'labels.csv': 'label of each item, with the probability of every class',
    'labels.json': 'summary of the labels: settings, classes, methods',
    'review.csv': 'all items, the least certain first, with reasons',
    'annotators.csv': 'accuracy and verdict of each annotator',
    'agreement.csv': 'coefficients of agreement with intervals',
    'panel.csv': 'LLM judges compared with people',
    'panel-labels.csv': 'labels calibrated to people',
    'report.html': 'everything on one page, with charts',
};

const stepsOf = (reading) => STEPS.filter((step) => !step.when || step.when(reading));

/* A column's name as a path (docs/reference/paths.md). */
const pathOf = (column) => (/[.[\]{}#?|+$"]/.test(column) && !column.includes('"') ? `"${column}"` : column);

/* Words of a line as a shell splits them. */
function splitWords(line) {
    const words = [];
    const pattern = /\s*((?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+)/g;
    for (const [, word] of line.matchAll(pattern)) {
        words.push(word.replace(/'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/g, (all, single, double, escaped) =>
            single ?? double?.replace(/\\([\\"$`])/g, '$1') ?? escaped));
    }
    return words;
}

/* Options that describe the input to a command; `reading` is that of reading.js. */
function readingArgs(command, reading) {
    const args = [];
    const add = (option, value) => value && args.push(option, value);
    add('--preset', reading.preset);
    add('--input', reading.input);
    for (const role of ROLES) {
        if (role.commands && !role.commands.includes(command)) continue;
        add(role.option, reading.columns[role.id]);
    }
    add('--scale', reading.scale);
    add('--classes', reading.classes);
    add('--duplicates', reading.duplicates);
    if (reading.lenient) args.push('--lenient');
    if (reading.gold && ['labels', 'agree', 'review', 'report'].includes(command)) args.push('--gold', reading.gold);
    if (['review', 'report'].includes(command)) add('--texts', reading.texts || (reading.columns.text && reading.files[0]));
    if (['panel', 'report'].includes(command)) add('--people', reading.people);
    return [...args, ...splitWords(reading.extra)];
}

const commandArgs = (step, reading) =>
    [step.id, ...reading.files, ...readingArgs(step.id, reading), ...step.args(step.files, reading)];
