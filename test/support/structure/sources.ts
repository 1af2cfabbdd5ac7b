import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';

/** The root of the repository. */
export const ROOT = join(import.meta.dirname, '../../..');

/** A file of the program. */
export interface Source {
  /** From the root, with slashes. */
  readonly path: string;
  readonly text: string;
}

/** One file that uses another: by an import, of values or of types, or by a path that starts a thread or a process. */
export interface Import {
  readonly from: string;
  readonly to: string;
  /** True if nothing of it is left at run time. */
  readonly isType: boolean;
  /** True if it names the path of a thread or a process that it starts. */
  readonly isStart: boolean;
  /** True if it is loaded when the code that names it runs, and not before. */
  readonly isLate: boolean;
  /** What it takes, by the names that the other file gives; empty if it takes the whole. */
  readonly names: readonly string[];
  /** Those of the names that are not taken as types only. */
  readonly values: readonly string[];
}

/** Every file of the program. */
export function readSources(): Source[] {
  return ['src', 'jobs', 'schema'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => slashed(join(folder, name)))
      .toSorted()
      .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') })),
  );
}

/** What a file imports, types included, and what it starts by a path in a string. */
export function importsOf({ path, text }: Source): Import[] {
  const code = withoutComments(text);
  const statements = code.matchAll(/^(?:import|export)\s+(type\s+)?([^'";]*?)\s*from\s+'(\.[^']+)';/gm);
  const late = code.matchAll(
    /(?:\{([^{}]*)\}\s*=\s*await\s+|(\btypeof\s+))?\bimport\('(\.[^']+)'\)(?:\)\s*\.(\w+))?/g,
  );
  const sideEffects = code.matchAll(/^import\s+'(\.[^']+)';/gm);
  const started = code.matchAll(/'((?:src|jobs|schema)\/[\w/-]+)'/g);
  const own = { from: path, isType: false, isStart: false, isLate: false, names: [], values: [] };
  return [
    ...Array.from(statements, ([, type, names = '', to = '']) => ({
      ...own,
      to: resolvePath(path, to),
      isType: type !== undefined || areTypes(names),
      names: importedNames(names),
      values: type === undefined ? importedNames(names.replace(/\btype \w+( as \w+)?/g, '')) : [],
    })),
    ...Array.from(late, ([, braces = '', type, to = '', member = '']) => {
      const names = member === '' ? importedNames(`{${braces.replaceAll(':', ' as ')}}`) : [member];
      return {
        ...own,
        to: resolvePath(path, to),
        isType: type !== undefined,
        isLate: true,
        names,
        values: names,
      };
    }),
    ...Array.from(sideEffects, ([, to = '']) => ({ ...own, to: resolvePath(path, to) })),
    ...Array.from(started, ([, to = '']) => ({ ...own, to: `${to}.ts`, isStart: true })).filter(
      ({ to }) => !to.startsWith('schema/migrations/'),
    ),
  ];
}

/** How many relative imports a file mentions, however they are written. */
export function countMentions({ text }: Source): number {
  return withoutComments(text).match(/\bfrom\s+'\.|\bimport\('\.|^import '\./gm)?.length ?? 0;
}

/** Code without its comments. */
export function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/[^\n]*/g, '$1');
}

/** Every circle of imports, as `a.ts -> b.ts -> a.ts`, once per file in it. A program may start itself. */
export function circlesIn(imports: readonly Import[]): string[] {
  const edges = new Map<string, string[]>();
  for (const { from, to, isStart } of imports)
    if (!isStart) edges.set(from, [...(edges.get(from) ?? []), to]);
  return [...edges.keys()].flatMap((path) => circleFrom(path, edges) ?? []).toSorted();
}

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

/** True for `{ type A, type B }`. */
function areTypes(names: string): boolean {
  const list = /^\{([^}]*)\}$/.exec(names.trim())?.[1]?.split(',') ?? [];
  const parts = list.map((name) => name.trim()).filter((name) => name !== '');
  return parts.length > 0 && parts.every((name) => name.startsWith('type '));
}

/** `A` and `b` for `{ type A, b as c }`. */
function importedNames(statement: string): string[] {
  const braces = /\{([^}]*)\}/.exec(statement)?.[1] ?? '';
  return braces
    .split(',')
    .map((name) => name.trim().replace(/^type /, ''))
    .filter((name) => name !== '')
    .map((name) => name.split(' as ')[0] ?? name);
}

/** The path of a file that another imports by a relative path. */
export function resolvePath(from: string, to: string): string {
  return slashed(normalize(join(dirname(from), to)));
}

function slashed(path: string): string {
  return path.split(sep).join('/');
}
