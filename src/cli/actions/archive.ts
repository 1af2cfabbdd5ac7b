import { keepsLess, showArchive, thinArchive, verifyArchives } from '../../../jobs/archive.ts';
import { applyRetention, goneLakes } from '../../../jobs/retention.ts';
import type { ArchiveCheck, ShownAnswers, ShownUnit } from '../../archive/index.ts';
import { parseDay } from '../../core/day.ts';
import { UsageError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-code.ts';
import { STREAMS } from '../../core/stream.ts';
import { oneOf, SETTINGS } from '../../settings/index.ts';
import { audit } from '../output/log.ts';
import type { ScreenFrame } from '../output/output.ts';
import type { Action, Flags } from '../program/command.ts';
import { counted, formatBytes } from '../screens/numbers.ts';
import { renderTable, right, shrinking } from '../screens/table.ts';

const FINDING_COLUMNS = ['found', shrinking('what'), shrinking('units'), shrinking('reason')];

export const verifyAction: Action = async ({ settings, job, out }) => {
  const check = joinChecks(await verifyArchives(settings, job));
  const exitCode = check.findings.length === 0 ? EXIT.ok : EXIT.quarantine;
  const { unusedBytes, ...counts } = check;
  out.show({ exit_code: exitCode, ...counts, unused_bytes: unusedBytes }, (frame) =>
    renderCheck(check, frame),
  );
  return exitCode;
};

type Checked = Omit<ArchiveCheck, 'archive'>;

/** Several archives as if they were one; what is wrong names its file. */
function joinChecks(checks: readonly ArchiveCheck[]): Checked {
  const sum = (name: 'answers' | 'objects' | 'undecided' | 'unusedBytes') =>
    checks.reduce((total, check) => total + check[name], 0);
  return {
    findings: checks.flatMap(({ findings }) => findings),
    ...{ answers: sum('answers'), objects: sum('objects') },
    ...{ undecided: sum('undecided'), unusedBytes: sum('unusedBytes') },
  };
}

function renderCheck(check: Checked, frame: ScreenFrame): string[] {
  const { findings, answers, objects, undecided, unusedBytes } = check;
  const notes = [
    `${counted(answers, 'answer')}, ${counted(objects, 'object')}`,
    ...(undecided > 0
      ? [`${counted(undecided, 'answer')} undecided after a kill; the next run decides`]
      : []),
    ...(unusedBytes > 0
      ? [`${formatBytes(unusedBytes)} not needed; daywalk archive prune removes them`]
      : []),
  ].map((note) => `  ${note}`);
  if (findings.length === 0)
    return [frame.style.green('archive: every answer and every object is sound'), ...notes];
  const rows = findings.map(({ kind, what, units, reason }) => [
    kind.replace('-', ' '),
    what,
    units === '' ? null : units,
    frame.redact(reason),
  ]);
  return [
    frame.style.red(`archive: ${counted(findings.length, 'finding')}`),
    ...notes,
    '',
    ...renderTable(FINDING_COLUMNS, rows, frame),
  ];
}

const ANSWER_COLUMNS = [
  'came at',
  'verdict',
  'outcome',
  right('rows'),
  'emails',
  shrinking('rows sha-256'),
  'run',
];

export const showAction: Action = async ({ settings, flags, out }) => {
  const unit = unitOf(flags);
  const shown = await showArchive(settings, { ...unit, withRows: flags.isOn('--rows') });
  const { rows } = shown;
  const answers = shown.answers.map(answerJson);
  out.show(rows === null ? answers : { answers, rows }, (frame) =>
    rows === null ? renderAnswers(shown.answers, unit, frame) : [...rows],
  );
  return EXIT.ok;
};

function unitOf(flags: Flags): ShownUnit {
  const stream = flags.parse('--stream', oneOf(STREAMS)) ?? 'users';
  const day = flags.parse('--date', parseDay) ?? null;
  if ((day === null) !== (stream === 'readiness')) {
    const problem = day === null ? `${stream} needs a day` : 'readiness has no days';
    throw new UsageError(problem, { hint: day === null ? 'give it with --date' : 'leave --date out' });
  }
  return { stream, day };
}

type ShownAnswer = ShownAnswers['answers'][number];

function answerJson({ orgId, runId, ...answer }: ShownAnswer) {
  return { org_id: orgId, run_id: runId, ...answer };
}

function renderAnswers(answers: readonly ShownAnswer[], unit: ShownUnit, frame: ScreenFrame): string[] {
  if (answers.length === 0) {
    const name = unit.day === null ? unit.stream : `${unit.stream} ${unit.day}`;
    return [`the archive has no answer about ${name}`];
  }
  const rows = answers.map(({ at, verdict, outcome, rows, emails, object, runId }) => [
    ...[at, verdict, outcome, rows, emails, object, runId],
  ]);
  return renderTable(ANSWER_COLUMNS, rows, frame);
}

export const pruneAction: Action = async ({ settings, job, flags, out }) => {
  const olderThan = flags.like('--older-than', SETTINGS.retainArchive);
  if (olderThan === undefined) throw new UsageError('no age is given', { hint: 'pass --older-than 400d' });
  const isDryRun = flags.isOn('--dry-run');
  const pruned = await thinArchive(settings, { olderThan, isDryRun }, job);
  const { before, answersRemoved, answersKept, objectsRemoved, objectsKept, bytesRemoved } = pruned;
  const json = {
    dry_run: isDryRun,
    before,
    ...{ answers_removed: answersRemoved, answers_kept: answersKept },
    ...{ objects_removed: objectsRemoved, objects_kept: objectsKept },
    bytes_removed: bytesRemoved,
  };
  const verb = isDryRun ? 'would be removed' : 'removed';
  out.show(json, () => [
    `${counted(answersRemoved, 'answer')} and ${counted(objectsRemoved, 'object')} (${formatBytes(bytesRemoved)}) ${verb}`,
    `${counted(answersKept, 'answer')} and ${counted(objectsKept, 'object')} kept; replays as of ${before} and later are exact`,
  ]);
  return EXIT.ok;
};

const RETENTION = [
  SETTINGS.retainUsers,
  SETTINGS.retainEvents,
  SETTINGS.retainQuarantine,
  SETTINGS.retainArchive,
];

export const retentionAction: Action = async ({ settings, job, flags, out, log }) => {
  const isDryRun = flags.isOn('--dry-run');
  const compact = flags.isOn('--compact');
  if (!keepsLess(settings)) {
    throw new UsageError('everything is kept for ever', {
      hint: `set ${RETENTION.map(({ env }) => env).join(' or ')}, for example to 400d or 13mo`,
    });
  }
  const { users, events, quarantine, archive, lakes, isCompacted } = await applyRetention(
    settings,
    { isDryRun, compact, wait: flags.isOn('--wait') },
    job,
  );
  const counts = { users, events, quarantine, answers_removed: archive?.answersRemoved ?? null };
  if (!isDryRun) audit(log, 'removed what is older than it is to be kept', counts);
  const result = { dry_run: isDryRun, ...counts, ...(lakes !== null && { lakes }), compacted: isCompacted };
  out.show(result, () => {
    const verb = isDryRun ? 'would be removed' : 'removed';
    return [
      users === null
        ? settings.retainUsers === null
          ? 'people are kept for ever'
          : 'nothing is kept of single users'
        : `${counted(users.rows, 'row')} about people from before ${users.before}, of ${counted(users.days, 'day')}, and ` +
          `${counted(users.answers, 'archived answer')} about them ${verb}`,
      quarantine === null
        ? 'records in quarantine keep their text for ever'
        : `the text of ${counted(quarantine.removed, 'record')} in quarantine from before ${quarantine.before} ${verb}`,
      events === null
        ? 'hook events are kept for ever'
        : `${counted(events.removed, 'hook event')} from before ${events.before} ${verb}`,
      archive === null
        ? 'the archive is kept for ever'
        : `${counted(archive.answersRemoved, 'archived answer')} (${formatBytes(archive.bytesRemoved)}) ${verb}`,
      ...(lakes?.renewed ?? []).map((place) => `published again, without earlier versions: ${place}`),
      ...goneLakes(lakes),
    ];
  });
  return EXIT.ok;
};
