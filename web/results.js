'use strict';
/* The results: the answer, and tabs, one per step, filled as the steps end. */

function reportFrame(bytes) {
    const frame = element('iframe', {title: 'Report', sandbox: 'allow-scripts allow-downloads allow-popups', referrerpolicy: 'no-referrer'});
    frame.srcdoc = new TextDecoder().decode(bytes);
    return frame;
}

function shownResult(step, files) {
    const first = files[Object.values(step.files)[0]];
    if (step.id === 'report') return [reportFrame(first)];
    if (step.id === 'review' && firstRows(first).columns.includes('p_correct')) return reviewTables(step, files);
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
        byId('answer').hidden = true;
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
            const lines = result.lines.map((line) => line.replace(/^dissent: /, '')).filter((line) => !line.startsWith('see dissent '));
            panel.replaceChildren(element('p', {class: 'message bad', role: 'alert'}, lines.join('\n')));
            return;
        }
        this.mark(step, 'done');
        Object.assign(this.files, result.files);
        const names = Object.values(step.files).filter((name) => result.files[name]);
        const saves = names.map((name) => element('button', {type: 'button', class: 'small', onclick: () => this.save(name)}, `Download ${name}`));
        if (step.id === 'report') saves.unshift(this.reportLink(result.files[names[0]]));
        const rows = step.id === 'report' ? 0 : countRows(result.files[names[0]]);
        const note = rows > SHOWN_ROWS ? ` The table has the first ${SHOWN_ROWS} of ${formatCount(rows)} rows; the file has all.` : '';
        panel.replaceChildren(element('div', {class: 'panel-top'}, element('p', {}, step.about + note), element('p', {class: 'buttons'}, saves)),
            ...shownResult(step, result.files),
            element('details', {}, element('summary', {}, 'Messages of the program'), element('pre', {class: 'says', tabindex: 0}, result.lines.join('\n'))));
        this.showFiles();
        if (step.id === 'labels') this.showTiles(JSON.parse(new TextDecoder().decode(result.files[step.files.summary])), result.lines);
        if (step.id === 'report') this.showAnswer(answerOf(new TextDecoder().decode(result.files[names[0]])));
    }

    save(name) {
        download(name, new Blob([this.files[name]]));
    }

    /* The report in a tab of its own; the address is valid until the next run. */
    reportLink(bytes) {
        if (this.reportUrl) URL.revokeObjectURL(this.reportUrl);
        this.reportUrl = URL.createObjectURL(new Blob([bytes], {type: 'text/html'}));
        return element('a', {class: 'button small', href: this.reportUrl, target: '_blank', rel: 'noopener'}, 'Open in a new tab');
    }

    showAnswer(answer) {
        byId('answer').hidden = !answer;
        if (!answer) return;
        byId('answer').dataset.verdict = answer.verdict;
        byId('answer').replaceChildren(element('h3', {}, answer.question), element('p', {}, answer.text));
        byId('announce').textContent = answer.question;
    }

    showTiles(summary, lines) {
        const share = (word) => (/^\s+\S.*?([\d,]+) of ([\d,]+) /.exec(lines.find((line) => line.trim().startsWith(word)) || '') || [])[1];
        const tiles = tilesOf(summary);
        if (share('confident')) tiles.push([share('confident'), 'confident labels']);
        if (share('to relabel')) tiles.push([share('to relabel'), 'to relabel']);
        byId('tiles').replaceChildren(...tiles.map(([value, name]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))));
    }

    showFiles() {
        const names = Object.keys(this.files).sort();
        const rows = names.map((name) => element('tr', {},
            element('th', {scope: 'row'}, name, element('span', {class: 'note'}, FILE_TITLES[name] || '')),
            element('td', {class: 'n'}, formatSize(this.files[name].length)),
            element('td', {class: 'n'}, element('button', {type: 'button', class: 'small', 'aria-label': `Download ${name}`, onclick: () => this.save(name)},
                'Download'))));
        byId('panel-files').replaceChildren(names.length
            ? element('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Files'}, element('table', {class: 'files'}, element('tbody', {}, rows)))
            : element('p', {class: 'note'}, 'No files yet.'), this.commandLines || '');
        byId('save-all').hidden = !names.length;
    }

    saveAll(name) {
        download(name, zipFiles(this.files));
    }
}
