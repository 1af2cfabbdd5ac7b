import { sql } from '../../schema/query.ts';
import { forgetSwept } from '../archive/index.ts';
import { DefectError, UsageError } from '../core/errors.ts';
import { canonicalJson } from '../core/json.ts';
import { passSpool } from '../hooks/index.ts';
import {
  dueSweeps,
  endSweep,
  keptOutOrganization,
  listErased,
  noteErasures,
  readKeptOut,
  type Subject,
  throughGate,
  withoutPeople,
  withSubjects,
} from '../kept-out/index.ts';
import type { Warehouse } from '../port/index.ts';
import { type Gate, type KeptOut, PeopleKeptOut } from '../privacy/index.ts';
import { forgetLearned, pendingErasures, readLearned } from '../records/index.ts';
import { refreshRollups } from '../rollups/index.ts';
import { digestOf } from '../warehouse/index.ts';
import { type JoinedForms, JoinedSearch } from './joined.ts';
import {
  type Certificate,
  dropPlan,
  type Plan,
  planErasure,
  readPlan,
  type SweepOptions,
  savePlan,
  totalsSha256,
} from './plan.ts';
import { removeOrganization, type Sweep, sweepArchive, sweepRows, sweepUnits, Tally } from './sweep-rows.ts';

/** New addresses of a person may lead to further places, so the sweep is repeated until it finds none. */
const ROUNDS_MAX = 10;

/** What an erasure would change. Writes nothing. */
export async function countErasure(options: SweepOptions, plan: Plan): Promise<Certificate> {
  const at = options.clock.now();
  const listed = (subjects: readonly Subject[], list: KeptOut) =>
    Promise.resolve(withSubjects(list, options.orgId, subjects, at));
  const { certificate } = await sweepAll(options, plan, { isDryRun: true, listed });
  return certificate;
}

/**
 * Erases what a plan names, as one operation: after a kill, the same call with the plan that is stored resumes.
 * @throws {BusyError} while another program reads a SQLite warehouse; a repetition resumes.
 */
export async function erase(options: SweepOptions, plan: Plan): Promise<Certificate> {
  const { warehouse, orgId, clock } = options;
  const isSwept = plan.subjects.length === 0 && plan.certificate.digest_after !== null;
  if (isSwept) return completeErasure(options, plan.certificate);
  // The plan names the person until everything is swept. It must be there before the list, which cannot name anyone.
  await savePlan(warehouse, orgId, { ...plan, certificate: { ...plan.certificate, interrupted: true } });
  const listed = (subjects: readonly Subject[]) => listErased(warehouse, orgId, subjects, new Date(plan.at));
  const current = plan.certificate.interrupted ? await resumed(options, plan) : plan;
  const { certificate } = await sweepAll(options, current, { isDryRun: false, listed });
  if (certificate.kind === 'person')
    await refreshRollups(warehouse, { orgId, now: clock.now(), signal: options.signal });
  options.signal.throwIfAborted();
  const after = await totalsSha256(warehouse, orgId);
  const { before } = certificate.totals_sha256;
  const swept: Certificate = {
    ...certificate,
    digest_after: (await digestOf(warehouse)).warehouse,
    totals_sha256: { before, after },
  };
  await savePlan(warehouse, orgId, { ...plan, subjects: [], certificate: swept });
  // Nobody is named any more, so this defect keeps no other erasure from its end.
  if (certificate.kind === 'person' && after !== before)
    throw new DefectError('erase a person', new Error(`the totals have changed from ${before} to ${after}`));
  return completeErasure(options, swept);
}

/** The plan of an interrupted erasure. Runs may have stored other days since, so totals and places are taken again. */
async function resumed(options: SweepOptions, plan: Plan): Promise<Plan> {
  const before = await totalsSha256(options.warehouse, options.orgId);
  const published = [...new Set([...plan.certificate.published, ...options.published])];
  return { ...plan, certificate: { ...plan.certificate, published, totals_sha256: { before, after: null } } };
}

