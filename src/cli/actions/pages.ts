import { basename, dirname, resolve } from 'node:path';
import {
  type BriefJob,
  type BriefResult,
  brief,
  type ReportJob,
  type ReportResult,
  type ReportTarget,
  report,
  serveDashboard,
} from '../../../jobs/pages.ts';
import { parseDay, parseMonth, parseWeek } from '../../core/day.ts';
import { UsageError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-code.ts';
import { AUDIENCES, type Audience, NO_TEAMS } from '../../look/index.ts';
import { SETTINGS } from '../../settings/index.ts';
import { limitHeapGrowth, stopCode } from '../process/stop-signals.ts';
import type { Action, CommandContext, Flags } from '../program/command.ts';
import { failureOf, logFailure } from '../program/failure.ts';
import { oneNamed } from '../program/flag-values.ts';
import { hintOf } from '../remedies.ts';
import { counted, formatBytes } from '../screens/numbers.ts';
import { renderTable, right, shrinking, type TableFrame } from '../screens/table.ts';
import { escapeForTerminal } from '../screens/text.ts';

const MIN_GROUP = { min: 2, max: 1_000 } as const;

export const reportAction: Action = async (context) => {
  const { flags, settings, job, out, directory } = context;
  const result = await report(settings, requestOf(flags, directory), job);
  warn(context, result);
  out.show(result, (frame) => renderReport(result, frame));
  return EXIT.ok;
};

function requestOf(flags: Flags, directory: string): ReportJob {
  const target = targetOf(flags, directory);
  const audience = flags.parse('--audience', audienceOf) ?? 'managers';
  const minGroup = flags.number('--min-group', MIN_GROUP);
  if (minGroup !== undefined && audience === 'managers') {
    throw new UsageError('--min-group has no effect for managers, who see groups of any size', {
      hint: 'add --audience team or --audience public, or leave --min-group out',
    });
  }
  return {
    target,
    from: flags.parse('--from', parseDay),
    until: flags.parse('--until', parseDay),
    audience,
    minGroup,
    organization: flags.text('--organization'),
  };
}

function targetOf(flags: Flags, directory: string): ReportTarget {
  const [out, folder, team] = [flags.text('--out'), flags.text('--each-team'), flags.text('--team')];
  if (out !== undefined && folder !== undefined) {
    throw new UsageError('--out and --each-team exclude each other', { hint: 'choose one of them' });
  }
  if (folder !== undefined && team !== undefined) {
    throw new UsageError('--team and --each-team exclude each other', {
      hint: 'write one team with --team and --out, or all with --each-team',
    });
  }
  if (folder !== undefined)
    return { kind: 'folder', path: resolve(directory, expectPath('--each-team', folder)) };
  if (out === undefined) {
    throw new UsageError('nothing says where to write', {
      hint: 'add --out FILE.html, or --each-team FOLDER',
    });
  }
  if (!/\.html?$/i.test(out)) {
    throw new UsageError(`--out: ${out} does not end with .html`, {
      hint: 'name a file such as report.html',
    });
  }
  return { kind: 'file', path: resolve(directory, out), team };
}

function expectPath(flag: string, path: string): string {
  if (path.trim() !== '') return path;
  throw new UsageError(`${flag} is empty`, { hint: 'name a folder' });
}

function audienceOf(name: string): Audience {
  return oneNamed(name, AUDIENCES, 'an audience');
}

export const briefAction: Action = async ({ flags, settings, job, out, directory }) => {
  const result = await brief(settings, briefOf(flags, directory), job);
  out.show(result, () => renderBrief(result));
  return EXIT.ok;
};

function briefOf(flags: Flags, directory: string): BriefJob {
  const audience = flags.parse('--audience', audienceOf) ?? 'managers';
  if (audience === 'public') {
    throw new UsageError('a brief is for managers or a team', {
      hint: 'write a report for the public: daywalk report --audience public --out public.html',
    });
  }
  const monday = flags.parse('--week', parseWeek);
  const month = flags.parse('--month', parseMonth);
  if (monday !== undefined && month !== undefined) {
    throw new UsageError('--week and --month exclude each other', { hint: 'choose one of them' });
  }
  return {
    folder: resolve(directory, expectPath('--out', flags.text('--out') ?? '')),
    span:
      monday !== undefined
        ? { kind: 'week', monday }
        : month !== undefined
          ? { kind: 'month', month }
          : undefined,
    audience,
    dashboard: flags.parse('--dashboard', addressOf),
    organization: flags.text('--organization'),
  };
}

function addressOf(text: string): URL {
  const address = URL.canParse(text) ? new URL(text) : null;
  if (address !== null && /^https?:$/.test(address.protocol) && address.username === '') return address;
  throw new UsageError('it is not the address of a dashboard', {
    hint: 'write it as a browser shows it, for example https://daywalk.example.com',
  });
}

function renderBrief({ subject, files, from, until, audience }: BriefResult): string[] {
  const [first] = files;
  const folder = first === undefined ? '' : dirname(first.file);
  const names = files.map(({ file, bytes }) => `${basename(file)} (${formatBytes(bytes)})`).join(', ');
  return [
    escapeForTerminal(subject),
    `${escapeForTerminal(folder)}: written, ${from} to ${until}, for ${readersOf({ audience })}: ${names}`,
  ];
}

/** Files of teams that are no longer reported would stay published. */
function warn({ log }: CommandContext, { older = [] }: ReportResult): void {
  if (older.length === 0) return;
  const message = `the folder also holds reports that were not written now: ${older.join(', ')}; remove them if they must not be read any more`;
  log.write({ level: 'warn', event: 'report-older-files', message });
}

/** More names than this do not help. */
const NAMES_MAX = 10;

/** Draws what was written, and what was left out. */
function renderReport(result: ReportResult, frame: TableFrame): string[] {
  const { reports, list, too_small: small = [], inactive = [], from, until } = result;
  const period = from === until ? from : `${from} to ${until}`;
  const [only] = reports;
  if (list === undefined) {
    if (only === undefined) return [];
    const { pages, rows, bytes } = only;
    return [
      `${escapeForTerminal(only.file)}: written, ${counted(pages, 'page')} with ${counted(rows, 'row')} in ${formatBytes(bytes)}, ${period}, for ${readersOf(result)}`,
    ];
  }
  const columns = [shrinking('team'), shrinking('file'), right('pages'), right('rows'), right('size')];
  const cells = reports.map(({ team, file, pages, rows, bytes }) => [
    team,
    basename(file),
    pages,
    rows,
    formatBytes(bytes),
  ]);
  return [
    ...(reports.length === 0 ? [] : renderTable(columns, cells, frame)),
    ...(small.length === 0 ? [] : [tooSmall(small, reports.length)]),
    ...(inactive.length === 0
      ? []
      : [`nobody was active in ${counted(inactive.length, 'team')}: ${namesOf(inactive)}`]),
    `${escapeForTerminal(list)}: written, ${counted(reports.length, 'report')}, ${period}, for ${readersOf(result)}`,
  ];
}

function tooSmall(teams: readonly string[], shown: number): string {
  if (shown === 0) return `no team is shown alone in any week: ${NO_TEAMS}`;
  return `${counted(teams.length, 'team is', 'teams are')} not shown alone in any week, because of too few people: ${namesOf(teams)}`;
}

function namesOf(teams: readonly string[]): string {
  const more = teams.length > NAMES_MAX ? `, and ${teams.length - NAMES_MAX} more` : '';
  return `${teams.slice(0, NAMES_MAX).map(escapeForTerminal).join(', ')}${more}`;
}

function readersOf({ audience }: Pick<ReportResult, 'audience'>): string {
  return { managers: 'managers', team: 'a team', public: 'the public' }[audience];
}

/** Keeps the process below 200 MB with 3,000 users and 310 days. */
const HEAP_GROWTH_PERCENT = 20;
const PORT_BOUNDS = { min: 0, max: 65_535 } as const;

/** Prints the address when the dashboard listens, then serves until a signal. */
export const dashboardAction: Action = async ({ flags, job, out, log, settings }) => {
  // Every page leaves tens of megabytes of markup and drawings behind.
  limitHeapGrowth(HEAP_GROWTH_PERCENT);
  const port = portOf(flags);
  const { debug } = settings;
  const report = (error: unknown, path: string) =>
    logFailure(log, failureOf(error), { debug, event: 'page-failed', fields: { path } });
  await serveDashboard(settings, { port }, { ...job, hintOf, report }, (url) => {
    out.show({ url }, () => [url]);
  });
  return stopCode(job.signal);
};

function portOf(flags: Flags): number | undefined {
  const port = flags.number('--port', PORT_BOUNDS);
  const listen = SETTINGS.dashboardListen.flag;
  if (port === undefined || listen === null || flags.text(listen) === undefined) return port;
  throw new UsageError(`--port and ${listen} exclude each other`, {
    hint: `${listen} HOST:PORT names both`,
  });
}
