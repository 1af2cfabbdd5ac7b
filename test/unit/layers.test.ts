import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const LINES_MAX = 300;

/** Folders of the program, and below each what it may import. Imports go down only. */
const LAYERS = {
  core: [],
  judge: ['core'],
  privacy: ['core'],
  schema: ['core'],
  api: ['core', 'schema'],
  warehouse: ['core', 'schema', 'judge'],
  stages: ['core', 'schema', 'api', 'judge', 'privacy', 'warehouse'],
  run: ['core', 'schema', 'api', 'judge', 'privacy', 'warehouse', 'stages'],
  verify: ['core', 'schema', 'judge', 'warehouse'],
  settings: ['core', 'api', 'privacy'],
  emulator: ['core', 'api'],
  copy: ['core', 'schema', 'warehouse'],
  hooks: ['core', 'warehouse', 'settings'],
  publish: ['core', 'schema', 'warehouse'],
  jobs: [
    'core',
    'schema',
    'api',
    'judge',
    'privacy',
    'warehouse',
    'stages',
    'run',
    'verify',
    'settings',
    'emulator',
    'hooks',
    'copy',
    'publish',
  ],
  cli: [
    'core',
    'schema',
    'api',
    'judge',
    'privacy',
    'warehouse',
    'stages',
    'run',
    'verify',
    'settings',
    'hooks',
    'copy',
    'publish',
    'jobs',
  ],
  library: ['core', 'api', 'hooks'],
} as const satisfies Record<string, readonly string[]>;

type Layer = keyof typeof LAYERS;

/** Path prefixes, the more specific first. */
const FOLDERS: readonly (readonly [prefix: string, layer: Layer])[] = [
  ['src/core/', 'core'],
  ['src/judge/', 'judge'],
  ['src/privacy/', 'privacy'],
  ['schema/', 'schema'],
  ['src/api/', 'api'],
  ['src/warehouse/', 'warehouse'],
  ['src/pipeline/run/', 'run'],
  ['src/pipeline/forecast/', 'run'],
  ['src/pipeline/', 'stages'],
  ['src/verify/', 'verify'],
  ['src/settings/', 'settings'],
  ['src/emulator/', 'emulator'],
  ['src/copy/', 'copy'],
  ['src/hooks/', 'hooks'],
  ['src/publish/', 'publish'],
  ['jobs/', 'jobs'],
  ['src/cli/', 'cli'],
  ['src/index.ts', 'library'],
];

/** The jobs whose work is to serve the emulator. */
const EMULATOR_JOBS = ['jobs/demo.ts', 'jobs/demo-warehouse.ts', 'jobs/emulate.ts'];

/** What the stages of the pipeline share: what they work on, what they find, whom they protect, what they tell. */
const SHARED_BY_STAGES = ['batch', 'findings', 'events', 'too-deep'];

/** Where the program meets the process that it runs in. */
const ENTRY_POINTS = [
  'src/cli/main.ts',
  'src/cli/process/start.ts',
  // Loaded by main.ts before everything else.
  'src/cli/process/early-signals.ts',
  'src/cli/process/receive-hook.ts',
  // A process of its own, which delivers a notification after the receiver has ended.
  'src/hooks/notify/messenger.ts',
  // Not an entry point, but what ends the process group of a hook that takes too long.
  'src/hooks/fire/run-command.ts',
];

/** Files that may use the machine's time, timers or chance; all others have them injected. */
const CLOCKS: Readonly<Record<string, string>> = {
  'src/core/clock.ts': 'is the clock',
  'src/api/http/deadline.ts': 'limits what a socket does, which only a real timer can',
  'src/api/client/options.ts': 'hands the chance to the transport',
  'src/settings/open-transport.ts': 'hands the chance to the transport',
  'jobs/verify.ts': 'chooses the units that are pulled again',
  'src/emulator/http/deliver.ts': 'delays what a socket sends',
  'src/cli/progress/progress.ts': 'redraws a line on a terminal',
  'src/cli/process/stop-signals.ts': 'ends a process that does not end by itself',
  'src/cli/process/start.ts': 'ends a process that does not end by itself',
  'src/cli/process/receive-hook.ts': 'is the entry point of the receiver',
  'src/hooks/receive/input.ts': 'limits how long an input that does not end is read',
  'src/hooks/fire/run-command.ts': 'limits how long a hook may take',
  'src/hooks/notify/messenger.ts': 'limits how long a notification may take',
};