interface SweepMode {
  readonly isDryRun: boolean;
  /** Puts values on the list, and returns the list. */
  readonly listed: (subjects: readonly Subject[], list: KeptOut) => Promise<KeptOut>;
}

async function sweepAll(
  options: SweepOptions,
  plan: Plan,
  mode: SweepMode,
): Promise<{ readonly certificate: Certificate }> {
  const tally = new Tally(plan.certificate);
  let { subjects } = plan;
  const { warehouse, orgId } = options;
  const before = plan.certificate.joined;
  const search = await JoinedSearch.begin(warehouse, orgId, { subjects, before });
  let archive = plan.certificate.archive;
  // Addresses that runs have found with an erased person are on the list and not swept, and nobody knows their values.
  const sweepsAll = subjects.length === 0 || (await hasUnswept(options));
  let list = await mode.listed(subjects, await readKeptOut(options.warehouse));
  const { taught } = await readSpool(options, list);
  subjects = [...subjects, ...taught];
  list = await mode.listed(taught, list);
  const waiting = await readSpool(options, list);
  if (!mode.isDryRun) await options.drain();
  const drained = Math.max(0, waiting.lines - (await readSpool(options, list)).lines);
  for (let round = 1; round <= ROUNDS_MAX; round += 1) {
    const people = new PeopleKeptOut(list, [options.orgId]);
    const forms = search?.next(people) ?? null;
    people.showTo(forms);
    const hints = forms?.hints ?? [];
    const values = sweepsAll ? [''] : [...subjects.map(({ value }) => value), ...hints];
    const sweep: Sweep = { ...options, ...mode, passing: withoutPeople(people), values, tally };
    const swept = await sweepOnce(options, sweep, plan.certificate.kind === 'organization');
    archive = archive && {
      answers: archive.answers + swept.answers,
      objects: archive.objects + swept.objects,
      ...(swept.dropped === 0 ? {} : { dropped: (archive.dropped ?? 0) + swept.dropped }),
    };
    if (forms !== null) await readSpool(options, list, forms);
    const known = new Set(subjects.map(({ value }) => value));
    const words = (search?.words ?? []).filter((word) => !known.has(word));
    const learned = [...people.learned, ...words].map((value) => ({ kind: 'email' as const, value }));
    if (learned.length === 0) break;
    subjects = [...subjects, ...learned];
    if (!mode.isDryRun)
      await savePlan(options.warehouse, options.orgId, {
        ...plan,
        subjects: [...subjects],
        certificate: { ...plan.certificate, interrupted: true },
      });
    list = await mode.listed(learned, list);
    if (mode.isDryRun) break;
  }
  const people = new PeopleKeptOut(list, [options.orgId]);
  const received = new PeopleKeptOut(list, [options.orgId], options.stored);
  const spoolLines = drained + (await passSpool(options.spool, received, mode));
  const found = subjects.flatMap(({ value }) => people.pseudonymOf(value) ?? []);
  const pseudonyms = [...new Set([...plan.certificate.pseudonyms, ...found])];
  return {
    certificate: {
      ...plan.certificate,
      ...{ pseudonyms, rows: Object.fromEntries(tally.rows), units: tally.units, archive },
      spool_lines: plan.certificate.spool_lines + spoolLines,
      ...(search && { joined: search.result(mode.isDryRun) }),
    },
  };
}

/**
 * Has the texts of the spool read as an erasure leaves them. Returns the number of lines that it changes, and the addresses that stand
 * beside the ID as they were received. The warehouse may never have seen them, other lines may hold them alone, and a drain leaves
 * no trace of them.
 */
async function readSpool({ spool, orgId, stored }: SweepOptions, list: KeptOut, reader?: JoinedForms) {
  const people = new PeopleKeptOut(list, [orgId], stored);
  people.showTo(reader ?? null);
  people.at('spool');
  const lines = await passSpool(spool, people, { isDryRun: true });
  return { lines, taught: people.learned.map((value): Subject => ({ kind: 'email', value })) };
}

