import { createHash } from 'node:crypto';
import { sql } from '../../schema/query.ts';
import { columnsOf, compareUtf8, decoderOf, pickerOf, type Value } from '../../schema/row.ts';
import { tables, tablesOf, WITHHELD_RECORD } from '../../schema/tables.ts';
import { daysFrom, shiftDay, type UtcDay } from '../core/day.ts';
import { DAILY_STREAMS, isStream, type Stream } from '../core/stream.ts';
import { contractOf, isExpected } from '../expected/index.ts';
import { readUnits } from '../ledger/index.ts';
import { runReads, type Warehouse } from '../port/index.ts';
import type { BrokenDays } from '../rollups/index.ts';
import { dateOf, isDayUnit, type LedgerUnit } from '../units/index.ts';
import { crossCheck, DaySums, type Standing } from './cross-checks.ts';
import type { FindingList } from './finding.ts';
import { checkAllRollups } from './report-rollups.ts';
import { contradictionsOf, Groups, readUnit, violationsOf } from './unit-reading.ts';

/** Counts of what a check has covered. */
export interface Checked {
  /** Number of units whose stored rows were compared with their digest. */
  units: number;
  rows: number;
  /** Number of pairs of figures that were compared between tables. */
  comparisons: number;
}

const DAILY_TABLES = DAILY_STREAMS.flatMap(tablesOf);
const decodeUnit = decoderOf(tables.exportUnits);
const decodeQuarantined = decoderOf(tables.quarantine);
const allButOrganization = pickerOf(
  tables.exportUnits,
  columnsOf(tables.exportUnits).filter((name) => name !== 'org_id'),
);

/**
 * Checks that every unit holds exactly the rows that the ledger describes (none changed, missing or added), compares the
 * endpoints with each other, and the rollups with the rows. It reads all tables once, in key order: memory holds the ledger of one organization and a chunk
 * of each table. Call inside a snapshot. `checked` is updated during the check.
 * @param only the only organization to check; by default, all.
 */
export async function checkWarehouse(
  warehouse: Warehouse,
  findings: FindingList,
  checked: Checked,
  only?: string,
): Promise<void> {
  const broken = new Map<string, BrokenDays>();
  await checkUnits(only === undefined ? warehouse : limitedTo(warehouse, only), findings, checked, broken);
  await checkAllRollups(warehouse, findings, broken, only);
}

async function checkUnits(
  warehouse: Warehouse,
  findings: FindingList,
  checked: Checked,
  broken: Map<string, BrokenDays>,
): Promise<void> {
  const pass = {
    ledger: new Groups(warehouse, [tables.exportUnits], 1),
    quarantine: new Groups(warehouse, [tables.quarantine], 1),
    days: new Groups(warehouse, DAILY_TABLES, 2),
    reports: new Groups(warehouse, tablesOf('readiness'), 1),
  };
  try {
    for (;;) {
      const orgId = await nextOrganization(Object.values(pass));
      if (orgId === undefined) return;
      const check = new OrganizationCheck(warehouse, orgId, findings, checked);
      await check.run(pass);
      broken.set(orgId, check.broken);
    }
  } finally {
    for (const groups of Object.values(pass)) await groups.close();
  }
}

type Pass = Readonly<Record<'ledger' | 'quarantine' | 'days' | 'reports', Groups>>;

async function nextOrganization(all: readonly Groups[]): Promise<string | undefined> {
  let first: string | undefined;
  for (const groups of all) {
    const [orgId] = (await groups.next()) ?? [];
    if (orgId !== undefined && (first === undefined || compareUtf8(orgId, first) < 0)) first = orgId;
  }
  return first;
}

/** Checks one organization, whose rows are next in every table. */
class OrganizationCheck {
  readonly #orgId: string;
  readonly #warehouse: Warehouse;
  readonly #findings: FindingList;
  readonly #checked: Checked;
  /** The units whose rows have not been read yet. */
  #units = new Map<string, LedgerUnit>();
  readonly #quarantined = new Map<string, number>();
  /** Days whose people have expired. */
  #expired: ReadonlySet<string> = new Set();
  /** Days whose rows differ from the ledger, of the streams that rollups are computed from. */
  readonly broken = { users: new Set<string>(), tokens: new Set<string>() };

