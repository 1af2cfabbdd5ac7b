import type { RoundListener, RoundReport } from '../../../jobs/round.ts';
import type { JobContext } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import { isUndecided } from '../../core/exit-code.ts';
import { type Deadline, deadlineOf } from '../../http/index.ts';
import type { RunEvent } from '../../pipeline/index.ts';
import type { Settings } from '../../settings/index.ts';
import { withWarehouse } from '../../warehouse/index.ts';
import {
  failureScope,
  identified,
  type KnownRound,
  nameOfScope,
  organizationScopes,
} from './examine-organization.ts';
import { messageBody, type NamedIncident, type Scope } from './incidents.ts';
import { createPings } from './pings.ts';
import {
  type IncidentMemory,
  type IncidentPorts,
  reportIncidents,
  unusableStates,
  warehouseStates,
} from './report-incidents.ts';
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
/** How long the warehouse may take. A message that is not ready by then waits for the next round. */
const EXAMINE_LIMIT_MS = 2_000;
const SEND_LIMIT_MS = 2_000;
/** How long a round waits for everything together. */
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
      const late = deadlineOf(EXAMINE_LIMIT_MS, context.signal);
      const over = deadlineOf(LIMIT_MS, context.signal);
      const expired = new Promise<'expired'>((resolve) => over.listen(() => resolve('expired')));
      unfinished = report(round, { options, context, memory, late }).finally(() => {
        unfinished = null;
      });
      const first = await Promise.race([unfinished, expired]);
      if (first === 'expired') context.warn('the notification took too long', LATE_HINT);
      late.clear();
      over.clear();
    },
  };
}

const LATE_HINT = 'the export is not affected; what could not be sent is sent after the next round';

interface Reporting {
  readonly options: AlertOptions;
  readonly context: NotifyContext;
  readonly memory: IncidentMemory;
  readonly late: Deadline;
}

/** Never throws: a notification that fails must not change the round. */
async function report(round: RoundReport, { options, context, memory, late }: Reporting): Promise<void> {
  const {
    alertWebhook: url,
    alertWebhookFormat: format,
    alertRestatementShare,
    warehouse: location,
  } = options;
  const failures = failureScope(round, options.orgId);
  const sendAbout = async (about: KnownRound, messages: Parameters<IncidentPorts['send']>[0]) => {
    if (late.isCancelled) return false;
    const named = (which: 'opened' | 'over') =>
      messages.flatMap(({ scope, [which]: incidents }) =>
        incidents.map(
          (incident): NamedIncident => ({
            ...{ ...incident, organization: nameOfScope(scope, incident, about) },
            hasLeft: about.left?.some(({ orgId }) => orgId === scope) ?? false,
          }),
        ),
      );
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
        restatementShare: alertRestatementShare,
      };
      const onFailure = (error: unknown) =>
        context.warn(`an organization could not be examined: ${messageOf(error)}`, LATE_HINT);
      const known = await identified(round, warehouse);
      const organizations = await organizationScopes(warehouse, known, { rule, onFailure });
      const scopes = [failures, ...organizations];
      // Of two workers, the later one sees what the earlier one has reported.
      await warehouse.oneAtATime(ALERTS, () => run(scopes, warehouseStates(warehouse), known));
    });
  } catch (error) {
    context.warn(`the warehouse remembers no notifications: ${messageOf(error)}`, UNUSABLE_HINT);
    await run([failures], unusableStates);
  }
}

const REFUSED_HINT = 'the export is not affected; it is sent again after the next round';
const UNUSABLE_HINT = 'a failed run is reported again by each process until the warehouse can be used';
