import { join } from 'node:path';
import { type Month, shiftDay, type UtcDay, weekdayOf } from '../../core/day.ts';
import { UsageError } from '../../core/errors.ts';
import { replaceFile } from '../../core/files.ts';
import { spanStart } from '../../expected/index.ts';
import { readUnits } from '../../ledger/index.ts';
import { type Period, readProvenance } from '../../metrics/index.ts';
import { frozen, runReads, type Warehouse } from '../../port/index.ts';
import { readPersonFinder } from '../../weeks/index.ts';
import type { Audience } from '../audience.ts';
import type { Today } from '../reader.ts';
import { openFolder, reportPeriod } from '../report/write-reports.ts';
import { readTodayOfReport } from '../trust.ts';
import { htmlOf, type Mail, messageOf, subjectOf, textOf, withoutPeople } from './mail.ts';
import { managersBrief } from './managers-brief.ts';
import { teamBrief } from './team-brief.ts';

/** A week by its Monday, or a month. */
export type AskedSpan =
  | { readonly kind: 'week'; readonly monday: UtcDay }
  | { readonly kind: 'month'; readonly month: Month };

/** Which brief to write. */
export interface BriefRequest {
  readonly orgId: string;
  /** Default: the last whole week; for a team the last published one. */
  readonly span: AskedSpan | undefined;
  readonly audience: Exclude<Audience, 'public'>;
  /** The fewest people about whom a number is shown to a team. */
  readonly minGroup: number;
  /** The address of the dashboard, for links; none without it. */
  readonly dashboard: URL | undefined;
  /** True if the dashboard shows several organizations, so that links name this one. */
  readonly namesOrganization: boolean;
  /** What the mail calls the organization in its subject; null where the warehouse has no other. */
  readonly name: string | null;
}

/** A brief that was written. */
export interface WrittenBrief extends Period {
  readonly subject: string;
  readonly files: readonly { readonly file: string; readonly bytes: number }[];
}

/**
 * Writes a brief into a folder: `subject.txt`, `body.txt` and `body.html`, and all of it as `message.eml`. Reads one snapshot of the
 * warehouse and no clock, so the same warehouse gives the same bytes.
 * @throws {UsageError} if nothing is loaded, the span is not over or not published, or the folder is something else.
 */
export function writeBrief(
  warehouse: Warehouse,
  request: BriefRequest,
  folder: string,
): Promise<WrittenBrief> {
  return warehouse.inSnapshot(async () => {
    const own = frozen(warehouse);
    const units = await readUnits(own, request.orgId);
    const today = await readTodayOfReport(own, request.orgId, units);
    const { period, mail } =
      request.audience === 'managers'
        ? await forManagers(own, request, today)
        : await forTeam(own, request, today);
    const { name, orgId } = request;
    const sender = name === null ? 'Daywalk' : `Daywalk, ${name}`;
    const named = {
      ...mail,
      subject: `${sender}: ${mail.subject}`,
      about: `${name ?? orgId} · ${mail.about}`,
    };
    const shown = withoutPeople(named, await runReads(own, readPersonFinder(request.orgId)));
    const [subject, text, html] = [subjectOf(shown), textOf(shown), await htmlOf(shown)];
    await openFolder(folder);
    const contents = {
      'subject.txt': `${subject}\n`,
      'body.txt': text,
      'body.html': html,
      'message.eml': messageOf(subject, text, html),
    };
    const files = [];
    for (const [name, content] of Object.entries(contents)) {
      const file = join(folder, name);
      files.push({ file, bytes: await replaceFile(file, content) });
    }
    return { ...period, subject, files };
  });
}

interface Found {
  readonly period: Period;
  readonly mail: Mail;
}

async function forManagers(warehouse: Warehouse, request: BriefRequest, today: Today): Promise<Found> {
  const { orgId, span } = request;
  const { contract, wholeDay } = today.expectation;
  // What is loaded at all: it refuses a warehouse without days.
  const { until: newest } = await readProvenance(warehouse, {
    orgId,
    streams: ['users'],
    from: undefined,
    until: undefined,
  });
  const last = wholeDay !== null && wholeDay < newest ? wholeDay : newest;
  const period = spanOf(span, last, contract.firstDay);
  const filters = { orgId, ...period, firstDay: contract.firstDay, today };
  const mail = await managersBrief(warehouse, {
    filters,
    href: (path, about) => hrefOf(request, path, about),
  });
  return { period, mail };
}

/** A span that was asked for ends with the last day at most: a month may be running, a week is whole. */
function spanOf(span: AskedSpan | undefined, last: UtcDay, firstDay: UtcDay | undefined): Period {
  const until =
    span === undefined
      ? shiftDay(last, -(weekdayOf(last) % 7))
      : span.kind === 'week'
        ? shiftDay(span.monday, 6)
        : span.month.last < last
          ? span.month.last
          : last;
  const first = span?.kind === 'month' ? span.month.first : shiftDay(until, -6);
  if (until > last || first > until) {
    throw new UsageError(`the ${span?.kind ?? 'week'} ends after ${last}, the last day that is stored`, {
      hint: 'choose an earlier one, or leave the flag out for the last whole week',
    });
  }
  const from = spanStart(first, until, { firstDay });
  if (from > until || (span?.kind !== 'month' && from !== first)) {
    const kind = span?.kind ?? 'week';
    throw new UsageError(
      `the ${kind} from ${first} to ${until} begins before ${from}, the first expected day`,
      { hint: 'name a later one, write a brief about a month with --month, or wait for the first week' },
    );
  }
  return { from, until };
}

async function forTeam(warehouse: Warehouse, request: BriefRequest, { now }: Today): Promise<Found> {
  const { orgId, span, minGroup } = request;
  if (span?.kind === 'month') {
    throw new UsageError('a brief for a team is about a published week, and a month is none', {
      hint: 'name a week with --week, or write the brief for managers',
    });
  }
  const asked =
    span === undefined
      ? { from: undefined, until: undefined }
      : { from: span.monday, until: shiftDay(span.monday, 6) };
  const { until } = await reportPeriod(warehouse, orgId, { asked, audience: 'team', now });
  const period = { from: shiftDay(until, -6), until };
  return { period, mail: await teamBrief(warehouse, { filters: { orgId, ...period }, minGroup, now }) };
}

/** The address of a page of the dashboard about a period. */
function hrefOf(
  { dashboard, orgId, namesOrganization }: BriefRequest,
  path: string,
  { from, until }: Period,
): string | null {
  if (dashboard === undefined) return null;
  const address = new URL(dashboard);
  address.pathname = `${dashboard.pathname.replace(/\/$/, '')}${path}`;
  address.search = String(new URLSearchParams({ ...(namesOrganization && { org: orgId }), from, until }));
  return address.href;
}