  constructor(warehouse: Warehouse, orgId: string, findings: FindingList, checked: Checked) {
    this.#warehouse = warehouse;
    this.#orgId = orgId;
    this.#findings = findings;
    this.#checked = checked;
  }

  async run({ ledger, quarantine, days, reports }: Pass): Promise<void> {
    const units = await this.#readLedger(ledger);
    await this.#readQuarantine(quarantine);
    for (let key = await days.next(); key?.[0] === this.#orgId; key = await days.next()) {
      await this.#checkDay(days, String(key[1]));
    }
    const hasReports = (await reports.next())?.[0] === this.#orgId;
    const isOnRecord = this.#units.has(nameOf('readiness', ''));
    if (hasReports || isOnRecord) await this.#checkUnit('readiness', '', reports);
    // Units of the ledger that have no row in any table.
    for (const unit of this.#units.values()) await this.#checkUnit(unit.stream, dateOf(unit), days);
    const contract = await runReads(this.#warehouse, contractOf(this.#orgId));
    const expected = units.filter((unit) => unit.state === 'expired' || isExpected(unit, contract));
    await this.#checkRestatements();
    checkCalendar(this.#orgId, expected, this.#findings);
  }

  async #readLedger(ledger: Groups): Promise<readonly LedgerUnit[]> {
    const units = await readUnits(this.#warehouse, this.#orgId);
    this.#units = new Map(units.map((unit) => [nameOf(unit.stream, dateOf(unit)), unit]));
    this.#expired = new Set(units.flatMap((unit) => (unit.state === 'expired' ? [dateOf(unit)] : [])));
    for await (const rows of ledger.rows(tables.exportUnits, [this.#orgId])) {
      for (const values of rows) {
        const row = decodeUnit(values);
        if (this.#units.has(nameOf(row.stream, row.date))) continue;
        // This version cannot read the row, so it would treat the unit as never pulled.
        const found = JSON.stringify(allButOrganization(values));
        this.#add(row, 'a row of the ledger that is not valid', null, found);
      }
    }
    this.#checked.units += units.length;
    return units;
  }

  async #readQuarantine(quarantine: Groups): Promise<void> {
    for await (const rows of quarantine.rows(tables.quarantine, [this.#orgId])) {
      for (const row of rows.map(decodeQuarantined)) {
        const name = nameOf(row.stream, row.date);
        this.#quarantined.set(name, (this.#quarantined.get(name) ?? 0) + 1);
        const found = createHash('sha256').update(String(row.record)).digest('hex');
        const expected = row.record_sha256;
        // A record that is older than records keep their text is known by its digest alone.
        const isWithheld = row.record === WITHHELD_RECORD;
        if (found !== expected && !isWithheld)
          this.#add(row, 'SHA-256 of a record in quarantine', expected, found);
      }
    }
  }

  async #checkDay(days: Groups, day: string): Promise<void> {
    const orgId = this.#orgId;
    const sums = new DaySums();
    const standings = new Map<Stream, Standing>();
    for (const stream of DAILY_STREAMS) standings.set(stream, await this.#checkUnit(stream, day, days, sums));
    const standingOf = (stream: Stream) => standings.get(stream) ?? 'unclear';
    this.#checked.comparisons += crossCheck({ orgId, day, sums }, standingOf, this.#findings);
  }

  /** Compares the stored rows of a unit with its row in the ledger. */
  async #checkUnit(stream: Stream, day: string, groups: Groups, sums?: DaySums): Promise<Standing> {
    const key = stream === 'readiness' ? [this.#orgId] : [this.#orgId, day];
    const reading = await readUnit(tablesOf(stream), (table) => groups.rows(table, key), sums);
    this.#checked.rows += reading.rows;
    const name = nameOf(stream, day);
    const unit = this.#units.get(name);
    this.#units.delete(name);
    const at = { severity: 'broken', orgId: this.#orgId, stream, day } as const;
    const isOther = reading.contentSha256 !== (unit?.contentSha256 ?? null);
    const hasContent = reading.rows > 0 || (unit?.contentSha256 ?? null) !== null;
    const isBroken = (isOther && hasContent) || reading.foreignValues > 0;
    if (isBroken && (stream === 'users' || stream === 'tokens')) this.broken[stream].add(day);
    if (unit === undefined) {
      if (reading.rows === 0) return 'unclear';
      const what = 'rows of a unit that is not in the ledger';
      this.#findings.add({ ...at, what, expected: 0, found: reading.rows });
      return 'broken';
    }
    const contradictions = contradictionsOf(unit, reading, this.#quarantined.get(name) ?? 0);
    for (const contradiction of contradictions) this.#findings.add({ ...at, ...contradiction });
    if (stream === 'tokens' && this.#expired.has(day)) this.#checkExpired(day, sums);
    for (const violation of violationsOf(reading)) this.#findings.add({ ...at, ...violation });
    if (reading.rows !== unit.rows || isOther) return 'broken';
    const isComplete = unit.state === 'loaded' || unit.state === 'empty';
    return isComplete && contradictions.length === 0 ? 'whole' : 'unclear';
  }

  /** Of a day that has expired, nothing about people may be left in `tokens`; the unit of `users` has no rows. */
  #checkExpired(day: string, sums: DaySums | undefined): void {
    for (const table of [tables.tokensDailyByUser, tables.tokensDailyByUserModel]) {
      const found = sums?.of(`${table.name}.rows`) ?? 0;
      const at = { stream: 'tokens', date: day };
      if (found > 0) this.#add(at, `rows of ${table.name} on a day that has expired`, 0, found);
    }
  }

  async #checkRestatements(): Promise<void> {
    const found = await this.#warehouse.select(sql`
      SELECT r.stream, r.date, COUNT(*) AS kept FROM restatements r
      JOIN export_units u ON u.org_id = r.org_id AND u.stream = r.stream AND u.date = r.date
      WHERE r.org_id = ${this.#orgId} AND u.state = 'expired' GROUP BY r.stream, r.date`);
    for (const { stream = null, date = null, kept = null } of found)
      this.#add({ stream, date }, 'restatements of a day that has expired', 0, kept);
  }

  #add(at: { readonly stream: Value; readonly date: Value }, what: string, expected: Value, found: Value) {
    const stream = isStream(at.stream) ? at.stream : 'readiness';
    const day = String(at.date);
    this.#findings.add({ severity: 'broken', orgId: this.#orgId, stream, day, what, expected, found });
  }
}

function nameOf(stream: unknown, day: unknown): string {
  return JSON.stringify([stream, day]);
}

/**
 * Checks that the ledger has every expected stream of an organization for every day, in any state, from the first to the last day of
 * any stream. A stream without any unit is not checked. Consecutive missing days are one finding.
 */
function checkCalendar(orgId: string, units: readonly LedgerUnit[], findings: FindingList): void {
  const daily = units.filter(isDayUnit);
  const sorted = daily.map(({ day }) => day).toSorted();
  const [first] = sorted;
  const last = sorted.at(-1);
  if (first === undefined || last === undefined) return;
  const calendar = daysFrom(first, last);
  for (const stream of DAILY_STREAMS) {
    const held = new Set<UtcDay>(daily.filter((unit) => unit.stream === stream).map(({ day }) => day));
    if (held.size === 0) continue;
    for (const { from, days } of holesIn(calendar, held)) {
      const until = shiftDay(from, days - 1);
      const what = days === 1 ? 'a day that was never pulled' : `days that were never pulled, until ${until}`;
      findings.add({ severity: 'hole', orgId, stream, day: from, what, expected: days, found: 0 });
    }
  }
}

function holesIn(calendar: readonly UtcDay[], held: ReadonlySet<UtcDay>): { from: UtcDay; days: number }[] {
  const holes: { from: UtcDay; days: number }[] = [];
  let open: { from: UtcDay; days: number } | undefined;
  for (const day of calendar) {
    if (held.has(day)) {
      open = undefined;
    } else if (open === undefined) {
      open = { from: day, days: 1 };
      holes.push(open);
    } else {
      open.days += 1;
    }
  }
  return holes;
}

/** The same warehouse, as if its tables held one organization only. */
export function limitedTo(warehouse: Warehouse, orgId: string): Warehouse {
  return {
    ...warehouse,
    scan: (table, scope, columns) => warehouse.scan(table, scope ?? { orgId }, columns),
  };
}
