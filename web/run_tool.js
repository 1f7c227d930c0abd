'use strict';
/* Runs one command of dissent: a fresh instance of the program, with files in memory. The worker of the page and the
 * tests in node share this file. */

/* Standard error is a terminal to the program, so that it draws its progress bar: "\r\033[K  what [####....]  50%". */
class MessageReader {
    constructor(onProgress) {
        this.lines = [];
        this.bytes = [];
        this.onProgress = onProgress;
    }

    readLine() {
        const text = new TextDecoder().decode(new Uint8Array(this.bytes)).replace(/\x1b\[K/g, '');
        this.bytes.length = 0;
        return text;
    }

    add(byte) {
        if (byte === 0x0d) {
            this.bytes.length = 0;
        } else if (byte === 0x0a) {
            this.lines.push(this.readLine());
        } else {
            this.bytes.push(byte);
            if (byte === 0x25) this.report();
        }
    }

    report() {
        const bar = /^\x1b\[K {2}(.*) \[#*\.*\] +(\d+)%$/.exec(new TextDecoder().decode(new Uint8Array(this.bytes)));
        if (bar) this.onProgress(bar[1], Number(bar[2]) / 100);
    }

    end() {
        const rest = this.readLine();
        if (rest) this.lines.push(rest);
        return this.lines;
    }
}

const WORK = '/work';

function writeFiles(FS, files) {
    for (const [name, bytes] of Object.entries(files)) {
        const folder = name.split('/').slice(0, -1).join('/');
        if (folder) FS.mkdirTree(`${WORK}/${folder}`);
        FS.writeFile(name, bytes, {canOwn: true});
    }
}

/* Adds to `found` the files of a folder and of those below it, but for inputs that the command left as they were. */
function readFiles(FS, folder, inputs, found) {
    for (const name of FS.readdir(folder || '.')) {
        if (name === '.' || name === '..') continue;
        const path = folder ? `${folder}/${name}` : name;
        const {node} = FS.lookupPath(path);
        if (FS.isDir(node.mode)) {
            readFiles(FS, path, inputs, found);
        } else if (!inputs[path] || node.usedBytes !== inputs[path].length || (node.contents && node.contents.buffer !== inputs[path].buffer)) {
            found[path] = FS.readFile(path);
        }
    }
}

/* create: the factory that emcc has written; module: the compiled program; args: words after "dissent"; files: bytes by
 * name. Resolves to {code, stdout, lines, files}: files that the command wrote, lines of standard error. */
async function runTool(create, module, args, files, options = {}) {
    const messages = new MessageReader(options.onProgress || (() => {}));
    const stdout = [];
    let input = 0;
    const stdin = options.stdin || new Uint8Array(0);
    const program = await create({
        noInitialRun: true,
        quit(status, reason) {
            throw reason;
        },
        instantiateWasm(imports, done) {
            WebAssembly.instantiate(module, imports).then((instance) => done(instance, module));
            return {};
        },
        preRun: [(m) => {
            m.FS.init(() => (input < stdin.length ? stdin[input++] : null), (byte) => stdout.push(byte & 0xff),
                (byte) => messages.add(byte & 0xff));
            Object.assign(m.ENV, {NO_COLOR: '1', TERM: 'dumb'}, options.environment);
        }],
    });
    const FS = program.FS;
    FS.getStream(2).tty = true;
    FS.mkdirTree(WORK);
    FS.chdir(WORK);
    writeFiles(FS, files);
    const written = {};
    let code;
    try {
        code = program.callMain(args);
    } catch (error) {
        code = 1;
        messages.lines.push(`dissent: the program stopped: ${error.message || error}`);
    }
    readFiles(FS, '', files, written);
    return {code, stdout: new Uint8Array(stdout), lines: messages.end(), files: written};
}
