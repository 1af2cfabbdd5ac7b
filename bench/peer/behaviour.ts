/**
 * Shows how Daywalk and the export written with dlt react to changed data, wrong responses and kills. Run by hand, after
 * `npm run build`: `npx node bench/peer/behaviour.ts --python /tmp/dlt/bin/python`. It prints what was seen; docs/performance.md
 * sums it up.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { parseDay, shiftDay, type UtcDay } from '../../src/core/day.ts';
import { ending, openTrial, type Trial } from './trial.ts';

const { values: given } = parseArgs({
  options: { python: { type: 'string', default: 'python3' }, only: { type: 'string', default: '' } },
});

/** A day that every run requests again, and one that is older. */
const [RECENT, OLD] = [parseDay('2026-02-18'), parseDay('2026-02-04')];
/** Nights after a restatement. */
const NIGHTS = 4;
/** Instants at which the program is killed, in shares of the duration of a whole run. */
const KILLS = [0.3, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95];

/** What is done to the service between two runs, and what is looked at afterwards. */
type Experiment = (trial: Trial) => Promise<readonly unknown[]>;

async function bothTwice(trial: Trial, change: () => void): Promise<readonly unknown[]> {
  await Promise.all([trial.dlt(), trial.daywalk('run')]);
  change();
  return Promise.all([trial.dlt(), trial.daywalk('run')]);
}

const usersOf = (trial: Trial, day: string) => ({
  dlt: trial.query('dlt', `SELECT count(*) FROM users WHERE date = '${day}'`),
  daywalk: trial.query('daywalk', `SELECT count(*) FROM user_daily WHERE date = '${day}'`),
});
const tokensOf = (trial: Trial, day: string) => ({
  dlt: trial.query('dlt', `SELECT billable_tokens FROM tokens WHERE date = '${day}'`),
  daywalk: trial.query('daywalk', `SELECT billable_tokens FROM tokens_daily WHERE date = '${day}'`),
});

/** Both programs sync a world whose responses hold this text in place of a number. */
function withNumber(text: string): Experiment {
  return async (trial) => {
    const operations = [{ op: 'raw' as const, path: '/data/0/tool_calls', text }];
    trial.emulator.setRules([
      { match: { stream: 'users', day: RECENT, page: 1 }, action: { type: 'patch', operations } },
    ]);
    const endings = await Promise.all([trial.dlt(), trial.daywalk('run')]);
    const value = "typeof(tool_calls) || ' ' || printf('%.17g', tool_calls) || ' ' || tool_calls";
    return [
      ...endings,
      { dlt: trial.query('dlt', `SELECT ${value} FROM users ORDER BY tool_calls DESC LIMIT 1`) },
      { empty: trial.query('dlt', 'SELECT count(*) FROM users WHERE tool_calls IS NULL') },
      {
        columns: trial.query(
          'dlt',
          "SELECT name FROM pragma_table_info('users') WHERE name LIKE 'tool_calls%'",
        ),
      },
      { users: trial.query('dlt', 'SELECT count(*) FROM users') },
      { daywalk: trial.query('daywalk', `SELECT ${value} FROM user_daily ORDER BY tool_calls DESC LIMIT 1`) },
      { quarantine: trial.query('daywalk', "SELECT reason || ' ' || path FROM quarantine") },
      { users: trial.query('daywalk', 'SELECT count(*) FROM user_daily') },
    ];
  };
}

/** Kills the export at several instants: what is stored then, and what after the next run. */
const killed: Experiment = async () => {
  const seen: unknown[] = [];
  const reference = await openTrial(given.python);
  const start = performance.now();
  await reference.dlt();
  const duration = performance.now() - start;
  const whole = stored(reference);
  await reference.close();
  for (const share of KILLS) {
    const trial = await openTrial(given.python);
    const child = trial.startDlt();
    const end = ending(child);
    await sleep(share * duration);
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    await end;
    const after = stored(trial);
    const next = await trial.dlt();
    seen.push({ share, code: child.exitCode, after, next: next.code, same: stored(trial) === whole });
    await trial.close();
  }
  return [{ whole }, ...seen];
};

/** Units of Daywalk by state. */
function states(trial: Trial): unknown {
  return trial.query(
    'daywalk',
    "SELECT stream || ' ' || state || ' ' || count(*) FROM export_units GROUP BY stream, state",
  );
}

