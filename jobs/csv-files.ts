import { readCharges } from '../src/bi/index.ts';
import type { JobContext } from '../src/core/clock.ts';
import { dayOf, type Month, type UtcDay } from '../src/core/day.ts';
import { UsageError } from '../src/core/errors.ts';
import {
  type BudgetCheck,
  checkBudgets,
  type FileTypes,
  type LoadedFile,
  loadInvoices,
  type MissingPeople,
  findMissingPeople as missingSteps,
  readCsv,
  replaceRows,
} from '../src/csv-files/index.ts';
import { expectSameGate, LISTING } from '../src/kept-out/index.ts';
import { chooseOrganization } from '../src/organizations/index.ts';
import { joinErasures } from '../src/places/index.ts';
import { checkEmailSalt, expectEmailSalt, noteLooser, openGate, readGate } from '../src/policy/index.ts';
import { runReads, type Steps, type Warehouse } from '../src/port/index.ts';
import { usersOf } from '../src/privacy/index.ts';
import { refreshRollups } from '../src/rollups/index.ts';
import type { Settings } from '../src/settings/index.ts';
import { readWarehouse, withWarehouse } from '../src/warehouse/index.ts';

/** Which organization a job is about. */
interface OrganizationRequest {
  /** Default: the only organization of the warehouse. */
  readonly organization?: string | undefined;
}

/** Which CSV file to load, for which organization, and how. */
export interface LoadRequest extends OrganizationRequest {
  readonly file: { readonly path: string; readonly name: string };
  readonly isDryRun: boolean;
  /** Accept a file without lines, which removes everything that was loaded for the organization. */
  readonly allowsEmpty: boolean;
}

/** What every load prints as JSON. */
export interface LoadOf {
  readonly org_id: string;
  /** True if nothing was stored because it was a dry run. */
  readonly dry_run: boolean;
}

/**
 * Replaces the rows of an organization by those of a CSV file, in one transaction with everything that depends on them. May
 * be repeated, and may be called during a run.
 * @throws {UsageError} that names file, line and remedy if anything is wrong with the file. Nothing is stored then.
 */
export async function loadFile<Types extends FileTypes>(
  kind: LoadedFile<Types>,
  settings: Settings,
  { file, organization, isDryRun, allowsEmpty }: LoadRequest,
  { clock, upgraded }: Pick<JobContext, 'clock' | 'upgraded'>,
): Promise<LoadOf & Types['found']> {
  const { warehouse: location, emails, minGroup } = settings;
  const [, all] = kind.noun;
  const isPassed = kind.holdsEmails === true || kind.holdsTexts === true;
  if (kind.holdsEmails === true && usersOf(emails) === 'none') {
    throw new UsageError(`${file.name}: nothing is kept of people`, {
      hint: 'change the policy of users to load people',
    });
  }
  const rows = await readCsv(file, kind.format);
  if (rows.length === 0 && !allowsEmpty) {
    throw new UsageError(`${file.name}: the file has no ${all}, and a load replaces all ${all}`, {
      hint: `check the file; to remove all ${all}, pass --allow-empty`,
    });
  }
  const load = async (warehouse: Warehouse) => {
    const orgId = await chooseOrganization(warehouse, organization);
    if (kind.holdsEmails === true && !isDryRun) await joinErasures(warehouse, settings);
    const now = clock.now();
    const gate = await (isDryRun ? readGate : openGate)(warehouse, emails);
    gate.passFor(orgId);
    const lines = kind.linesOf(rows, { orgId, file: file.name, gate, now });
    const { dialect } = warehouse;
    const steps = function* (): Steps<LoadOf & Types['found']> {
      yield* expectSameGate(gate);
      const replacing = { orgId, file: file.name, lines, dialect, isDryRun, minGroup, now };
      const found = yield* replaceRows(kind, replacing);
      return { org_id: orgId, dry_run: isDryRun, ...found };
    };
    if (isPassed) await checkEmailSalt(warehouse, emails);
    if (isDryRun) return warehouse.inSnapshot(() => runReads(warehouse, steps()));
    if (isPassed) await noteLooser(warehouse, gate);
    const loaded = await warehouse.oneAtATime(LISTING, () =>
      warehouse.oneAtATime(kind.lock ?? all, () => warehouse.transact(`load ${all} into`, steps)),
    );
    if (isPassed) await noteLooser(warehouse, gate);
    // Remembered last, because a refused load must store nothing.
    if (isPassed) await expectEmailSalt(warehouse, emails);
    // The days of teams are many, so they follow in transactions of their own; after a kill, the next run computes them.
    if (kind.refresh !== undefined) await refreshRollups(warehouse, { orgId, now });
    if (lines.length > 0) await warehouse.refreshStatistics();
    return loaded;
  };
  return isDryRun
    ? readWarehouse(location, { clock }, load)
    : withWarehouse(location, { clock, upgraded, create: false }, load);
}