async function hasUnswept({ warehouse, orgId }: SweepOptions): Promise<boolean> {
  const [row] = await warehouse.select(
    sql`SELECT COUNT(*) AS unswept FROM erased WHERE org_id = ${orgId} AND certificate IS NULL`,
  );
  return Number(row?.['unswept'] ?? 0) > 0;
}

/** Sweeps everything once. Returns what was changed in the archives. */
export async function sweepOnce(
  { archives, clock }: Pick<SweepOptions, 'archives' | 'clock'>,
  sweep: Sweep,
  isOrganization: boolean,
): ReturnType<typeof sweepArchive> {
  const swept = { answers: 0, objects: 0, dropped: 0 };
  for (const folder of archives) {
    const { answers, objects, dropped } = await sweepArchive(folder, sweep, {
      isOrganization,
      clock,
    });
    swept.answers += answers;
    swept.objects += objects;
    swept.dropped += dropped;
  }
  if (isOrganization) await removeOrganization(sweep);
  else {
    await sweepUnits(sweep);
    await sweepRows(sweep);
  }
  return swept;
}

/**
 * Ends an erasure after everything was swept: the database and the archives forget deleted values, lakes of Delta tables the versions
 * before, the file of erasures gets the list, and the certificate is stored beside the list. May be repeated.
 * @throws {BusyError} while another program reads a SQLite warehouse or an archive.
 */
export async function completeErasure(
  { warehouse, orgId, archives, erasures, renewLakes, ...patience }: SweepOptions,
  swept: Certificate,
): Promise<Certificate> {
  for (const archive of archives) await forgetSwept(archive, patience);
  await warehouse.forgetDeleted();
  if (erasures !== null) noteErasures(erasures, await readKeptOut(warehouse));
  const lakes = await renewLakes(swept.published);
  const published = swept.published.filter((place) => !lakes.includes(place));
  const certificate: Certificate = {
    ...{ ...swept, published },
    ...(lakes.length > 0 && { lakes: [...lakes] }),
    completed_at: patience.clock.now().toISOString(),
  };
  const text = canonicalJson(certificate);
  await warehouse.transact('store the certificate of the erasure in', function* () {
    yield sql`UPDATE erased SET certificate = ${text} WHERE org_id = ${orgId} AND certificate IS NULL`;
    // A repetition has found more of somebody who was erased before.
    for (const pseudonym of certificate.pseudonyms)
      yield sql`UPDATE erased SET certificate = ${text} WHERE org_id = ${orgId} AND pseudonym = ${pseudonym}`;
  });
  await endSweep(warehouse, orgId);
  await dropPlan(warehouse, orgId);
  return certificate;
}

/**
 * Sweeps the addresses that runs have found with erased people: rows of other streams may hold them without the ID. An erasure
 * of the same organization that was interrupted is completed first. After a kill, the next call resumes.
 * @throws {BusyError} while another program reads a SQLite warehouse; a repetition resumes.
 */
export async function sweepLearned(given: Omit<SweepOptions, 'orgId'>): Promise<void> {
  const { warehouse } = given;
  for (const { orgId, values } of await readLearned(warehouse)) {
    const options: SweepOptions = { ...given, orgId };
    const pending = await readPlan(warehouse, orgId);
    if (pending !== null) await erase(options, pending.plan);
    const subjects = values.map((value) => ({ kind: 'email' as const, value }));
    if (subjects.length > 0) await erase(options, await planErasure(options, subjects));
    await forgetLearned(warehouse, orgId);
  }
  await sweepDue(given);
}

/** As {@link sweepLearned}, for everybody whom a warehouse knows from an archive, or an archive from a warehouse. */
async function sweepDue(given: Omit<SweepOptions, 'orgId'>): Promise<void> {
  const { warehouse } = given;
  for (const orgId of await dueSweeps(warehouse)) {
    const pending = await readPlan(warehouse, orgId);
    if (pending !== null) await erase({ ...given, orgId }, pending.plan);
    await eraseListed({ ...given, orgId });
  }
}