/** Rows of some tables of dlt. */
function stored(trial: Trial): string {
  const tables = ['tokens', 'tokens__by_user', 'users', 'users__languages', 'readiness', 'readiness__report'];
  return tables
    .map((name) => `${name} ${trial.query('dlt', `SELECT count(*) FROM ${name}`) ?? '-'}`)
    .join(', ');
}

const EXPERIMENTS: Readonly<Record<string, Experiment>> = {
  'a user vanishes from a recent day': async (trial) => {
    const before: unknown[] = [];
    const endings = await bothTwice(trial, () => {
      before.push(usersOf(trial, RECENT));
      trial.emulator.revise({ kind: 'vanish-users', day: RECENT, count: 1 });
    });
    const after = usersOf(trial, RECENT);
    await trial.dlt('--whole');
    const nested = `SELECT count(*) FROM tokens__by_user WHERE _dlt_parent_id IN (SELECT _dlt_id FROM tokens WHERE date = '${RECENT}')`;
    return [
      ...before,
      ...endings,
      after,
      { whole: usersOf(trial, RECENT), nested: trial.query('dlt', nested) },
    ];
  },
  'a recent day is restated': async (trial) => restated(trial, RECENT),
  'an old day is restated': async (trial) => restated(trial, OLD),
  'a page of users fails': async (trial) => {
    trial.emulator.setQuirks({ pageSize: 10 });
    trial.emulator.setRules([
      { match: { stream: 'users', page: 2 }, action: { type: 'status', status: 400 } },
    ]);
    return [
      ...(await Promise.all([trial.dlt(), trial.daywalk('run')])),
      stored(trial),
      states(trial),
      usersOf(trial, OLD),
    ];
  },
  'pages of users end early': async (trial) => {
    trial.emulator.setQuirks({ pageSize: 20, lies: { paging: { says: 'flag-false' } } });
    const first = await Promise.all([trial.dlt(), trial.daywalk('run')]);
    const early = usersOf(trial, RECENT);
    trial.emulator.resetQuirks();
    await Promise.all([trial.dlt('--whole'), trial.daywalk('run')]);
    return [...first, early, { honest: usersOf(trial, RECENT) }];
  },
  'a stored day is empty in a later response': async (trial) => {
    const endings = await bothTwice(trial, () => trial.emulator.revise({ kind: 'empty', day: RECENT }));
    return [...endings, usersOf(trial, RECENT)];
  },
  'a user without an ID': async (trial) => {
    const operations = [{ op: 'remove' as const, path: '/data/0/user_id' }];
    trial.emulator.setRules([{ match: { stream: 'users', page: 1 }, action: { type: 'patch', operations } }]);
    const endings = await Promise.all([trial.dlt(), trial.daywalk('run')]);
    const after = [stored(trial), usersOf(trial, RECENT)];
    trial.emulator.setRules([]);
    const next = await Promise.all([trial.dlt(), trial.daywalk('run')]);
    return [...endings, ...after, ...next, stored(trial), usersOf(trial, RECENT)];
  },
  'a number of 1e400': withNumber('1e400'),
  'a number of 2^53 + 1': withNumber('9007199254740993'),
  'a number of 10^20': withNumber('100000000000000000000'),
  'a number that is text': withNumber('"many"'),
  'killed at several instants': killed,
};

/** A day is restated; what is stored after each of the next nights, and after all days were requested again. */
async function restated(trial: Trial, day: UtcDay): Promise<readonly unknown[]> {
  const state = () => ({
    ...tokensOf(trial, day),
    restatements: trial.query('daywalk', 'SELECT count(*) FROM restatements'),
  });
  await Promise.all([trial.dlt(), trial.daywalk('run')]);
  const seen: unknown[] = [state()];
  trial.emulator.revise({ kind: 'restate', day });
  for (let night = 0; night < NIGHTS; night += 1) {
    const endings = await Promise.all([trial.dlt(), trial.daywalk('run')]);
    seen.push({ today: trial.emulator.today(), ...state(), codes: endings.map(({ code }) => code) });
    trial.emulator.setToday(shiftDay(trial.emulator.today(), 1));
  }
  await trial.dlt('--whole');
  return [...seen, { whole: state() }];
}

for (const [name, experiment] of Object.entries(EXPERIMENTS)) {
  if (!name.includes(given.only)) continue;
  const trial = await openTrial(given.python);
  try {
    process.stdout.write(`\n${name}\n`);
    for (const line of await experiment(trial)) process.stdout.write(`  ${text(line)}\n`);
  } finally {
    await trial.close();
  }
}

function text(value: unknown): string {
  return typeof value === 'string'
    ? value
    : JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? part.toString() : part));
}
