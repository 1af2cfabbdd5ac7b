import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FLOORS, roomOf } from '../support/structure/floors.ts';
import {
  circlesIn,
  countMentions,
  type Import,
  importsOf,
  ROOT,
  readSources,
  withoutComments,
} from '../support/structure/sources.ts';

const LINES_MAX = 360;

/**
 * The order of the parts of the pipeline: each may import earlier parts. Stages have the same rank, and import only
 * types from each other.
 */
const PIPELINE_RANKS: readonly (readonly [part: RegExp, rank: number])[] = [
  [/^src\/pipeline\/(request-forecast|replay)\b/, 3],
  [/^src\/pipeline\/run\//, 2],
  [/^src\/pipeline\/(pull|validate|normalize|judge|held|commit)\b/, 1],
  [/^src\/pipeline\//, 0],
];

/** The jobs whose work is to serve the emulator. */
const EMULATOR_JOBS = ['jobs/demo.ts', 'jobs/emulate.ts'];

/** Entry points: files that run as a separate process, and may therefore use it. */
const PROGRAMS = ['src/cli/main.ts', 'src/hooks/messenger.ts', 'src/warehouse/sqlite/reader-entry.ts'];
/** The room of the program that the process belongs to. */
const PROCESS_ROOM = 'src/cli/process/';

/** The files that hold a socket, a child process or a terminal, whose time limits only a real timer can keep. */
const TIMED = [
  'src/http/api-request.ts',
  'src/emulator/server.ts',
  'src/hooks/receive.ts',
  'src/client-hooks/fire.ts',
  'src/cli/output/progress.ts',
  'src/warehouse/sqlite/reader-process.ts',
];

const sources = readSources();
const imports = sources.flatMap(importsOf);

function rankOf(path: string): number {
  return PIPELINE_RANKS.find(([part]) => part.test(path))?.[1] ?? 0;
}

/** The stage of a file of the pipeline: `pull`, `validate`, `normalize`, `judge`, `held` or `commit`. */
function stageOf(path: string): string {
  return /^src\/pipeline\/([^/.]+)/.exec(path)?.[1] ?? '';
}

function shown(list: readonly Import[]): string[] {
  return list.map(({ from, to, isType }) => `${from} imports ${isType ? 'types of ' : ''}${to}`);
}

function filesMatching(pattern: RegExp): string[] {
  return sources.filter(({ text }) => pattern.test(withoutComments(text))).map(({ path }) => path);
}

describe('the source files', () => {
  it('are all read, and every relative import leads to a file', () => {
    const known = new Set(sources.map(({ path }) => path));
    const mentions = sources.reduce((sum, source) => sum + countMentions(source), 0);
    expect(imports.length).toBeGreaterThanOrEqual(mentions);
    expect(mentions).toBeGreaterThan(1_000);
    expect(shown(imports.filter(({ to }) => !known.has(to) && !to.endsWith('.json')))).toEqual([]);
  });

  it('include the scripts that run in a separate thread or process', () => {
    const started = [
      'src/warehouse/sqlite/reader-entry.ts',
      'src/warehouse/sqlite/writer-entry.ts',
      'src/hooks/messenger.ts',
      'src/cli/main.ts',
    ];
    expect(imports.map(({ to }) => to)).toEqual(expect.arrayContaining(started));
  });

  it('below the settings name no flag and no variable, because the command line turns reason codes into remedies', () => {
    const knows = (path: string) => FLOORS[roomOf(path)] >= FLOORS['src/settings/'];
    const namesIn = (text: string) =>
      text.match(/--[a-z][a-z-]+|\b(DAYWALK|NODE|HTTPS?|NO)_[A-Z_]+\b/g) ?? [];
    const names = new Set(sources.filter(({ path }) => knows(path)).flatMap(({ text }) => namesIn(text)));
    expect(names).toContain('--max-requests');
    expect(names).toContain('DAYWALK_API_KEY');
    // The descriptions of the schema are documentation of the whole product, and pages and targets tell people what to do next.
    const isForPeople = (path: string) =>
      /^(schema\/|src\/look\/|src\/bi\/(\w+\/target|datasette|sql)\.ts$)/.test(path);
    const found = sources
      .filter(({ path }) => !knows(path) && !isForPeople(path))
      .flatMap(({ path, text }) => namesIn(withoutComments(text)).map((name) => ({ path, name })));
    expect(found.filter(({ name }) => names.has(name))).toEqual([]);
  });

  it(`have at most ${LINES_MAX} lines`, () => {
    const long = sources.filter(({ text }) => text.trimEnd().split('\n').length > LINES_MAX);
    expect(long.map(({ path }) => path)).toEqual([]);
  });

  it('have descriptive names', () => {
    const vague = /(^|\/|-)(utils?|helpers?|common|misc|shared|stuff)(\/|-|\.ts$)/;
    expect(sources.filter(({ path }) => vague.test(path)).map(({ path }) => path)).toEqual([]);
  });

  it('that CONTRIBUTING.md names all exist', () => {
    const text = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
    const paths = Array.from(
      text.matchAll(/`((?:src|jobs|schema|test|scripts|bench|docs)\/[\w./-]*)`/g),
      ([, path = '']) => path,
    );
    expect(paths.length).toBeGreaterThan(12);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

describe('imports, those of types included', () => {
  it('go to a lower floor or stay in their room', () => {
    const upward = imports.filter(({ from, to }) => {
      const [own, other] = [roomOf(from), roomOf(to)];
      return own !== other && FLOORS[other] >= FLOORS[own];
    });
    expect(shown(upward)).toEqual([]);
  });

  it('form no cycle', () => {
    expect(circlesIn(imports)).toEqual([]);
  });

  it('within the pipeline go from the forecast to the run to the stages to what all stages use', () => {
    const own = imports.filter(
      ({ from, to }) =>
        [from, to].every((path) => roomOf(path) === 'src/pipeline/') && from !== 'src/pipeline/index.ts',
    );
    expect(shown(own.filter(({ from, to }) => rankOf(to) > rankOf(from)))).toEqual([]);
    const foreign = own.filter(
      ({ from, to, isType }) =>
        rankOf(from) === 1 && rankOf(to) === 1 && !isType && stageOf(from) !== stageOf(to),
    );
    expect(shown(foreign)).toEqual([]);
  });

  it('of the emulator come from its jobs only', () => {
    const users = imports.filter(
      ({ from, to }) => roomOf(to) === 'src/emulator/' && roomOf(from) !== 'src/emulator/',
    );
    expect(shown(users.filter(({ from }) => !EMULATOR_JOBS.includes(from)))).toEqual([]);
  });

  it('of the API contract by the emulator are only types and paths, so that the two share no bug', () => {
    const users = imports.filter(
      ({ from, to }) =>
        roomOf(from) === 'src/emulator/' && ['src/api/', 'src/http/', 'src/contract/'].includes(roomOf(to)),
    );
    expect(users.length).toBeGreaterThan(0);
    const paths = sources.find(({ path }) => path === 'src/contract/paths.ts')?.text ?? '';
    const isPath = (name: string) => paths.includes(`export const ${name} = `);
    expect(
      shown(users.filter(({ to, values }) => to !== 'src/contract/index.ts' || !values.every(isPath))),
    ).toEqual([]);
  });
});

describe('the process', () => {
  it('is used only by entry points: arguments, environment, streams, signals, exit', () => {
    const touching =
      /\bprocess\s*\.\s*(argv|env|stdin|stdout|stderr|exit|exitCode|kill|on|once|abort|chdir|cwd)\b/;
    const foreign = filesMatching(touching).filter(
      (path) =>
        !PROGRAMS.includes(path) && !path.startsWith(PROCESS_ROOM) && path !== 'src/client-hooks/fire.ts',
    );
    expect(foreign).toEqual([]);
  });

  it('gives time, timers and random numbers only to the clock and to a few files with a socket or a child process', () => {
    const touching =
      /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\.now\b|\bset(Timeout|Interval)\b|from 'node:timers/;
    const using = filesMatching(touching).filter(
      (path) => path !== 'src/core/clock.ts' && !PROGRAMS.includes(path) && !path.startsWith(PROCESS_ROOM),
    );
    expect(using).toEqual(TIMED.toSorted());
  });

  it('has no console output: the command line writes results and logs', () => {
    expect(filesMatching(/\bconsole\.\w+\(/)).toEqual([]);
  });
});
