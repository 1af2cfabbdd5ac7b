import type { Verification } from '../../../jobs/verify.ts';
import type { Severity } from '../../verify/finding.ts';
import { counted, formatNumber } from '../text/quantity.ts';
import { renderTable, type TableFrame } from '../text/table.ts';

/** Findings on the screen; `--json` has more of them. */
const SHOWN_MAX = 20;

const ORDER: readonly Severity[] = ['broken', 'difference', 'oddity'];

const REMEDY = [
  '',
  'Next',
  '  daywalk backfill --from D --until D --force',
  '      pulls those days again and repairs their rows',
];

/** What a verification went through, what it found, and what that means. */
export function renderVerification(result: Verification, frame: TableFrame): string[] {
  const { style } = frame;
  const { broken, difference, oddity } = result.counts;
  const again = result.pulledAgain === 0 ? '' : `, ${counted(result.pulledAgain, 'unit')} pulled again`;
  const wrong = `${counted(broken, 'broken promise')}, ${counted(difference, 'difference')} from the service`;
  const odd = `  ${counted(oddity, 'oddity', 'oddities')} in the figures of the service`;
  return [
    broken + difference > 0
      ? style.red(`verify: ${wrong}`)
      : style.green('verify: every unit holds what the ledger says'),
    `  ${counted(result.units, 'unit')}, ${counted(result.rows, 'row')}, ${counted(result.comparisons, 'comparison')} of figures${again}`,
    ...(oddity > 0 ? [style.yellow(odd)] : []),
    ...findingsOf(result, frame),
    ...(broken > 0 ? REMEDY : []),
  ];
}

function findingsOf({ findings }: Verification, frame: TableFrame): string[] {
  if (findings.length === 0) return [];
  const worst = findings.toSorted((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity));
  const rows = worst
    .slice(0, SHOWN_MAX)
    .map(({ severity, stream, day, what, expected, found }) => [
      severity,
      stream,
      day,
      what,
      expected,
      found,
    ]);
  const columns = [
    { header: 'finding' },
    { header: 'stream' },
    { header: 'day' },
    { header: 'what', shrinks: true },
    { header: 'expected', shrinks: true },
    { header: 'found', shrinks: true },
  ];
  const more = findings.length - rows.length;
  return [
    '',
    ...renderTable(columns, rows, frame),
    ...(more > 0 ? [`  and ${formatNumber(more)} more; --json lists them`] : []),
  ];
}
