#!/usr/bin/env node
/* The WebAssembly program with the arguments of the command line tool: tool.js [DISSENT.js] ARGUMENT... It runs as in the
 * page (web/run_tool.js): files of the current folder are copied into memory, and what the command writes is copied back.
 * Environment: DISSENT_WEB, the folder of dissent.js and dissent.wasm. */
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const folder = process.env.DISSENT_WEB || path.join(__dirname, '../../build/web/program');
const script = fs.readFileSync(path.join(__dirname, '../../web/run_tool.js'), 'utf8');
const runTool = vm.runInThisContext(`(() => { ${script}; return runTool; })()`);
const createDissent = require(path.join(folder, 'dissent.js'));

function readFolder(at, files) {
    for (const entry of fs.readdirSync(at || '.', {withFileTypes: true})) {
        const name = at ? `${at}/${entry.name}` : entry.name;
        if (entry.isDirectory()) readFolder(name, files);
        else if (entry.isFile()) files[name] = new Uint8Array(fs.readFileSync(name));
    }
    return files;
}

function readStandardInput() {
    try {
        return fs.fstatSync(0).isCharacterDevice() ? undefined : new Uint8Array(fs.readFileSync(0));
    } catch {
        return undefined;
    }
}

async function main() {
    const module = await WebAssembly.compile(fs.readFileSync(path.join(folder, 'dissent.wasm')));
    const args = process.argv.slice(2);
    const stdin = args.includes('-') ? readStandardInput() : undefined;
    const result = await runTool(createDissent, module, args, readFolder('', {}), {stdin});
    for (const [name, bytes] of Object.entries(result.files)) {
        fs.mkdirSync(path.dirname(name), {recursive: true});
        fs.writeFileSync(name, bytes);
    }
    fs.writeSync(2, result.lines.map((line) => `${line}\n`).join(''));
    for (let at = 0; at < result.stdout.length;) at += fs.writeSync(1, result.stdout, at);
    process.exitCode = result.code;
}

main();
