import type { Clock } from '../../core/clock.ts';
import { decodeUtf8, release } from './body.ts';
import { RequestError } from './errors.ts';
import { isAnswer, type Reply } from './exchange.ts';
import { type Headers, headerOf } from './headers.ts';
import { keysRedactor } from './redact.ts';
import { errorOfStatus } from './status.ts';

/** An answer with status 2xx whose body is JSON. */
export interface Answer {
  readonly status: number;
  /** The parsed body; nothing of its shape is checked yet. */
  readonly body: unknown;
  /** The text that was parsed, for what a parsed value no longer tells. */
  readonly text: string;
  readonly requestId: string | undefined;
  /** The Date header as it was sent: few answers are asked for it, and reading it takes time. */
  readonly date?: string | undefined;
}

/** Reads the reply to the request that `name` names. */
export type AnswerReader = (reply: Reply, name: string) => Answer;

/**
 * A reader of answers: parsed, and without the key wherever the service repeats it.
 * It throws {@link RequestError} for a body that is not JSON, and the error of the status where that is not 2xx.
 */
export function answerReader({
  apiKey,
  appApiKey,
  clock,
}: {
  readonly apiKey: string;
  readonly appApiKey?: string | null;
  readonly clock: Clock;
}): AnswerReader {
  const redact = keysRedactor([apiKey, appApiKey ?? apiKey]);

  function redactHeaders(headers: Headers): Headers {
    const redacted = (value: Headers[string]) =>
      Array.isArray(value) ? value.map(redact) : value && redact(value);
    return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, redacted(value)]));
  }

  return ({ status, headers: sent, body }, name) => {
    if (!isAnswer(status, sent)) {
      const headers = redactHeaders(sent);
      if (status < 200 || status > 299) {
        throw errorOfStatus({
          target: name,
          status,
          headers,
          body: redact(body.toString('utf8')),
          now: clock.now(),
        });
      }
      const type = headerOf(headers, 'content-type') ?? '';
      throw new RequestError(
        `${name} answered ${status} with ${type === '' ? 'no content type' : type}, not JSON`,
        {
          target: name,
          hint: 'a proxy or a login page may stand between this machine and the service',
        },
      );
    }
    const text = decodeUtf8(body);
    release(body);
    if (text === undefined) throw malformed(name, 'bytes that are not UTF-8');
    const requestId = headerOf(sent, 'x-request-id');
    const date = headerOf(sent, 'date');
    return { status, ...parsed(redact(text), name), requestId: requestId && redact(requestId), date };
  };
}

function parsed(text: string, name: string): { body: unknown; text: string } {
  try {
    return { body: JSON.parse(text), text };
  } catch (error) {
    throw malformed(name, 'text that is not JSON', error);
  }
}

function malformed(name: string, what: string, cause?: unknown): RequestError {
  // A broken answer may be the network's fault once; twice is the server's.
  return new RequestError(`${name} answered ${what}`, { target: name, attemptsMax: 2, cause });
}
