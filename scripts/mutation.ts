/**
 * Changes the code of the rooms that must not be wrong, one small change at a time, and demands that a unit test fails: `npm run
 * mutation`, with `--room NAME` for one and `--list` to list what survives. Stryker makes the changes; it is installed into a folder beside the repository, so that
 * `npm ci` stays small. Exits with 1 if fewer than nine of ten changes of a room are found, or if one stays unnoticed that
 * `test/support/mutation/survivors.json` does not list with its reason.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOM_VARIABLE, ROOMS, type RoomName } from '../test/support/mutation/rooms.ts';

const ROOT = join(import.meta.dirname, '..');
const HERE = 'test/support/mutation';
const STRYKER = '10.1.1';
const FOLDER = join(tmpdir(), `daywalk-stryker-${STRYKER}`);
const PROGRAM = join(FOLDER, 'node_modules/@stryker-mutator/core/bin/stryker.js');
/** The least share of changes that tests find. */
const KILLED_MIN = 0.9;
/** A change may make a loop endless. */
const TIMEOUT_MS = 5_000;

/** The length of tests that draw worlds. */
const SHORT = { DAYWALK_FUZZ: '1', DAYWALK_FUZZ_ANSWERS: '25' };

/** A change that no test finds, and why none should. */
interface Survivor {
  readonly file: string;
  /** The line of the code that it changes, without the blanks around it. */
  readonly line: string;
  /** What it puts in place of a part of that line. */
  readonly by: string;
}

interface Mutant {
  readonly status: string;
  readonly mutatorName: string;
  readonly replacement: string;
  readonly location: { readonly start: { readonly line: number; readonly column: number } };
}

interface Report {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>>;
}

/** What survives, by its reason and file: lines, and what they are changed by. */
type List = Record<string, Record<string, [line: string, by: string][]>>;

const LIST = join(ROOT, HERE, 'survivors.json');
/** The reason of those that nobody has looked at. */
const OPEN = 'no test finds it yet';

const { values: given } = parseArgs({
  options: { room: { type: 'string', multiple: true }, list: { type: 'boolean', default: false } },
});

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function run(command: string, args: readonly string[], cwd: string, env = process.env): void {
  const { status } = spawnSync(command, args, { cwd, env, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`);
}

function install(): void {
  if (existsSync(PROGRAM)) return;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, 'package.json'), '{ "private": true }');
  const options = ['--save-exact', '--ignore-scripts', '--no-audit', '--no-fund'];
  say(`${FOLDER} has no Stryker yet: npm installs it, which needs the registry`);
  run('npm', ['install', ...options, `@stryker-mutator/core@${STRYKER}`], FOLDER);
}

function mutate(room: RoomName): Report {
  const fileName = join(FOLDER, `${room}.json`);
  const config = join(FOLDER, `${room}.config.json`);
  const settings = {
    mutate: ROOMS[room].code,
    testRunner: 'resident',
    plugins: [join(ROOT, HERE, 'stryker-runner.ts')],
    coverageAnalysis: 'perTest',
    ignoreStatic: true,
    mutator: { excludedMutations: ['StringLiteral'] },
    concurrency: 1,
    timeoutMS: TIMEOUT_MS,
    dryRunTimeoutMinutes: 15,
    tempDirName: join(FOLDER, room),
    ignorePatterns: ['/bench', '/deploy', '/dist', '/out'],
    // The copy keeps its tsconfig.json as it is.
    tsconfigFile: join(FOLDER, 'no-tsconfig.json'),
    reporters: ['json', 'progress-append-only'],
    jsonReporter: { fileName },
    allowConsoleColors: false,
    logLevel: 'info',
  };
  writeFileSync(config, JSON.stringify(settings));
  run(process.execPath, [PROGRAM, 'run', config], ROOT, { ...process.env, ...SHORT, [ROOM_VARIABLE]: room });
  return JSON.parse(readFileSync(fileName, 'utf8'));
}

/** The changes that no test found. */
function survivorsIn({ files }: Report): (Survivor & { readonly at: string })[] {
  return Object.entries(files).flatMap(([file, { source, mutants }]) =>
    mutants
      .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
      .map(({ replacement, location: { start } }) => {
        const line = source.split('\n')[start.line - 1]?.trim() ?? '';
        return { file, line, by: replacement, at: `${start.line}:${start.column}` };
      }),
  );
}

const keyOf = ({ file, line, by }: Survivor) => JSON.stringify([file, line, by]);

function listed(list: List): Survivor[] {
  return Object.values(list).flatMap((files) =>
    Object.entries(files).flatMap(([file, changes]) => changes.map(([line, by]) => ({ file, line, by }))),
  );
}

/** Lists survivors that are not listed, and drops those of the files that survive no longer. */
function write(list: List, files: readonly string[], survivors: readonly Survivor[]): void {
  const alive = new Map(survivors.map((survivor) => [keyOf(survivor), survivor]));
  const kept: [reason: string, Survivor][] = [];
  for (const [reason, changes] of Object.entries(list))
    for (const survivor of listed({ [reason]: changes }))
      if (alive.delete(keyOf(survivor)) || !files.includes(survivor.file)) kept.push([reason, survivor]);
  for (const survivor of alive.values()) kept.push([OPEN, survivor]);
  const byReason = Map.groupBy(kept, ([reason]) => reason);
  const entries = [...byReason].map(([reason, own]) => {
    const byFile = Map.groupBy(own, ([, { file }]) => file);
    const changes = [...byFile].map(([file, each]) => [file, each.map(([, { line, by }]) => [line, by])]);
    return [reason, Object.fromEntries(changes)];
  });
  writeFileSync(LIST, JSON.stringify(Object.fromEntries(entries)));
  run(process.execPath, ['node_modules/@biomejs/biome/bin/biome', 'check', '--write', LIST], ROOT);
}

/** Prints what became of the changes of a room. Returns what is wrong. */
function judge(room: RoomName, report: Report): string[] {
  const mutants = Object.values(report.files).flatMap((file) => file.mutants);
  const count = (...names: string[]) => mutants.filter(({ status }) => names.includes(status)).length;
  const killed = count('Killed', 'Timeout');
  const survivors = survivorsIn(report);
  if (given.list) write(readList(), Object.keys(report.files), survivors);
  const share = killed / (killed + survivors.length);
  const known = new Set(listed(readList()).map(keyOf));
  const unlisted = survivors.filter((survivor) => !known.has(keyOf(survivor)));
  const percent = `${(Math.floor(share * 1000) / 10).toFixed(1)} %`;
  say(
    `${room}: ${killed} of ${killed + survivors.length} killed, ${percent}; not listed: ${unlisted.length}`,
  );
  return [
    ...(share < KILLED_MIN ? [`${room}: ${percent} are too few`] : []),
    ...unlisted.map(({ file, at, line, by }) => `${file}:${at} survives: ${line}\n    by: ${by}`),
  ];
}

function readList(): List {
  return JSON.parse(readFileSync(LIST, 'utf8'));
}

function main(): void {
  const names = Object.keys(ROOMS) as RoomName[];
  const unknown = given.room?.filter((name) => !names.some((known) => known === name)) ?? [];
  if (unknown.length > 0) throw new Error(`no such room: ${unknown.join(', ')}`);
  install();
  const rooms = names.filter((name) => given.room?.includes(name) ?? true);
  const problems = rooms.flatMap((room) => judge(room, mutate(room)));
  for (const problem of problems) say(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}

main();
