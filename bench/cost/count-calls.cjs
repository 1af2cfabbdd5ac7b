// Preloaded into a counted process and its threads: counts the calls of better-sqlite3 and pg. Times of such a process are
// worth nothing. report-process-cost.cjs writes the counts.
const { createRequire, syncBuiltinESMExports } = require('node:module');
const { getEnvironmentData, isMainThread, setEnvironmentData } = require('node:worker_threads');

const KEY = 'daywalk-bench-calls';
const [STATEMENTS, TRANSACTIONS] = [0, 1];

// Shared by all threads, because a thread that is terminated cannot report.
const calls = isMainThread ? new Int32Array(new SharedArrayBuffer(8)) : getEnvironmentData(KEY);
if (isMainThread) {
  setEnvironmentData(KEY, calls);
  globalThis.daywalkBenchCalls = () => ({
    statements: Atomics.load(calls, STATEMENTS),
    transactions: Atomics.load(calls, TRANSACTIONS),
  });
}

// The drivers of the program that runs, not those of this file.
const load = createRequire(process.argv[1]);

/** Adds something to do before and after a method. */
function around(prototype, name, before, after) {
  const original = prototype[name];
  prototype[name] = function counted(...args) {
    before(this, args);
    const result = original.apply(this, args);
    after(this);
    return result;
  };
}

/** Texts of exec that write nothing and take no lock. */
const READS =
  /^\s*(?:begin(?:\s+(?:deferred|transaction))?\s*;?\s*$|commit|end|rollback|savepoint|release|select|pragma|detach)/i;

/** Counts the transactions in which a statement wrote, or began by taking the lock of a writer. */
function countSqlite() {
  const Sqlite = load('better-sqlite3');
  const memory = new Sqlite(':memory:');
  const statements = Object.getPrototypeOf(memory.prepare('SELECT 1'));
  memory.close();
  const writing = new WeakSet();
  const begin = (db, writes) => {
    Atomics.add(calls, STATEMENTS, 1);
    if (writes) writing.add(db);
  };
  const end = (db) => {
    if (!db.inTransaction && writing.delete(db)) Atomics.add(calls, TRANSACTIONS, 1);
  };
  for (const name of ['run', 'get', 'all', 'iterate']) {
    around(
      statements,
      name,
      (statement) => begin(statement.database, !statement.readonly),
      (statement) => end(statement.database),
    );
  }
  around(Sqlite.prototype, 'exec', (db, [text]) => begin(db, !READS.test(text)), end);
  around(Sqlite.prototype, 'pragma', (db) => begin(db, false), end);
}

function countPostgres() {
  const { Client } = load('pg');
  around(
    Client.prototype,
    'query',
    () => Atomics.add(calls, STATEMENTS, 1),
    () => undefined,
  );
}

/** The calls of this program for which the process that reads SQLite for it asks the driver once. */
const READ_CALLS = new Set(['select', 'rows', 'scan', 'begin', 'end', 'version']);

/** That process shares no memory with this one, so its statements are counted where they are asked for. */
function countAsked() {
  const processes = require('node:child_process');
  const { fork } = processes;
  processes.fork = (...args) => {
    const child = fork(...args);
    around(
      child,
      'send',
      (_, [message]) => READ_CALLS.has(message?.call) && Atomics.add(calls, STATEMENTS, 1),
      () => undefined,
    );
    return child;
  };
  syncBuiltinESMExports();
}

countAsked();
countSqlite();
countPostgres();
