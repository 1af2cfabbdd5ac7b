// Preloaded into a measured process: on exit, and at SIGUSR2, it writes its cost to file descriptor 3, as a line of JSON. Processes
// that it has started, and that still run, count with it.
const { existsSync, readdirSync, readFileSync, writeSync } = require('node:fs');
const { isMainThread } = require('node:worker_threads');

const TASKS = '/proc/self/task';
const TICK_MS = 10;

/** The processes that this one has started, and that still run. */
function childrenOf() {
  if (!existsSync(TASKS)) return [];
  return readdirSync(TASKS).flatMap((task) => read(`${TASKS}/${task}/children`).split(' ').filter(Boolean));
}

function ticksOf(pid) {
  const fields = read(`/proc/${pid}/stat`).split(') ')[1]?.split(' ') ?? [];
  return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
}

const sum = (values) => values.reduce((total, value) => total + value, 0);

const read = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : '');

function tell() {
  const children = childrenOf();
  const peakOf = (pid) => Number(/^VmHWM:\s*(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0);
  const peakKib = (peakOf('self') || process.resourceUsage().maxRSS) + sum(children.map(peakOf));
  // Bytes of all writing calls of all threads. Unlike `write_bytes` it is the same on every file system, also in memory,
  // and does not depend on when the kernel writes pages to the disk.
  const writtenBy = (pid) => /^wchar:\s*(\d+)/m.exec(read(`/proc/${pid}/io`))?.[1];
  const written = writtenBy('self');
  const { user, system } = process.cpuUsage();
  const cost = {
    peakBytes: peakKib * 1024,
    cpuMs: (user + system) / 1000 + TICK_MS * sum(children.map(ticksOf)),
    writtenBytes:
      written === undefined
        ? null
        : Number(written) + sum(children.map((pid) => Number(writtenBy(pid) ?? 0))),
    // Set by bench/cost/count-calls.cjs.
    calls: globalThis.daywalkBenchCalls?.() ?? null,
  };
  writeSync(3, `${JSON.stringify(cost)}\n`);
}

if (isMainThread) {
  process.on('exit', tell);
  process.on('SIGUSR2', tell);
}
