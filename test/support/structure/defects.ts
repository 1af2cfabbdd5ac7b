import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './sources.ts';

/** Where the planted defects are kept, one patch each. */
export const DEFECTS = 'test/world/defects';

/** A slip that somebody could make, and the test that finds it. */
export interface Defect {
  /** The name of its patch. */
  readonly name: string;
  /** What a user would see of it. */
  readonly sentence: string;
  /** The Vitest project of the test. */
  readonly project: string;
  /** The test file that fails under it. */
  readonly test: string;
  /** A unified diff against `src`, `jobs` and `schema`. */
  readonly diff: string;
}

/** One place that a patch changes: the lines before and after, with those around them. */
export interface Hunk {
  readonly file: string;
  readonly before: string;
  readonly after: string;
}

const FOUND_BY = /^Found by: (unit|behaviour) (test\/\S+\.test\.ts)$/m;

/** Reads a patch: a sentence, the line `Found by: PROJECT TEST`, and the diff. */
export function parseDefect(name: string, text: string): Defect {
  const start = text.search(/^diff --git /m);
  const header = start === -1 ? text : text.slice(0, start);
  const [line = '', project, test] = FOUND_BY.exec(header) ?? [];
  if (project === undefined || test === undefined)
    throw new Error(`${DEFECTS}/${name}.patch has no line "Found by: PROJECT TEST" before its diff`);
  const sentence = header.replace(line, '').trim();
  return { name, sentence, project, test, diff: start === -1 ? '' : text.slice(start) };
}

/** All planted defects, by name. */
export function readDefects(): Defect[] {
  const files = readdirSync(join(ROOT, DEFECTS)).filter((file) => file.endsWith('.patch'));
  return files
    .toSorted()
    .map((file) => parseDefect(file.slice(0, -6), readFileSync(join(ROOT, DEFECTS, file), 'utf8')));
}

/** The places that a diff changes. */
export function hunksOf({ name, diff }: Pick<Defect, 'name' | 'diff'>): Hunk[] {
  return diff
    .split(/^diff --git /m)
    .slice(1)
    .flatMap((part) => {
      const [, file] = /^\+\+\+ b\/(\S+)$/m.exec(part) ?? [];
      if (file === undefined) throw new Error(`${DEFECTS}/${name}.patch: a diff without a changed file`);
      const bodies = part.split(/^@@ .*\n/m).slice(1);
      return bodies.map((body) => ({ file, before: side(body, '-'), after: side(body, '+') }));
    });
}

function side(body: string, sign: '-' | '+'): string {
  const lines = body.split('\n').filter((line) => line.startsWith(' ') || line.startsWith(sign));
  return lines.map((line) => `${line.slice(1)}\n`).join('');
}

/** How often `part` stands in `text`, at the beginning of a line. */
export function countIn(text: string, part: string): number {
  const [whole, sought] = [`\n${text}`, `\n${part}`];
  let count = 0;
  for (let at = whole.indexOf(sought); at !== -1; at = whole.indexOf(sought, at + 1)) count += 1;
  return count;
}

/** Some of them; those that follow in the next turn, and the first ones again after the last. */
export function inTurn<Item>(items: readonly Item[], turn: number, count = 5): Item[] {
  const from = (turn * count) % Math.max(1, items.length);
  return [...items.slice(from), ...items.slice(0, from)].slice(0, count);
}
