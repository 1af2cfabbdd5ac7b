import type { RoundListener, RoundReport } from '../../../jobs/round.ts';
import type { JobContext } from '../../core/clock.ts';
import { messageOf, StorageError } from '../../core/errors.ts';
import { isUndecided } from '../../core/exit-code.ts';
import { deadlineOf } from '../../http/index.ts';
import { readOrganizationIds } from '../../ledger/index.ts';
import type { RunEvent } from '../../pipeline/index.ts';
import type { Warehouse } from '../../port/index.ts';
import { readState, STATES, writeState } from '../../records/index.ts';
import type { Settings } from '../../settings/index.ts';
import { withWarehouse } from '../../warehouse/index.ts';
import {
  failureScope,
  identified,
  type KnownRound,
  nameOfScope,
  organizationScopes,
} from './examine-organization.ts';
import {
  applyDelivery,
  applyExamination,
  type Condition,
  type Due,
  dueIn,
  type IncidentState,
  mergeStates,
  messageBody,
  type NamedIncident,
  NO_INCIDENTS,
  parseState,
  type Scope,
  stateText,
} from './incidents.ts';
import { createPings } from './pings.ts';
import { type NotifyContext, send } from './send.ts';

/**
 * The listeners for pings and notifications that the settings ask for; none without a URL. A service keeps them for all its
 * rounds. They delay a round by less than five seconds in total, and never change its result.
 */
export function notifyListeners(settings: Settings, job: JobContext<RunEvent>): RoundListener[] {
  const { pingUrl, alertWebhook, proxy } = settings;
  const context: NotifyContext = {
    clock: job.clock,
    signal: job.signal,
    proxy,
    warn: (message, hint) => job.observe({ type: 'warning', message, hint }),
  };
  return [
    ...(pingUrl === null ? [] : [createPings(pingUrl, context)]),
    ...(alertWebhook === null ? [] : [createAlerts({ ...settings, alertWebhook }, context)]),
  ];
}

/** The name under which one process at a time reports incidents, see `Warehouse.oneAtATime`. */
const ALERTS = 'notifications';
const SEND_LIMIT_MS = 2_000;
/** How long a round waits for the warehouse and the message together. What takes longer goes on while the process lives. */
const LIMIT_MS = 4_300;

/** What to report to which webhook. */
type AlertOptions = Pick<Settings, 'warehouse' | 'orgId' | 'alertWebhookFormat' | 'alertRestatementShare'> & {
  readonly alertWebhook: string;
};

/**
 * Sends one message to a webhook after each round in which incidents began or ended. What was delivered is remembered in
 * the warehouse, so that each incident is reported once, and once when it is over. A round that a signal stopped, or that
 * found the warehouse busy, changes nothing.
 */
function createAlerts(options: AlertOptions, context: NotifyContext): RoundListener {
  const memory: IncidentMemory = new Map();
  let unfinished: Promise<void> | null = null;
  return {
    end: async (round) => {
      if (context.signal.aborted || round.organizations.every(({ exitCode }) => isUndecided(exitCode)))
        return;
      if (unfinished !== null) return context.warn('notifications wait for the next round', LATE_HINT);
      const over = deadlineOf(LIMIT_MS, context.signal);
      const expired = new Promise<'expired'>((resolve) => over.listen(() => resolve('expired')));
      unfinished = report(round, { options, context, memory }).finally(() => {
        unfinished = null;
      });
      const first = await Promise.race([unfinished, expired]);
      if (first === 'expired') context.warn('the notification took too long', LATE_HINT);
      over.clear();
    },
  };
}

const LATE_HINT = 'the export is not affected; what could not be sent is sent after the next round';

interface RoundReporting {
  readonly options: AlertOptions;
  readonly context: NotifyContext;
  readonly memory: IncidentMemory;
}

/** Never throws: a notification that fails must not change the round. */
async function report(round: RoundReport, { options, context, memory }: RoundReporting): Promise<void> {
  const { alertWebhook: url, alertWebhookFormat: format, warehouse: location } = options;
  const failures = (stored: readonly string[] | null) => failureScope(round, options.orgId, stored);
  const sendAbout = async (about: KnownRound, messages: Parameters<IncidentPorts['send']>[0]) => {
    if (context.signal.aborted) return false;
    const named = (which: 'opened' | 'over') =>
      messages.flatMap(({ scope, [which]: incidents }) => {
        const hasLeft = about.left?.some(({ orgId }) => orgId === scope) ?? false;
        const nameOf = (incident: Condition) => nameOfScope(scope, incident, about);
        return incidents.map((each): NamedIncident => ({ ...each, organization: nameOf(each), hasLeft }));
      });
    const body = messageBody({ opened: named('opened'), over: named('over') }, { round, format });
    const message = { url, contentType: 'application/json', body } as const;
    const { proxy, signal } = context;
    const refusal = await send(message, { proxy, limitMs: SEND_LIMIT_MS, signal });
    if (refusal !== null) context.warn(`the notification was not accepted: ${refusal}`, REFUSED_HINT);
    return refusal === null;
  };
  const run = (scopes: readonly Scope[], states: Omit<IncidentPorts, 'send'>, about: KnownRound = round) =>
    reportIncidents(scopes, {
      ...{ at: round.endedAt, memory },
      ports: { ...states, send: (messages) => sendAbout(about, messages) },
    });
  try {
    await withWarehouse(location, { clock: context.clock, create: false }, async (warehouse) => {
      const rule = {
        now: context.clock.now(),
        startedAt: round.startedAt,
        restatementShare: options.alertRestatementShare,
      };
      const onFailure = (error: unknown) =>
        context.warn(`an organization could not be examined: ${messageOf(error)}`, LATE_HINT);
      const known = await identified(round, warehouse);
      const organizations = await organizationScopes(warehouse, known, { rule, onFailure });
      const scopes = [failures(await readOrganizationIds(warehouse)), ...organizations];
      // Of two workers, the later one sees what the earlier one has reported.
      await warehouse.oneAtATime(ALERTS, () => run(scopes, warehouseStates(warehouse), known));
    });
  } catch (error) {
    context.warn(`the warehouse remembers no notifications: ${messageOf(error)}`, UNUSABLE_HINT);
    await run([failures(null)], unusableStates);
  }
}

