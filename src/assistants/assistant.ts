import type { Static, TObject, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Clock } from '../core/clock.ts';
import { nearestName, StoppedError, UsageError } from '../core/errors.ts';
import { isObject, isStorable } from '../core/json.ts';
import { chooseOrganization } from '../organizations/index.ts';
import type { KeptWarehouse } from '../warehouse/index.ts';
import { coverage, explain, listMetrics } from './about.ts';
import type { AssistantAudience } from './audience.ts';
import { coverageOfWeeks, explainPublished, listPublished, queryPublished } from './published.ts';
import { queryMetric } from './query-metric.ts';
import {
  coverageInput,
  explainInput,
  listInput,
  queryInput,
  type Reader,
  TOOLS,
  type Tool,
  type ToolAnswer,
  type ToolName,
} from './tools.ts';
import { FAILED, Refusal, refusalText, tooSlow } from './wording.ts';

/** A call, for the log: who may read what was asked, and nothing of the question or of the answer. */
export interface ToolCall {
  /** `unknown` for a tool that does not exist. */
  readonly tool: ToolName | 'unknown';
  readonly audience: AssistantAudience;
  readonly outcome: 'answered' | 'refused' | 'failed' | 'cancelled';
  /** The names of the arguments. */
  readonly asked: readonly string[];
  readonly rows: number;
  readonly ms: number;
}

/** What tools answer from. */
export interface AssistantOptions {
  readonly warehouse: KeptWarehouse;
  readonly clock: Pick<Clock, 'now' | 'monotonicMs' | 'sleep'>;
  readonly audience: AssistantAudience;
  /** Default: the only organization of the warehouse. */
  readonly organization: string | undefined;
  readonly minGroup: number;
  /** How long a call may take, with the calls before it. */
  readonly callMsMax: number;
  /** Is told of each call. Must not throw. */
  readonly observe: (call: ToolCall) => void;
  /** Receives failures that are not the caller's. Must not throw. */
  readonly report: (error: unknown, tool: string) => void;
}

/** An answer, or the words of a refusal. */
export interface Answered {
  readonly text: string;
  readonly data?: object;
}

/** Answers the calls of one process, for one audience. */
export interface Assistant {
  /**
   * Answers a call. Never throws. Calls run one at a time, each in one snapshot of the warehouse.
   * @param wanted aborted when nobody waits for the answer any more.
   */
  call(name: ToolName, given: unknown, wanted?: AbortSignal): Promise<Answered>;
  /** The words for a tool that does not exist; the call is observed. */
  unknownTool(name: string): string;
}

/** A tool with the check of its arguments. */
interface CheckedTool {
  /** The names of the arguments that it has among those given. */
  names(given: unknown): string[];
  /** @throws {Refusal} for arguments that do not fit. */
  ask(given: unknown): (reader: Reader) => Promise<ToolAnswer>;
}

type Answers = Readonly<Record<ToolName, CheckedTool>>;

/** What each audience is answered with: there is no other way to the warehouse. */
const ANSWERS: Readonly<Record<AssistantAudience, Answers>> = {
  managers: {
    list_metrics: checked(listInput, listMetrics),
    query_metric: checked(queryInput, queryMetric),
    coverage: checked(coverageInput, coverage),
    explain: checked(explainInput, explain),
  },
  team: {
    list_metrics: checked(listInput, listPublished),
    query_metric: checked(queryInput, queryPublished),
    coverage: checked(coverageInput, coverageOfWeeks),
    explain: checked(explainInput, explainPublished),
  },
};

/** The longest arguments, as JSON. A question needs a tenth of it. */
const ARGUMENTS_CHARS_MAX = 4_000;

function checked<Schema extends TObject>(schema: Schema, tool: Tool<Static<Schema>>): CheckedTool {
  const validator = Compile(schema);
  const fits = (value: unknown): value is Static<Schema> => validator.Check(value);
  const names = Object.keys(schema.properties);
  return {
    names: (given) => (isObject(given) ? names.filter((name) => given[name] !== undefined) : []),
    ask: (given) => {
      if (JSON.stringify(given).length > ARGUMENTS_CHARS_MAX || !isStorable(given))
        throw new Refusal(
          'the arguments are too long, or have characters that no name has',
          'ask a shorter question',
        );
      if (!fits(given)) throw misfit(schema, given);
      return (reader) => tool(reader, given);
    },
  };
}

