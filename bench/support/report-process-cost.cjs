// Preloaded into a measured process: on exit, and at SIGUSR2, it writes its cost to file descriptor 3, as a line of JSON.
const { existsSync, readFileSync, writeSync } = require('node:fs');
const { isMainThread } = require('node:worker_threads');

const STATUS = '/proc/self/status';
const IO = '/proc/self/io';

const read = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : '');

function tell() {
  const peakKib = Number(/^VmHWM:\s*(\d+)/m.exec(read(STATUS))?.[1] ?? process.resourceUsage().maxRSS);
  // Bytes of all writing calls of all threads. Unlike `write_bytes` it is the same on every file system, also in memory,
  // and does not depend on when the kernel writes pages to the disk.
  const written = /^wchar:\s*(\d+)/m.exec(read(IO))?.[1];
  const { user, system } = process.cpuUsage();
  const cost = {
    peakBytes: peakKib * 1024,
    cpuMs: (user + system) / 1000,
    writtenBytes: written === undefined ? null : Number(written),
    // Set by bench/cost/count-calls.cjs.
    calls: globalThis.daywalkBenchCalls?.() ?? null,
  };
  writeSync(3, `${JSON.stringify(cost)}\n`);
}

if (isMainThread) {
  process.on('exit', tell);
  process.on('SIGUSR2', tell);
}