/** The rows of an organization. */
interface ListOf<Listed> {
  readonly orgId: string;
  readonly rows: readonly Listed[];
}

/**
 * Lists the rows of an organization that files of a kind have loaded, in the order of their key. Writes nothing.
 * @throws {UsageError} when there is no such warehouse or organization.
 */
export function listRows<Listed>(
  { list }: { list(orgId: string): Steps<readonly Listed[]> },
  settings: Settings,
  request: OrganizationRequest,
  context: Pick<JobContext, 'clock'>,
): Promise<ListOf<Listed>> {
  return inSnapshot(settings, request, context, async (warehouse, orgId) => ({
    orgId,
    rows: await runReads(warehouse, list(orgId)),
  }));
}

/**
 * Finds active users without a team, users who are several people, and people without activity. Writes nothing.
 * @throws {UsageError} when there is no such warehouse or organization.
 */
export function findMissingPeople(
  settings: Settings,
  request: OrganizationRequest,
  context: Pick<JobContext, 'clock'>,
): Promise<MissingPeople> {
  return inSnapshot(settings, request, context, (warehouse, orgId) =>
    runReads(warehouse, missingSteps(orgId)),
  );
}

/** What to check. */
interface BudgetCheckRequest extends OrganizationRequest {
  /** Default: the month of the newest loaded day of users. */
  readonly month?: Month | undefined;
}

/**
 * Compares the budgets of a month with the cost so far and the forecast. Its exit code is 5 if a team is above its budget
 * or will be, and 2 if a price is missing or has another currency. Writes nothing.
 * @throws {UsageError} when there is no such warehouse or organization, or no budget for the month.
 */
export function checkBudget(
  settings: Settings,
  { month, ...request }: BudgetCheckRequest,
  context: Pick<JobContext, 'clock'>,
): Promise<BudgetCheck> {
  const today = dayOf(context.clock.now());
  return inSnapshot(settings, request, context, (warehouse, orgId) =>
    checkBudgets(warehouse, orgId, month, today),
  );
}

type Invoices = Awaited<ReturnType<typeof loadInvoices>>;

/** Which invoice to check, and how. */
interface InvoiceCheckRequest extends OrganizationRequest {
  readonly file: { readonly path: string; readonly name: string };
  readonly month: Month;
  /** What the invoice calls its columns, where it is not as here. */
  readonly columns: ReturnType<Invoices['parseInvoiceColumns']>;
  /** The last day whose changes the invoice can know. Default: the last day of the month. */
  readonly date?: UtcDay | undefined;
  /** How much a number may differ, as a share of the larger one. */
  readonly tolerance: number;
}

/** An invoice against the warehouse, as JSON. */
export type InvoiceCheck = Awaited<ReturnType<Invoices['checkInvoice']>>;

/**
 * Compares an invoice with the charges of its month. Its exit code is 5 if they differ by more than the tolerance. Writes nothing.
 * @throws {UsageError} if anything is wrong with the file, if the month is not over, if a price is missing, or if there is no such
 * warehouse or organization.
 */
export function checkInvoice(
  settings: Settings,
  { month, date = month.last, columns, file, tolerance, ...request }: InvoiceCheckRequest,
  context: Pick<JobContext, 'clock'>,
): Promise<InvoiceCheck> {
  const today = dayOf(context.clock.now());
  if (month.next > today) {
    throw new UsageError(`${month.name} is not over`, {
      hint: `check its invoice when all days are loaded, on ${month.next} at the earliest`,
    });
  }
  if (date < month.first || date > today) {
    const message = `the date of the invoice ${date} is not between ${month.first} and today, ${today}`;
    throw new UsageError(message, { hint: 'give the day of the invoice' });
  }
  return inSnapshot(settings, request, context, async (warehouse, orgId) => {
    const invoices = await loadInvoices();
    const gate = await readGate(warehouse, settings.emails);
    gate.passFor(orgId);
    const asked = { file, month, columns, passed: (text: string) => gate.key(text) };
    const invoice = await invoices.readInvoice(asked, orgId);
    const charges = await readCharges(warehouse, orgId, month);
    const what = { orgId, month, invoice, file: file.name, charges, invoiceDate: date, tolerance };
    return invoices.checkInvoice(warehouse, what);
  });
}

function inSnapshot<Result>(
  { warehouse: location }: Settings,
  { organization }: OrganizationRequest,
  { clock }: Pick<JobContext, 'clock'>,
  read: (warehouse: Warehouse, orgId: string) => Promise<Result>,
): Promise<Result> {
  return readWarehouse(location, { clock }, (warehouse) =>
    warehouse.inSnapshot(async () => read(warehouse, await chooseOrganization(warehouse, organization))),
  );
}
