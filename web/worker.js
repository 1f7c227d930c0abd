'use strict';
/* The worker: keeps the compiled program and the input files, and runs one command at a time.
 *
 * {program}                    the compiled module, sent first
 * {put: name, bytes}           an input file
 * {run: id, args, inputs}      a command over these inputs; answers: {id, what, share} while it runs, then
 *                              {id, code, stdout, lines, files} */
const inputs = new Map();
let program = null;

async function runCommand({run: id, args, inputs: names}) {
    const files = Object.fromEntries(names.map((name) => [name, inputs.get(name)]));
    const onProgress = (what, share) => self.postMessage({id, what, share});
    const result = await runTool(createDissent, program, args, files, {onProgress});
    const buffers = Object.values(result.files).map((bytes) => bytes.buffer);
    self.postMessage({id, ...result}, [...buffers, result.stdout.buffer]);
}

self.onmessage = ({data}) => {
    if (data.program) program = data.program;
    else if (data.put) inputs.set(data.put, data.bytes);
    else runCommand(data);
};
