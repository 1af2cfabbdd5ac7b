import {
  type AssistantAudience,
  createAssistant,
  type Pipe,
  serveOverHttp,
  serveOverStdio,
  type ToolCall,
} from '../src/assistants/index.ts';
import type { ListenAddress } from '../src/core/addresses.ts';
import { aborted, type JobContext } from '../src/core/clock.ts';
import type { Settings } from '../src/settings/index.ts';
import { keepOpen } from '../src/warehouse/index.ts';

/** How a client reaches the server. */
export type Reached =
  | { readonly kind: 'pipe'; readonly pipe: Pipe }
  | {
      readonly kind: 'http';
      readonly listen: ListenAddress;
      readonly token: string;
      /** Called with the address once it listens. */
      readonly onListening: (url: string) => void;
    };

/** Who is served, and what about. */
export interface AssistantRequest {
  readonly reached: Reached;
  readonly audience: AssistantAudience;
  /** Default: the only organization of the warehouse. */
  readonly organization: string | undefined;
}

interface AssistantContext extends Pick<JobContext, 'clock' | 'signal'> {
  /** Receives each call. Must not throw. */
  readonly observeCall: (call: ToolCall) => void;
  /** Receives failures that are not the caller's. Must not throw. */
  readonly report: (error: unknown, doing: string) => void;
}

/**
 * Answers assistants about the warehouse until the client leaves or the process is asked to stop. Opens it for reading only, at the
 * first question.
 * @throws {UsageError} if the address cannot be used.
 */
export async function serveAssistants(
  { warehouse: location, queryTimeout, minGroup, allowedHosts }: Settings,
  { reached, audience, organization }: AssistantRequest,
  { clock, signal, observeCall, report }: AssistantContext,
): Promise<void> {
  const warehouse = keepOpen(location, { clock, signal, statementMsMax: queryTimeout });
  let created: ReturnType<typeof createAssistant> | undefined;
  const assistant = () => {
    if (created !== undefined) return created;
    // The first question does not wait for the process that reads. What is wrong with the warehouse is said when it is asked.
    warehouse.read(async () => undefined).catch(() => undefined);
    created = createAssistant({
      ...{ warehouse, clock, audience, organization, minGroup },
      callMsMax: queryTimeout,
      observe: observeCall,
      report,
    });
    return created;
  };
  const onError = (error: unknown) => report(error, 'protocol');
  try {
    if (reached.kind === 'pipe') {
      const sleep = (ms: number) => clock.sleep(ms);
      await serveOverStdio(reached.pipe, assistant, { signal, sleep, report: onError });
      return;
    }
    const { listen, token, onListening } = reached;
    const server = await serveOverHttp({ listen, token, allowedHosts, clock, report: onError }, assistant);
    try {
      onListening(server.url);
      await aborted(signal);
    } finally {
      await server.close();
    }
  } finally {
    await warehouse.close();
  }
}
