import { checkSetup } from '../../../jobs/check.ts';
import type { Check, CheckState } from '../../../jobs/check-access.ts';
import {
  type AcceptRequest,
  acceptQuarantine,
  listQuarantine,
  type QuarantineList,
} from '../../../jobs/status.ts';
import { exitCodeOf, type Verification, verifyWarehouse } from '../../../jobs/verify.ts';
import { parseDay } from '../../core/day.ts';
import { adviceAbout, adviceOf, messageOf, UsageError } from '../../core/errors.ts';
import { EXIT, type ExitCode, worstExit } from '../../core/exit-code.ts';
import { STREAMS } from '../../core/stream.ts';
import { checkService } from '../../serve/index.ts';
import { oneOf } from '../../settings/index.ts';
import { type Finding, SEVERITIES, type Severity } from '../../verify/index.ts';
import type { ScreenFrame } from '../output/output.ts';
import type { Action, Flags } from '../program/command.ts';
import { failureOf } from '../program/failure.ts';
import { hintOf } from '../remedies.ts';
import { counted } from '../screens/numbers.ts';
import { renderProblems, renderSteps, type Step, section } from '../screens/sections.ts';
import { renderListing, renderTable, shrinking, type TableFrame } from '../screens/table.ts';
import { escapeForTerminal, padTo, widthOf, wrapText } from '../screens/text.ts';

export const checkAction: Action = async ({ reading, settings, flags, job, out }) => {
  const isOffline = flags.isOn('--offline');
  const { checks: found, warehouseId } = await checkSetup(reading, { isOffline }, job);
  const checks = [...found, ...(await checkService(settings, warehouseId, job))];
  const exitCode = worstExit(checks.flatMap((check) => check.exitCode ?? []));
  out.show({ checks: checks.map(documentOf), exit_code: exitCode }, (frame) =>
    renderChecks(checks, exitCode, frame),
  );
  return exitCode;
};

function documentOf({ name, organization, state, text, advice, exitCode }: Check) {
  const remedy = advice && hintOf(advice);
  return {
    name,
    ...(organization !== undefined && { organization }),
    state,
    text,
    ...(remedy !== undefined && { remedy }),
    ...(exitCode !== undefined && { exit_code: exitCode }),
  };
}

/** How each state is shown. */
const SIGNS: Readonly<
  Record<CheckState, { readonly sign: string; readonly colour: 'green' | 'yellow' | 'red' | 'dim' }>
> = {
  ok: { sign: 'ok', colour: 'green' },
  warning: { sign: 'warning', colour: 'yellow' },
  failed: { sign: 'failed', colour: 'red' },
  skipped: { sign: 'skipped', colour: 'dim' },
};
const SIGN_WIDTH = 7;
/** A limit, because the message of an error can contain a whole web page. */
const LINES_MAX = 4;

/** Draws a line for each check, with its remedy below it, and what follows from all of them. */
function renderChecks(checks: readonly Check[], exitCode: ExitCode, frame: ScreenFrame): string[] {
  const nameWidth = Math.max(...checks.map((check) => widthOf(nameOf(check))));
  return [
    ...checks.flatMap((check) => linesOf(check, nameWidth, frame)),
    '',
    conclusion(checks, exitCode, frame),
  ];
}

function nameOf({ name, organization }: Check): string {
  return escapeForTerminal(organization === undefined ? name : `${name} of ${organization}`);
}

function linesOf(check: Check, nameWidth: number, { style, width, redact }: ScreenFrame): string[] {
  const { sign, colour } = SIGNS[check.state];
  const lead = `${padTo(sign, SIGN_WIDTH)}  ${padTo(redact(nameOf(check)), nameWidth)}  `;
  const clean = (text: string) => escapeForTerminal(redact(text));
  const [first = '', ...others] = wrapText(clean(check.text), { width, lead, linesMax: LINES_MAX });
  const remedy = check.advice && hintOf(check.advice);
  const below = `${' '.repeat(widthOf(lead))}remedy: `;
  const remedies =
    remedy === undefined ? [] : wrapText(clean(remedy), { width, lead: below, linesMax: LINES_MAX });
  return [
    style[colour](first.slice(0, sign.length)) + first.slice(sign.length),
    ...others,
    ...remedies.map(style.dim),
  ];
}

function conclusion(checks: readonly Check[], exitCode: ExitCode, { style }: ScreenFrame): string {
  const of = (state: CheckState) => checks.filter((check) => check.state === state).length;
  const warnings = of('warning') === 0 ? '' : `, ${counted(of('warning'), 'warning')}`;
  const left = of('skipped') === 0 ? '' : `, ${of('skipped')} not looked at`;
  if (exitCode === EXIT.ok) return style.green(`check: a run can begin${warnings}${left}`);
  const failed = counted(of('failed'), 'failure');
  return style.red(`check: ${failed}${warnings}${left}; exit code ${exitCode}, as of a run`);
}

const COLUMNS = [
  'organization',
  'stream',
  'date',
  'first seen',
  'accepted',
  shrinking('path'),
  shrinking('reason'),
];

export const listAction: Action = async ({ settings, job, out }) => {
  const list = await listQuarantine(settings, job);
  out.show(list, (frame) => renderList(list, frame));
  return EXIT.ok;
};

function renderList({ records, more }: QuarantineList, frame: ScreenFrame): string[] {
  if (records.length === 0) return ['quarantine is empty'];
  const dayOf = (instant: string | null) => instant?.slice(0, 'YYYY-MM-DD'.length) ?? null;
  const rows = records.map(({ orgId, stream, date, firstSeenAt, acceptedAt, path, reason }) => [
    orgId,
    stream,
    date === '' ? null : date,
    dayOf(firstSeenAt),
    dayOf(acceptedAt),
    frame.redact(path),
    frame.redact(reason),
  ]);
  const rest = more === 0 ? [] : [`and ${counted(more, 'more record')}`];
  // The first column is the organization.
  const from = new Set(records.map(({ orgId }) => orgId)).size > 1 ? 0 : 1;
  const shown = rows.map((row) => row.slice(from));
  return [...renderTable(COLUMNS.slice(from), shown, frame), ...rest];
}

export const acceptAction: Action = async ({ settings, job, flags, out }) => {
  const accepted = await acceptQuarantine(settings, requestOf(flags), job);
  out.show({ accepted }, () => [`${counted(accepted, 'record')} accepted`]);
  return EXIT.ok;
};

function requestOf(flags: Flags): AcceptRequest {
  const stream = flags.parse('--stream', oneOf(STREAMS));
  const day = flags.parse('--date', parseDay);
  const isNarrow = stream !== undefined || day !== undefined;
  if (isNarrow === flags.isOn('--all')) {
    const problem = isNarrow ? '--all cannot be combined with --stream or --date' : 'no records are chosen';
    throw new UsageError(problem, {
      hint: 'give --stream, --date or both, or --all; daywalk quarantine list shows the records',
    });
  }
  return { stream, day, organization: flags.text('--organization') };
}

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
      const problem = { message: messageOf(error), ...adviceAbout(name, adviceOf(error)), units: 0 };
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
