// Preloaded into a counted process and its threads: counts the calls of better-sqlite3 and pg. Times of such a process are
// worth nothing. report-process-cost.cjs writes the counts.
const { createRequire } = require('node:module');
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

/** Replaces a method by one that does `after` with the result of `before`. */
function around(prototype, name, before, after) {
  const original = prototype[name];
  prototype[name] = function counted(...args) {
    const seen = before(this, args);
    const result = original.apply(this, args);
    after(this, seen);
    return result;
  };
}

function countSqlite() {
  const Sqlite = load('better-sqlite3');
  const memory = new Sqlite(':memory:');
  const statements = Object.getPrototypeOf(memory.prepare('SELECT 1'));
  memory.close();
  const begin = (db, mayWrite) => {
    Atomics.add(calls, STATEMENTS, 1);
    return { wasOpen: db.inTransaction, mayWrite };
  };
  // It ended a transaction, or was one.
  const end = (db, { wasOpen, mayWrite }) => {
    if (mayWrite && (wasOpen || !db.readonly) && !db.inTransaction) Atomics.add(calls, TRANSACTIONS, 1);
  };
  for (const name of ['run', 'get', 'all', 'iterate']) {
    around(
      statements,
      name,
      (statement) => begin(statement.database, wasOpenOrWrites(statement)),
      (statement, seen) => end(statement.database, seen),
    );
  }
  for (const name of ['exec', 'pragma']) {
    around(Sqlite.prototype, name, (db) => begin(db, name === 'exec'), end);
  }
}

/** COMMIT is a statement that writes nothing itself. */
function wasOpenOrWrites(statement) {
  return !statement.readonly || /^\s*(?:commit|end)\b/i.test(statement.source);
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

countSqlite();
countPostgres();
