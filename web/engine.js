'use strict';
/* The program, seen from the page: compiled once, run in a worker, ended by ending the worker. */

async function inflate(base64) {
    const packed = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

class Engine {
    constructor() {
        this.worker = null;
        this.sent = new Map(); /* name of an input -> the Blob that the worker has */
        this.waiting = new Map(); /* id of a command -> {resolve, onProgress} */
        this.next = 1;
        this.module = this.compile();
    }

    async compile() {
        const bytes = await inflate(document.getElementById('program').textContent);
        return WebAssembly.compile(bytes);
    }

    async start() {
        const module = await this.module;
        if (this.worker) return this.worker;
        const script = new Blob([document.getElementById('worker').textContent], {type: 'text/javascript'});
        const url = URL.createObjectURL(script);
        this.worker = new Worker(url);
        URL.revokeObjectURL(url);
        this.worker.onmessage = ({data}) => this.receive(data);
        this.worker.onerror = (event) => this.fail(event.message || 'the worker could not start');
        this.worker.postMessage({program: module});
        return this.worker;
    }

    receive(data) {
        const command = this.waiting.get(data.id);
        if (!command) return;
        if (data.code === undefined) {
            command.onProgress(data.what, data.share);
        } else {
            this.waiting.delete(data.id);
            command.resolve(data);
        }
    }

    fail(message) {
        const commands = [...this.waiting.values()];
        this.stop();
        for (const command of commands) {
            command.resolve({code: 1, lines: [`dissent: ${message}`], files: {}, stdout: new Uint8Array(0)});
        }
    }

    /* Ends what is running; its promises stay open. The next command starts a fresh worker. */
    stop() {
        if (this.worker) this.worker.terminate();
        this.worker = null;
        this.sent.clear();
        this.waiting.clear();
    }

    /* inputs: Map of names to Blobs. Resolves to {code, lines, files, stdout} (run_tool.js). */
    async run(args, inputs, onProgress = () => {}) {
        const worker = await this.start();
        for (const [name, blob] of inputs) {
            if (this.sent.get(name) === blob) continue;
            const bytes = new Uint8Array(await blob.arrayBuffer());
            if (worker !== this.worker) return new Promise(() => {}); /* stopped while the file was being read */
            this.sent.set(name, blob);
            worker.postMessage({put: name, bytes}, [bytes.buffer]);
        }
        const id = this.next++;
        return new Promise((resolve) => {
            this.waiting.set(id, {resolve, onProgress});
            worker.postMessage({run: id, args, inputs: [...inputs.keys()]});
        });
    }
}