/** What is wrong with arguments: their names are ours, or are not repeated. */
function misfit({ properties, required }: TObject, given: unknown): Refusal {
  const needed: readonly string[] = required ?? [];
  const known: readonly string[] = Object.keys(properties);
  const names = known.length === 0 ? 'it takes none' : `it takes ${known.join(', ')}`;
  if (!isObject(given)) return new Refusal('the arguments are not an object', names);
  const lacking = needed.find((name) => given[name] === undefined);
  if (lacking !== undefined) return new Refusal(`${lacking} is missing`, names);
  const wrong = known.find((name) => given[name] !== undefined && !matches(properties[name], given[name]));
  if (wrong !== undefined)
    return new Refusal(
      `${wrong} is not what it must be`,
      `give a value of this schema: ${JSON.stringify(properties[wrong])}`,
    );
  return new Refusal('the tool has no argument of this name', names);
}

function matches(schema: TSchema | undefined, value: unknown): boolean {
  return schema === undefined || Compile(schema).Check(value);
}

/** So many calls may wait for the ones before them. */
const WAITING_MAX = 32;

export function createAssistant(options: AssistantOptions): Assistant {
  const { audience, clock, observe, report } = options;
  let waiting = 0;
  return {
    call: async (name, given, wanted) => {
      const startedMs = clock.monotonicMs();
      const asked = ANSWERS[audience][name].names(given);
      const ended = (outcome: ToolCall['outcome'], rows = 0) =>
        observe({
          tool: name,
          audience,
          outcome,
          asked,
          rows,
          ms: Math.round(clock.monotonicMs() - startedMs),
        });
      waiting += 1;
      try {
        if (waiting > WAITING_MAX)
          throw new Refusal('too many calls wait already', 'try again in a few seconds');
        const { text, data } = await answer(options, name, given, wanted);
        ended('answered', 'rows' in data && Array.isArray(data.rows) ? data.rows.length : 0);
        return { text, data };
      } catch (error) {
        if (wanted?.aborted === true || error instanceof StoppedError) {
          ended('cancelled');
          return { text: FAILED };
        }
        const refused = error instanceof TooLongError ? tooSlow() : refusalText(error);
        ended(refused === null ? 'failed' : 'refused');
        if (refused === null) report(error, name);
        return { text: refused ?? FAILED };
      } finally {
        waiting -= 1;
      }
    },
    unknownTool: (name) => {
      observe({ tool: 'unknown', audience, outcome: 'refused', asked: [], rows: 0, ms: 0 });
      const names = TOOLS.map((tool) => tool.name);
      const nearest = nearestName(name, names);
      const instead = nearest === undefined ? `call one of ${names.join(', ')}` : `call ${nearest}`;
      return refusalText(new Refusal('there is no tool of this name', instead)) ?? '';
    },
  };
}

/** The call has taken longer than it may. */
class TooLongError extends Error {}

async function answer(
  { warehouse, clock, audience, organization, minGroup, callMsMax }: AssistantOptions,
  name: ToolName,
  given: unknown,
  cancelled: AbortSignal | undefined,
): Promise<ToolAnswer> {
  const ask = ANSWERS[audience][name].ask(given);
  const isOver = new AbortController();
  const tooLong = new AbortController();
  const limit = clock.sleep(callMsMax, isOver.signal).then(
    () => tooLong.abort(new TooLongError()),
    () => undefined,
  );
  const wanted = AbortSignal.any([tooLong.signal, ...(cancelled === undefined ? [] : [cancelled])]);
  const work = warehouse.read(async (inside) => {
    const orgId = await chooseOrganization(inside, organization).catch(noOrganization);
    return ask({ warehouse: inside, orgId, now: clock.now(), audience, minGroup });
  }, wanted);
  // A call that waits for another one notices the end of its own time, too.
  const ended = new Promise<never>((_, reject) => {
    wanted.addEventListener('abort', () => reject(wanted.reason), { once: true });
  });
  try {
    return await Promise.race([work, ended]);
  } finally {
    isOver.abort();
    work.catch(() => undefined);
    await limit;
  }
}

/** The names of organizations have no place in a sentence. */
function noOrganization(error: unknown): never {
  if (!(error instanceof UsageError)) throw error;
  throw new Refusal(
    error.reason === 'no-organization'
      ? 'nothing is exported yet'
      : 'it is not clear which organization is meant',
    error.reason === 'no-organization'
      ? 'try again after the first run'
      : 'have this server started for one of them',
  );
}
