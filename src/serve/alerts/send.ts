import type { Clock } from '../../core/clock.ts';
import { packageVersion } from '../../core/files.ts';
import { deadlineOf, exchange, openConnection, type ProxyOptions, splitOrigin } from '../../http/index.ts';

/** A failure that may pass is tried this often. Slow servers have one attempt, because the time limit covers all. */
const ATTEMPTS_MAX = 2;

/** A message to a server that is not the service. */
interface Message {
  /** A secret: no error shows any part of it. */
  readonly url: string;
  readonly contentType: 'application/json' | 'text/plain; charset=utf-8';
  readonly body: string;
}

interface SendOptions {
  readonly proxy: ProxyOptions | null;
  /** Milliseconds for all attempts together, whatever the server does. */
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/** Null if the server has accepted the message, otherwise why not, as the end of a sentence. */
export type Refusal = string | null;

/**
 * Sends a message with POST. Only a status from 200 to 299 counts as accepted; redirects are not followed, because only the
 * configured address may receive the content. Never throws, and ends within the limit.
 */
export async function send(message: Message, { proxy, limitMs, signal }: SendOptions): Promise<Refusal> {
  const deadline = deadlineOf(limitMs, signal);
  try {
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await attemptOnce(message, { proxy, limitMs, deadline });
      if (deadline.expired()) return outcome.refusal === null ? null : `no answer within ${limitMs} ms`;
      if (signal.aborted && outcome.refusal !== null) return 'it was cancelled';
      if (!outcome.mayPass || attempt === ATTEMPTS_MAX) return outcome.refusal;
    }
  } finally {
    deadline.clear();
  }
}

interface Outcome {
  readonly refusal: Refusal;
  /** True if another attempt may succeed. */
  readonly mayPass: boolean;
}

interface Attempt extends Omit<SendOptions, 'signal'> {
  readonly deadline: ReturnType<typeof deadlineOf>;
}

async function attemptOnce(
  { url, contentType, body }: Message,
  { proxy, limitMs, deadline }: Attempt,
): Promise<Outcome> {
  const { origin } = splitOrigin(url);
  const { pathname, search } = new URL(url);
  const headers = { 'content-type': contentType, 'user-agent': `daywalk/${packageVersion()}` };
  let status: number | undefined;
  const connection = await openConnection(origin, { timeoutMs: limitMs, proxy });
  try {
    const onHead = (received: number) => {
      status = received;
    };
    const request = { method: 'POST', path: pathname + search, headers, body } as const;
    await exchange(connection, { ...request, cancellation: deadline, onHead });
    return outcomeOf(status);
  } catch (error) {
    // The status decides: what follows it is not used.
    if (status !== undefined) return outcomeOf(status);
    return { refusal: `the request failed (${codeOf(error)})`, mayPass: true };
  } finally {
    // Not awaited: it may wait for a connection that is still being opened.
    void connection.destroy();
  }
}

function outcomeOf(status: number | undefined): Outcome {
  if (status === undefined) return { refusal: 'the answer has no status', mayPass: true };
  if (status >= 200 && status <= 299) return { refusal: null, mayPass: false };
  if (status >= 300 && status <= 399)
    return { refusal: `it redirects (${status}), and redirects are not followed`, mayPass: false };
  return { refusal: `it answered ${status}`, mayPass: status >= 500 };
}

/** The code of an error. Its message may name the address. */
function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,60}$/.test(code) ? code : 'no code';
}

/** What pings and notifications need of their surroundings. */
export interface NotifyContext {
  readonly clock: Clock;
  readonly proxy: ProxyOptions | null;
  /** Aborted when the process is asked to stop. */
  readonly signal: AbortSignal;
  /** Logs a problem that changes neither the data nor the exit code. */
  warn(message: string, hint: string): void;
}