/** Sweeps everybody of an organization who is on the list. */
async function eraseListed(options: SweepOptions): Promise<void> {
  const isOrganization =
    keptOutOrganization(await readKeptOut(options.warehouse), options.orgId) !== undefined;
  await erase(options, await planErasure(options, [], { isOrganization }));
}

/**
 * Completes every erasure that has begun in a warehouse, and sweeps everyone who is on its list and was not swept. After a kill, a
 * repetition resumes.
 * @throws {BusyError} while another program reads a SQLite warehouse; a repetition resumes.
 */
export async function sweepListed(given: Omit<SweepOptions, 'orgId'>): Promise<void> {
  const { warehouse } = given;
  const begun = await pendingErasures(warehouse);
  for (const { orgId } of begun) {
    const pending = await readPlan(warehouse, orgId);
    if (pending !== null) await erase({ ...given, orgId }, pending.plan);
  }
  const rows = await warehouse.select(
    sql`SELECT DISTINCT org_id FROM erased WHERE certificate IS NULL ORDER BY org_id`,
  );
  for (const row of rows) await eraseListed({ ...given, orgId: String(row['org_id']) });
}

/** Where everything passes a gate. */
interface PassOptions
  extends Pick<
    SweepOptions,
    'warehouse' | 'archives' | 'dropsDamaged' | 'spool' | 'published' | 'renewLakes' | 'clock' | 'signal'
  > {
  readonly gate: Gate;
  /** Only count. */
  readonly isDryRun: boolean;
}

/** What has changed, or would. */
export interface PassedCounts {
  /** Rows by table. */
  readonly rows: ReadonlyMap<string, number>;
  /** Units whose digest was computed again. */
  readonly units: number;
  /** Archived answers, and the objects with their rows. */
  readonly archive: { readonly answers: number; readonly objects: number };
  /** Lines that a drain has left in the spool. */
  readonly spoolLines: number;
}

/**
 * Lets everything that is stored pass a gate, one unit or some rows at a time. What has passed it stays, so a repetition resumes.
 * Databases, archives and lakes of Delta tables forget the former values at the end.
 * @throws {UsageError} while an erasure that was begun is not complete.
 * @throws {BusyError} while another program reads a SQLite warehouse or an archive.
 */
export async function passAll(options: PassOptions): Promise<PassedCounts> {
  const { warehouse, archives, spool, clock, signal, gate, isDryRun, dropsDamaged } = options;
  if ((await readPlan(warehouse)) !== null) {
    throw new UsageError('an erasure that was begun is not complete', {
      hint: 'complete it first: repeat the erasure',
    });
  }
  const tally = new Tally();
  const archive = { answers: 0, objects: 0 };
  const list = await readKeptOut(warehouse);
  for (const orgId of await organizationsIn(warehouse)) {
    gate.keepOut(list, orgId === '' ? null : orgId);
    const passing = throughGate(gate);
    const sweep = { warehouse, orgId, passing, values: [''], isDryRun, dropsDamaged, signal, tally };
    const { answers, objects } = await sweepOnce({ archives, clock }, sweep, false);
    archive.answers += answers;
    archive.objects += objects;
    if (!isDryRun && orgId !== '') await refreshRollups(warehouse, { orgId, now: clock.now(), signal });
  }
  gate.keepOut(list, null);
  const spoolLines = await passSpool(spool, gate, { isDryRun });
  if (!isDryRun) {
    // Also if no row has changed: one that had the former value may have been replaced or removed since.
    await warehouse.forgetDeleted();
    await options.renewLakes(options.published);
    const passed = { emails: gate.emails, users: gate.users };
    for (const place of archives) await forgetSwept(place, { clock, signal, passed });
  }
  return { rows: tally.rows, units: tally.units, archive, spoolLines };
}

/** Also those of sessions alone; '' where there is none: hook events that were received before the first run belong to nobody. */
async function organizationsIn(warehouse: Warehouse): Promise<string[]> {
  const rows = await warehouse.select(
    sql`SELECT org_id FROM export_units UNION SELECT org_id FROM sessions ORDER BY org_id`,
  );
  return rows.length === 0 ? [''] : rows.map((row) => String(row['org_id']));
}