interface Import {
  readonly from: string;
  readonly to: string;
  /** True when nothing of it is left at run time. */
  readonly isType: boolean;
}

interface Source {
  readonly path: string;
  readonly text: string;
}

const sources = ['src', 'jobs', 'schema'].flatMap((folder) => filesIn(folder));
const imports = sources.flatMap(importsOf);

function filesIn(folder: string): Source[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name).split(sep).join('/'))
    .toSorted()
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

function importsOf({ path, text }: Source): Import[] {
  const code = withoutComments(text);
  const statements = code.matchAll(/^(?:import|export)\s+(type\s+)?([^'";]*?)\s*from\s+'(\.[^']+)';/gm);
  const dynamic = code.matchAll(/\bimport\('(\.[^']+)'\)/g);
  const sideEffects = code.matchAll(/^import\s+'(\.[^']+)';/gm);
  return [
    ...Array.from(statements, ([, type, names = '', to = '']) => ({
      from: path,
      to: resolved(path, to),
      isType: type !== undefined || areTypes(names),
    })),
    ...Array.from([...dynamic, ...sideEffects], ([, to = '']) => ({
      from: path,
      to: resolved(path, to),
      isType: false,
    })),
  ];
}

/** True for `{ type A, type B }`. */
function areTypes(names: string): boolean {
  const list = /^\{([^}]*)\}$/.exec(names.trim())?.[1];
  const parts =
    list
      ?.split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '') ?? [];
  return parts.length > 0 && parts.every((name) => name.startsWith('type '));
}

function resolved(from: string, to: string): string {
  return normalize(join(dirname(from), to))
    .split(sep)
    .join('/');
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/[^\n]*/g, '$1');
}

function layerOf(path: string): Layer {
  const layer = FOLDERS.find(([prefix]) => path.startsWith(prefix))?.[1];
  if (layer === undefined)
    throw new Error(`${path} stands in no layer; give its folder one in test/unit/layers.test.ts`);
  return layer;
}

/** The stage of a file of the pipeline: `plan`, `pull`, `validate`, `normalize`, `commit`, or a shared module. */
function stageOf(path: string): string {
  return /^src\/pipeline\/([^/.]+)/.exec(path)?.[1] ?? '';
}

function told({ from, to, isType }: Import): string {
  return `${from} imports ${isType ? 'types of ' : ''}${to}`;
}

