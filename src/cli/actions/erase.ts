import { resolve } from 'node:path';
import { type ErasureResult, erasePerson } from '../../../jobs/erase.ts';
import {
  type AppliedPolicy,
  applyPolicy,
  exportPerson,
  type PersonRequest,
  type ShownPerson,
  showPerson,
} from '../../../jobs/privacy.ts';
import { UsageError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-code.ts';
import type { Settings } from '../../settings/index.ts';
import { type Certificate, isOpen, type JoinedPolicy } from '../../sweep/index.ts';
import { audit } from '../output/log.ts';
import type { Output } from '../output/output.ts';
import type { Action, Flags } from '../program/command.ts';
import { counted } from '../screens/numbers.ts';
import { renderTable, right, type TableFrame } from '../screens/table.ts';

export const eraseAction: Action = async ({ settings, job, flags, out, directory, log }) => {
  const [user, email, file] = [
    flags.parse('--user', notEmpty),
    flags.parse('--email', notEmpty),
    flags.parse('--certificate', notEmpty),
  ];
  if (user !== undefined && email !== undefined)
    throw new UsageError('--user and --email name a person each', { hint: 'pass one of them' });
  const result = await erasePerson(
    settings,
    {
      ...{ user, email, organization: flags.parse('--organization', notEmpty) },
      ...{ isDryRun: flags.isOn('--dry-run'), wait: flags.isOn('--wait') },
      dropsDamaged: flags.isOn('--drop-damaged'),
      joined: joinedPolicy(flags),
      certificate: file === undefined ? undefined : resolve(directory, file),
    },
    job,
  );
  const { certificate, resumed, isDryRun, isRepeated } = result;
  if (!isDryRun) {
    const { kind, rows } = certificate;
    audit(log, `erased ${kind === 'person' ? 'a person' : 'an organization'}`, {
      rows,
      repeated: isRepeated,
    });
  }
  const json = { dry_run: isDryRun, repeated: isRepeated, resumed, certificate };
  out.show(json, (frame) => renderErasure(result, { file, isPerson: isPerson(flags) }, frame), {
    afterLog: true,
  });
  return !isDryRun && isOpen(certificate.joined) ? EXIT.quarantine : EXIT.ok;
};

function joinedPolicy(flags: Flags): JoinedPolicy | undefined {
  const [replaces, accepts] = [flags.isOn('--joined'), flags.isOn('--leave-joined')];
  if (replaces && accepts)
    throw new UsageError('--joined and --leave-joined contradict each other', { hint: 'pass one of them' });
  return replaces ? 'replace' : accepts ? 'accept' : undefined;
}

function isPerson(flags: Flags): boolean {
  return flags.parse('--user', notEmpty) !== undefined || flags.parse('--email', notEmpty) !== undefined;
}

function notEmpty(text: string): string {
  if (text.trim() !== '') return text;
  throw new UsageError('an empty value', { hint: 'give the value' });
}

function renderErasure(
  { certificate, resumed, isDryRun, isRepeated }: ErasureResult,
  { file, isPerson: erasesPerson }: { readonly file: string | undefined; readonly isPerson: boolean },
  frame: TableFrame,
): string[] {
  const { rows, units, archive, spool_lines: spoolLines, published } = certificate;
  const what = erasesPerson ? 'one person' : 'the organization';
  const wouldChange = isDryRun && !isRepeated;
  const done = isRepeated
    ? `${what} was erased on ${certificate.completed_at?.slice(0, 10)}; nothing was left to do`
    : `${what} was erased`;
  const heading = wouldChange ? `dry run: ${what} would be erased; nothing was changed` : done;
  const verb = wouldChange ? 'would change' : 'changed';
  return [
    ...(resumed === null ? [] : ['an erasure that was interrupted earlier is complete now', '']),
    frame.style.green(heading),
    '',
    ...renderTable(
      ['table', right(`rows ${verb}`)],
      Object.entries(rows).map(([table, count]) => [table, count]),
      frame,
    ),
    '',
    `${counted(units, 'unit')} with a new digest`,
    archive === null
      ? 'no archive'
      : `archive: ${counted(archive.answers, 'answer')}, ${counted(archive.objects, 'object')}`,
    ...(archive?.dropped === undefined
      ? []
      : [
          `archive: ${counted(archive.dropped, 'damaged object')} ${wouldChange ? 'would be ' : ''}removed; daywalk archive verify names the days`,
        ]),
    `spool: ${counted(spoolLines, 'line')}`,
    ...(file === undefined || isDryRun ? [] : [`certificate: ${file}`]),
    ...joinedLines(certificate, wouldChange, frame),
    ...(certificate.lakes ?? []).map((place) => `published again, without earlier versions: ${place}`),
    ...published.map(notChanged),
  ];
}

function notChanged(place: string): string {
  return `not changed: the copy, backup or published files in ${place}`;
}

/** Names the places where the ID or an address stands in a joined form, without the form. */
function joinedLines({ joined }: Certificate, wouldChange: boolean, frame: TableFrame): string[] {
  if (joined === undefined || joined.found.length === 0) return [];
  const remedy = wouldChange || isOpen(joined);
  return [
    '',
    ...renderTable(
      ['joined form in', 'of', 'what became of it', right('texts')],
      joined.found.map(({ place, pseudonym, outcome, count }) => [place, pseudonym, outcome, count]),
      frame,
    ),
    ...(remedy
      ? ['repeat the command with --joined to replace them, or with --leave-joined to accept them']
      : []),
  ];
}

export const applyPolicyAction: Action = async ({ settings, job, flags, out, input, log }) => {
  const wait = flags.isOn('--wait');
  const json = (result: AppliedPolicy) => ({
    ...{ dry_run: result.isDryRun, emails: result.emails, rows: Object.fromEntries(result.rows) },
    ...{ units: result.units, archive: result.archive, spool_lines: result.spoolLines },
    published: result.published,
  });
  const show = (result: AppliedPolicy) => out.show(json(result), (frame) => renderPolicy(result, frame));
  if (flags.isOn('--dry-run')) {
    show(await applyPolicy(settings, { isDryRun: true, wait }, job));
    return EXIT.ok;
  }
  if (!flags.isOn('--yes') && (flags.isOn('--json') || !(await isConfirmed(settings, out, input))))
    throw new UsageError('what the policy does not keep would go for good; nothing was changed', {
      hint: 'take a backup, then pass --yes; --dry-run counts what would change',
    });
  const applied = await applyPolicy(settings, { isDryRun: false, wait }, job);
  const { emails, rows } = applied;
  audit(log, `applied the policy "${emails}" to what is stored`, { rows: Object.fromEntries(rows) });
  show(applied);
  return EXIT.ok;
};

/** Asks on a terminal. */
async function isConfirmed(
  { emails }: Settings,
  out: Output,
  input: () => AsyncIterable<Uint8Array>,
): Promise<boolean> {
  let isTerminal = false;
  out.show({}, (frame) => {
    isTerminal = frame.isTerminal;
    return isTerminal
      ? [
          `This applies the policy "${emails.mode}": what it does not keep goes for good; only backups and copies still have it.`,
          'Type yes to go on:',
        ]
      : [];
  });
  if (!isTerminal) return false;
  for await (const bytes of input()) return Buffer.from(bytes).toString('utf8').trim() === 'yes';
  return false;
}

function renderPolicy(
  { isDryRun, emails, rows, units, archive, spoolLines, published }: AppliedPolicy,
  frame: TableFrame,
): string[] {
  return [
    frame.style.green(
      isDryRun
        ? `dry run: the policy "${emails}" would be applied; nothing was changed`
        : `the policy "${emails}" holds for everything that is stored`,
    ),
    '',
    ...renderTable(['table', right(isDryRun ? 'rows would change' : 'rows changed')], [...rows], frame),
    '',
    `${counted(units, 'unit')} with a new digest`,
    `archive: ${counted(archive.answers, 'answer')}, ${counted(archive.objects, 'object')}`,
    `spool: ${counted(spoolLines, 'line')}`,
    ...published.map(notChanged),
  ];
}

export const showPersonAction: Action = async ({ settings, job, flags, out }) => {
  const shown = await showPerson(settings, requestOf(flags), job);
  out.show(jsonOf(shown), (frame) => renderPerson(shown, frame));
  return EXIT.ok;
};

export const exportPersonAction: Action = async ({ settings, job, flags, out, directory, log }) => {
  const file = flags.parse('--out', notEmpty);
  if (file === undefined) throw new UsageError('no file is named', { hint: 'pass --out FILE' });
  const shown = await exportPerson(settings, { ...requestOf(flags), out: resolve(directory, file) }, job);
  const isWritten = shown.state === 'known';
  if (isWritten) audit(log, 'exported what is held about a person', { rows: shown.places });
  out.show({ ...jsonOf(shown), out: isWritten ? file : null }, (frame) => [
    ...renderPerson(shown, frame),
    ...(isWritten ? ['', `written to ${file}, which only you may read`] : ['no file was written']),
  ]);
  return EXIT.ok;
};

function requestOf(flags: Flags): PersonRequest {
  const [user, email] = [flags.parse('--user', notEmpty), flags.parse('--email', notEmpty)];
  if ((user === undefined) === (email === undefined))
    throw new UsageError('one person is to be named', { hint: 'pass --user or --email' });
  return { user, email, organization: flags.parse('--organization', notEmpty) };
}

function jsonOf(shown: ShownPerson): Record<string, unknown> {
  if (shown.state === 'erased') return { org_id: shown.orgId, state: shown.state, erased_at: shown.erasedAt };
  const { orgId, state, firstDay, lastDay, places } = shown;
  return { org_id: orgId, state, first_day: firstDay, last_day: lastDay, places };
}

function renderPerson(shown: ShownPerson, frame: TableFrame): string[] {
  if (shown.state === 'erased') return [`this person was erased on ${shown.erasedAt.slice(0, 10)}`];
  const { firstDay, lastDay, places } = shown;
  const since = firstDay === null ? 'no day under a user ID' : `active from ${firstDay} to ${lastDay}`;
  return [since, '', ...renderTable(['place', right('rows')], Object.entries(places), frame)];
}
