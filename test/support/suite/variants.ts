import { describe, type TestOptions, test } from 'vitest';

/** The row of docs/reliability.md that the name of a case begins with, for example `G1:`. */
const ROW = /^[A-Z]\d+:/;

/**
 * `test.each` for cases that show one promise: `npm test` runs the first, or the first of each row of docs/reliability.md,
 * and `npm run test:rest` the others.
 */
export const testVariants = firstHere(test);
/** `describe.each` in the same way. */
export const describeVariants = firstHere(describe);

type Declare = (name: string, options: TestOptions, run: unknown) => void;

function firstHere<Each>(owner: { readonly each: Each }): Each {
  const { each } = owner as { readonly each: (cases: readonly unknown[]) => Declare };
  const variants =
    (cases: readonly unknown[]) =>
    (name: string, ...rest: [run: unknown] | [options: TestOptions, run: unknown]) => {
      const [options, run] = rest.length === 1 ? [{}, rest[0]] : rest;
      const rows = cases.map(rowOf);
      const isFirst = rows.map((row, index) => rows.indexOf(row) === index);
      const here = cases.filter((_, index) => isFirst[index]);
      const elsewhere = cases.filter((_, index) => !isFirst[index]);
      each.call(owner, here)(name, options, run);
      each.call(owner, elsewhere)(name, { ...options, tags: 'ci/variant' }, run);
    };
  return variants as Each;
}

function rowOf(one: unknown): string | undefined {
  const [name] = [one].flat();
  return typeof name === 'string' ? ROW.exec(name)?.[0] : undefined;
}
