import type { Section } from './measure.ts';

/** A section as a Markdown table: ratio to the fastest of each column, milliseconds, rows per second of the first. */
export function formatted({ title, columns, rows, lines }: Section): string {
  const best = columns.map((_, at) => Math.min(...lines.map(({ ms }) => ms[at] ?? Number.POSITIVE_INFINITY)));
  const heads = ['way', ...columns, ...(rows === null ? [] : ['rows/s'])];
  const body = lines.map(({ name, ms }) => {
    const cells = columns.map((_, at) => cell(ms[at] ?? null, best[at]));
    const speed =
      rows === null ? [] : [Math.round((rows * 1_000) / (ms[0] ?? Number.NaN)).toLocaleString('en')];
    return [name, ...cells, ...speed];
  });
  const table = [heads, heads.map(() => '---'), ...body].map((cells) => `| ${cells.join(' | ')} |`);
  return `\n## ${title}\n\n${table.join('\n')}`;
}

function cell(ms: number | null, best: number | undefined): string {
  if (ms === null || best === undefined) return '';
  return `${(ms / best).toFixed(2)} (${ms.toFixed(ms < 10 ? 2 : 0)} ms)`;
}
