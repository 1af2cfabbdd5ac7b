// Preloaded into a run: kills the process as it enters its n-th SQLite statement, its n-th socket write, or its n-th write,
// sync or rename of a file (those of SQLite are not among them), like a power cut or the OOM killer. KILL_AT=0 only counts them and prints the counts.
import promises, { open } from 'node:fs/promises';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';

const { KILL_AT = '0', KILL_KIND = '' } = process.env;
const counts = { statement: 0, socket: 0, file: 0 };

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

const handle = await open('/dev/null');
for (const name of ['writeFile', 'appendFile', 'sync', 'datasync'])
  countCalls(Object.getPrototypeOf(handle), name, 'file');
await handle.close();
for (const name of ['rename', 'rm']) countCalls(promises, name, 'file');
syncBuiltinESMExports();

counts.statement = 0;
process.on('exit', () => process.stderr.write(`${JSON.stringify({ steps: counts })}\n`));
