import { sql } from '../../../schema/query.ts';
import {
  FIRST_DAY,
  monthEndOf,
  monthOf,
  parseDay,
  shiftDay,
  type UtcDay,
  yesterdayOf,
} from '../../core/day.ts';
import { messageOf, UsageError } from '../../core/errors.ts';
import { isLoaded, type Period, resolvePeriod } from '../../metrics/period.ts';
import { findTeam, UNASSIGNED } from '../../metrics/question.ts';
import { chooseOrganization } from '../../warehouse/choose-organization.ts';
import { isDayUnit, type LedgerDay, type Warehouse } from '../../warehouse/port.ts';
import { completeWeeks } from '../data/compare.ts';
import type { Filters } from '../data/filters.ts';
import type { AskedFilters } from './page-request.ts';

/** A period that people choose often. */
export interface Preset {
  readonly name: string;
  /** Null for the period that a page has without filters. */
  readonly period: Period | null;
}

/** What can be chosen in a warehouse for an organization. */
export interface Choices {
  readonly orgId: string;
  readonly organizations: readonly string[];
  /** Names of teams, and the word for none if there is any. */
  readonly teams: readonly string[];
  /** The period without filters: the month of the newest loaded day, up to it. */
  readonly usual: Period;
  readonly first: UtcDay;
  readonly last: UtcDay;
  readonly presets: readonly Preset[];
}

const WEEKS = 13;

/**
 * Reads what can be chosen; null if the warehouse holds no organization, or no day of the one that was asked for.
 * @throws {UsageError} if the warehouse does not hold that organization.
 */
export async function readChoices(
  warehouse: Warehouse,
  asked: string | undefined,
  now: Date,
): Promise<Choices | null> {
  const organizations = (await warehouse.organizations()).toSorted();
  if (organizations[0] === undefined) return null;
  const orgId = asked === undefined ? organizations[0] : await chooseOrganization(warehouse, asked);
  const days = (await warehouse.units(orgId)).filter(isDayUnit);
  const newest = newestOf(days.filter(({ stream }) => stream === 'users')) ?? newestOf(days);
  const until = newest ?? yesterdayOf(now);
  const usual = { from: startOf(until), until };
  const first = days.reduce((earliest, { day }) => (day < earliest ? day : earliest), until);
  const teams = await readTeams(warehouse, orgId);
  return {
    orgId,
    organizations,
    teams,
    usual,
    first: FIRST_DAY,
    last: later(until, yesterdayOf(now)),
    presets: presetsOf(usual, first),
  };
}

/**
 * The filters of a page: what was asked for, and what it has otherwise.
 * @throws {UsageError} for a day, period or team that cannot be.
 */
export async function readFilters(
  warehouse: Warehouse,
  asked: AskedFilters,
  choices: Choices,
): Promise<Filters> {
  const { orgId, usual, last } = choices;
  const from = dayOf('first', asked.from);
  const until =
    dayOf('last', asked.until) ?? (from === undefined || from <= usual.until ? usual.until : from);
  if (until > last) {
    throw new UsageError(`the period ends on ${until}, which no data can be of yet`, {
      hint: `the last day can be ${last}`,
    });
  }
  const period = resolvePeriod([], ['users'], { from: from ?? startOf(until), until });
  const team = asked.team === undefined ? undefined : await findTeam(warehouse, orgId, asked.team);
  return { orgId, ...period, team };
}

function dayOf(which: string, text: string | undefined): UtcDay | undefined {
  try {
    return text === undefined ? undefined : parseDay(text);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`the ${which} day: ${messageOf(error)}`, { hint: error.hint });
  }
}

/** The first day of the month of a day; the service began within a month. */
function startOf(day: UtcDay): UtcDay {
  return later(monthOf(day), FIRST_DAY);
}

function later(a: UtcDay, b: UtcDay): UtcDay {
  return a > b ? a : b;
}

function newestOf(days: readonly LedgerDay[]): UtcDay | undefined {
  return days
    .filter(isLoaded)
    .reduce<UtcDay | undefined>(
      (newest, { day }) => (newest === undefined || day > newest ? day : newest),
      undefined,
    );
}

async function readTeams(warehouse: Warehouse, orgId: string): Promise<string[]> {
  const found = await warehouse.select(sql`SELECT DISTINCT team FROM people WHERE org_id = ${orgId}`);
  const teams = found.flatMap(({ team }) => (typeof team === 'string' ? team : [])).toSorted();
  return teams.length === 0 ? [] : [...teams, UNASSIGNED];
}

function presetsOf(usual: Period, first: UtcDay): Preset[] {
  const lastOfMonthBefore = shiftDay(monthOf(usual.until), -1);
  const weeks = completeWeeks(usual.until, WEEKS);
  return [
    { name: 'This month', period: null },
    ...(lastOfMonthBefore < FIRST_DAY
      ? []
      : [
          {
            name: 'Last month',
            period: { from: startOf(lastOfMonthBefore), until: monthEndOf(lastOfMonthBefore) },
          },
        ]),
    ...(weeks === null ? [] : [{ name: `Last ${WEEKS} weeks`, period: weeks }]),
    { name: 'All days', period: { from: first, until: usual.until } },
  ];
}
