'use strict';
/* Elements without innerHTML: text of files only ever becomes text nodes. */

/* element('button', {class: 'plain', onclick: f}, 'Text', child, ...) */
function element(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
        else if (value === true) node.setAttribute(name, '');
        else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
    }
    node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
    return node;
}

const byId = (id) => document.getElementById(id);

const formatCount = (n) => n.toLocaleString('en-US');

function formatSize(bytes) {
    if (bytes < 1000) return `${bytes} bytes`;
    return bytes < 1e6 ? `${Math.round(bytes / 1000)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

const plural = (n, word) => `${formatCount(n)} ${word}${n === 1 ? '' : 's'}`;

function download(name, blob) {
    const url = URL.createObjectURL(blob);
    const link = element('a', {href: url, download: name});
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
}