const REFUSED_HINT = 'the export is not affected; it is sent again after the next round';
const UNUSABLE_HINT = 'a failed run is reported again by each process until the warehouse can be used';

/** Where states are kept and messages go. `load` and `save` may throw. */
export interface IncidentPorts {
  load(scope: string): Promise<IncidentState>;
  save(scope: string, state: IncidentState): Promise<void>;
  /** Sends one message about all scopes. True if it was delivered. */
  send(due: readonly (Due & { readonly scope: string })[]): Promise<boolean>;
}

/** A state as this process knows it. */
interface Remembered {
  readonly state: IncidentState;
  /** False if the stored state could not be read, which may hold more incidents. */
  readonly isWhole: boolean;
  readonly isStored: boolean;
}

/** States by scope. A service keeps them between rounds, for those in which the warehouse cannot be used. */
export type IncidentMemory = Map<string, Remembered>;

interface Held extends Omit<Remembered, 'isStored'> {
  readonly scope: string;
}

interface Reporting {
  /** The instant of the round, as ISO text. */
  readonly at: string;
  readonly ports: IncidentPorts;
  readonly memory: IncidentMemory;
}

/**
 * Examines every scope, sends one message about what began and what ended, and remembers what was delivered. The state is
 * stored before the message is sent, so nothing is lost and every message about an incident has the same ID; and after it
 * was delivered. A process that is killed between delivery and storage sends the message again.
 */
export async function reportIncidents(scopes: readonly Scope[], reporting: Reporting): Promise<void> {
  const held: Held[] = [];
  for (const scope of scopes) held.push(await examineScope(scope, reporting));
  const messages = held
    .map(({ scope, state }) => ({ scope, ...dueIn(state) }))
    .filter(({ opened, over }) => opened.length + over.length > 0);
  if (messages.length === 0 || !(await reporting.ports.send(messages))) return;
  const sent = new Set(messages.map(({ scope }) => scope));
  for (const { scope, state, isWhole } of held) {
    if (sent.has(scope)) await save({ scope, state: applyDelivery(state), isWhole }, reporting);
  }
}

async function examineScope({ scope, examine }: Scope, reporting: Reporting): Promise<Held> {
  const { state: before, isWhole, isStored } = await load(scope, reporting);
  const examination = await examine(before);
  const state =
    examination === null ? before : applyExamination(before, examination, { scope, at: reporting.at });
  const held = { scope, state, isWhole };
  if (isStored && stateText(before) === stateText(state))
    reporting.memory.set(scope, { state, isWhole, isStored });
  else await save(held, reporting);
  return held;
}

async function load(scope: string, { ports, memory }: Reporting): Promise<Remembered> {
  const own = memory.get(scope);
  if (own?.isWhole === true && !own.isStored) return own;
  try {
    const stored = await ports.load(scope);
    const isNews = own !== undefined && !own.isStored && own.state.incidents.length > 0;
    const state = isNews ? mergeStates(stored, own.state) : stored;
    return { state, isWhole: true, isStored: !isNews };
  } catch {
    return own ?? { state: NO_INCIDENTS, isWhole: false, isStored: false };
  }
}

/** Stores a state, and remembers it. A part of a state must not replace the whole one. */
async function save({ scope, state, isWhole }: Held, { ports, memory }: Reporting): Promise<void> {
  try {
    if (isWhole) await ports.save(scope, state);
    memory.set(scope, { state, isWhole, isStored: isWhole });
  } catch {
    memory.set(scope, { state, isWhole, isStored: false });
  }
}

type States = Omit<IncidentPorts, 'send'>;

/** Keeps states in the warehouse. */
export function warehouseStates(warehouse: Pick<Warehouse, 'read' | 'transact'>): States {
  return {
    load: async (scope) => parseState(await readState(warehouse, scope, STATES.incidents)),
    save: (scope, state) => writeState(warehouse, scope, STATES.incidents, stateText(state)),
  };
}

const fail = () => Promise.reject(new StorageError('the warehouse cannot be used'));

/** The states of a warehouse that cannot be opened. */
export const unusableStates: States = { load: fail, save: fail };
