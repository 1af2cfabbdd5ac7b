import { exitCodeOf, type Verification, verifyWarehouse } from '../../../jobs/verify.ts';
import { adviceFor, messageOf } from '../../core/errors.ts';
import { type Finding, SEVERITIES, type Severity } from '../../verify/index.ts';
import type { ScreenFrame } from '../output/output.ts';
import type { Action } from '../program/command.ts';
import { failureOf } from '../program/failure.ts';
import { counted } from '../screens/numbers.ts';
import { renderProblems, renderSteps, type Step, section } from '../screens/sections.ts';
import { renderListing, shrinking, type TableFrame } from '../screens/table.ts';
import { escapeForTerminal } from '../screens/text.ts';

const AGAINST_API = { min: 1, max: 100_000 };
const SEED = { min: 0, max: 1_000_000_000 };

export const verifyAction: Action = async ({ settings, job, flags, out }) => {
  const againstApi = flags.number('--against-api', AGAINST_API) ?? 0;
  const request = {
    againstApi,
    organization: flags.text('--organization'),
    seed: flags.number('--seed', SEED),
  };
  const result = await verifyWarehouse(settings, request, job);
  out.show(verificationDocument(result), (frame) => renderVerification(result, frame));
  return exitCodeOf(result);
};

/** How many findings and damages are shown; `--json` has more. */
const SHOWN_MAX = 20;

const REMEDIES: Readonly<Record<Severity | 'damage', readonly Step[]>> = {
  damage: [['restore the file from a backup, or export into a new file']],
  broken: [['daywalk backfill --from D --until D --force', 'pulls these days again and repairs their rows']],
  impossible: [
    [
      'daywalk backfill --from D --until D --force',
      'pulls these days again; values that are possible by now replace the stored ones',
    ],
  ],
  hole: [['daywalk run', 'pulls the missing days']],
  difference: [
    [
      'daywalk backfill --from D --until D --force',
      'stores what the service has restated, and records the change',
    ],
  ],
  unanswered: [['daywalk verify --against-api N --seed S', 'pulls the same units again']],
  oddity: [],
};

/** Builds the JSON document of a verification. */
function verificationDocument(result: Verification): unknown {
  if (result.organizations === undefined) return result;
  const organizations = result.organizations.map(({ error, ...compared }) => {
    const { message, hint } = failureOf(error);
    return { ...compared, error: compared.pulledAgain === null ? { message, hint } : null };
  });
  return { ...result, organizations };
}

/** Draws what a verification checked, its findings, and the remedies. */
function renderVerification(result: Verification, frame: ScreenFrame): string[] {
  const { style } = frame;
  const { counts, damages, pulledAgain } = result;
  const again =
    pulledAgain === null
      ? ''
      : `, ${counted(pulledAgain.units, 'unit')} pulled again (seed ${pulledAgain.seed})`;
  const wrong = [
    ...(damages.length > 0 ? ['the file is damaged'] : []),
    ...(counts.broken > 0 ? [counted(counts.broken, 'broken promise')] : []),
    ...(counts.impossible > 0 ? [`impossible values in ${counted(counts.impossible, 'place')}`] : []),
    ...(counts.hole > 0 ? [counted(counts.hole, 'hole')] : []),
    ...(counts.difference > 0 ? [`${counted(counts.difference, 'difference')} from the service`] : []),
    ...(counts.unanswered > 0
      ? [`${counted(counts.unanswered, 'unit')} that could not be pulled again`]
      : []),
  ];
  const odd = `  ${counted(counts.oddity, 'oddity', 'oddities')}: figures or people that contradict each other`;
  return [
    wrong.length > 0
      ? style.red(`verify: ${wrong.join(', ')}`)
      : style.green('verify: every unit matches the ledger'),
    `  ${counted(result.units, 'unit')}, ${counted(result.rows, 'row')}, ${counted(result.comparisons, 'comparison')} of figures${again}`,
    ...(counts.oddity > 0 ? [style.yellow(odd)] : []),
    ...damages.slice(0, SHOWN_MAX).map((damage) => `  ${escapeForTerminal(damage)}`),
    ...findingsOf(result, frame),
    ...failuresOf(result, frame),
    ...renderSteps('Next', remediesOf(result), frame),
  ];
}

function failuresOf({ organizations = [] }: Verification, frame: ScreenFrame): string[] {
  return organizations
    .filter(({ pulledAgain }) => pulledAgain === null)
    .flatMap(({ name, error }) => {
      const problem = { message: messageOf(error), ...adviceFor(name, error), units: 0 };
      return section(`${escapeForTerminal(name)} was not compared`, renderProblems([problem], frame), frame);
    });
}

function findingsOf({ findings }: Verification, frame: TableFrame): string[] {
  if (findings.length === 0) return [];
  const worst = findings.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
  const severalOrgs = new Set(findings.map(({ orgId }) => orgId)).size > 1;
  const columns = [
    'finding',
    ...(severalOrgs ? ['organization'] : []),
    'stream',
    'day',
    ...['what', 'expected', 'found'].map(shrinking),
  ];
  const row = ({ severity, orgId, stream, day, what, expected, found }: Finding) => [
    severity,
    ...(severalOrgs ? [orgId] : []),
    stream,
    day,
    what,
    expected,
    found,
  ];
  return ['', ...renderListing({ columns, items: worst, row, shownMax: SHOWN_MAX }, frame)];
}

function remediesOf({ counts, damages }: Verification): readonly Step[] {
  if (damages.length > 0) return REMEDIES.damage;
  return SEVERITIES.filter((severity) => counts[severity] > 0).flatMap((severity) => REMEDIES[severity]);
}