describe('the sources', () => {
  it('are read: every relative import is seen, and leads to a file', () => {
    const known = new Set(sources.map(({ path }) => path));
    const mentions = sources.flatMap(
      ({ text }) => withoutComments(text).match(/\bfrom\s+'\.|\bimport\('\.|^import '\./gm) ?? [],
    );
    expect(imports).toHaveLength(mentions.length);
    expect(imports.length).toBeGreaterThan(300);
    expect(imports.filter(({ to }) => !known.has(to) && !to.endsWith('.json')).map(told)).toEqual([]);
  });

  it(`have no file of more than ${LINES_MAX} lines`, () => {
    const long = sources.filter(({ text }) => text.trimEnd().split('\n').length > LINES_MAX);
    expect(long.map(({ path }) => path)).toEqual([]);
  });

  it('have no file whose name says nothing', () => {
    const vague = /(^|\/|-)(utils?|helpers?|common|misc|shared|stuff)(\/|-|\.ts$)/;
    expect(sources.filter(({ path }) => vague.test(path)).map(({ path }) => path)).toEqual([]);
  });
});

describe('imports', () => {
  it('go down only', () => {
    const upward = imports.filter(({ from, to }) => {
      const [own, other] = [layerOf(from), layerOf(to)];
      return own !== other && !(LAYERS[own] as readonly Layer[]).includes(other);
    });
    expect(upward.map(told)).toEqual([]);
  });

  it('go nowhere in a circle', () => {
    const edges = new Map<string, string[]>();
    for (const { from, to, isType } of imports)
      if (!isType) edges.set(from, [...(edges.get(from) ?? []), to]);
    expect(sources.flatMap(({ path }) => circleFrom(path, edges) ?? []).toSorted()).toEqual([]);
  });

  it('of the emulator come from entry points only', () => {
    const users = imports.filter(
      ({ from, to }) => layerOf(to) === 'emulator' && layerOf(from) !== 'emulator',
    );
    expect(users.filter(({ from }) => !EMULATOR_JOBS.includes(from)).map(told)).toEqual([]);
  });

  it('of the jobs come from jobs and the command line only', () => {
    const users = imports
      .filter(({ to }) => layerOf(to) === 'jobs')
      .filter(({ from }) => !['jobs', 'cli'].includes(layerOf(from)));
    expect(users.map(told)).toEqual([]);
  });

  it('of one stage by another are types only', () => {
    const stages = imports.filter(({ from, to }) => layerOf(from) === 'stages' && layerOf(to) === 'stages');
    const foreign = stages.filter(
      ({ from, to, isType }) =>
        !isType && stageOf(from) !== stageOf(to) && !SHARED_BY_STAGES.includes(stageOf(to)),
    );
    expect(foreign.map(told)).toEqual([]);
  });

  it('of a database come from the warehouse only: the pipeline knows its port', () => {
    const users = imports.filter(
      ({ from, to }) => layerOf(to) === 'warehouse' && layerOf(from) !== 'warehouse',
    );
    const allowed = (path: Import) =>
      path.to === 'src/warehouse/port.ts' ||
      (layerOf(path.from) === 'jobs' && path.to === 'src/warehouse/open.ts');
    expect(users.filter((path) => !allowed(path)).map(told)).toEqual([]);
  });

  it('of the contract by the emulator are types and paths: a bug must not agree with itself', () => {
    const users = imports.filter(({ from, to }) => layerOf(from) === 'emulator' && layerOf(to) === 'api');
    expect(users.length).toBeGreaterThan(0);
    expect(users.filter(({ to, isType }) => !isType && to !== 'src/api/paths.ts').map(told)).toEqual([]);
  });

  it('of settings come from jobs, the command line and the receiver only', () => {
    const users = imports.filter(({ to }) => layerOf(to) === 'settings');
    expect(
      users.filter(({ from }) => !['settings', 'hooks', 'jobs', 'cli'].includes(layerOf(from))).map(told),
    ).toEqual([]);
  });
});

/** The circle that leads from a file back to itself. */
function circleFrom(start: string, edges: ReadonlyMap<string, readonly string[]>): string | undefined {
  const before = new Map<string, string>();
  const left = [start];
  for (let here = left.pop(); here !== undefined; here = left.pop()) {
    for (const next of edges.get(here) ?? []) {
      if (next === start) return trailTo(here, before, start);
      if (before.has(next)) continue;
      before.set(next, here);
      left.push(next);
    }
  }
  return undefined;
}

function trailTo(end: string, before: ReadonlyMap<string, string>, start: string): string {
  const trail = [end];
  while (trail[0] !== start) trail.unshift(before.get(trail[0] ?? '') ?? start);
  return [...trail, start].join(' -> ');
}

describe('the process', () => {
  it('is met by entry points only: arguments, environment, streams, exit, signals', () => {
    const touching =
      /\bprocess\s*\.\s*(argv|env|stdin|stdout|stderr|exit|exitCode|kill|on|once|abort|chdir|cwd)\b/;
    expect(offenders(touching).filter((path) => !ENTRY_POINTS.includes(path))).toEqual([]);
  });

  it('gives its time, timers and chance to few: all others have them injected', () => {
    const touching =
      /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\.now\b|\bset(Timeout|Interval)\b|from 'node:timers/;
    expect(offenders(touching).filter((path) => CLOCKS[path] === undefined)).toEqual([]);
  });

  it('has no exception that nobody needs', () => {
    const touching =
      /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\.now\b|\bset(Timeout|Interval)\b/;
    expect(Object.keys(CLOCKS).filter((path) => !offenders(touching).includes(path))).toEqual([]);
  });

  it('is told nothing by console: results and logs go where the command line says', () => {
    expect(offenders(/\bconsole\.\w+\(/)).toEqual([]);
  });
});

function offenders(pattern: RegExp): string[] {
  return sources.filter(({ text }) => pattern.test(withoutComments(text))).map(({ path }) => path);
}
