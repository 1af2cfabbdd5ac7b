// Preloaded into a run when strace is missing: kills the process as it enters its n-th SQLite statement or its n-th
// socket write, like a power cut or the OOM killer. KILL_AT=0 only counts them and prints the counts.
import { createRequire } from 'node:module';
import { Socket } from 'node:net';

const { KILL_AT = '0', KILL_KIND = '' } = process.env;
const counts = { statement: 0, socket: 0 };

function step(kind) {
  counts[kind] += 1;
  if (kind === KILL_KIND && counts[kind] === Number(KILL_AT)) process.kill(process.pid, 'SIGKILL');
}

function countCalls(holder, name, kind) {
  const real = holder[name];
  holder[name] = function counted(...args) {
    step(kind);
    return real.apply(this, args);
  };
}

const require = createRequire(import.meta.url);
const Sqlite = require('better-sqlite3');
for (const name of ['exec', 'pragma', 'close']) countCalls(Sqlite.prototype, name, 'statement');
const memory = new Sqlite(':memory:');
countCalls(Object.getPrototypeOf(memory.prepare('SELECT 1')), 'run', 'statement');
memory.close();
for (const name of ['_write', '_writev']) countCalls(Socket.prototype, name, 'socket');

counts.statement = 0;
process.on('exit', () => process.stderr.write(`${JSON.stringify({ steps: counts })}\n`));
