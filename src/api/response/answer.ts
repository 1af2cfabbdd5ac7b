import type { Clock } from '../../core/clock.ts';
import { UnitError } from '../../core/errors.ts';
import { RequestError } from '../errors.ts';
import { type HttpResponse, isAnswer } from '../http/exchange.ts';
import { decodeUtf8, release } from './body.ts';
import { type Headers, headerOf } from './headers.ts';
import { keysRedactor } from './redact.ts';
import { errorOfStatus } from './status.ts';

/** A complete response with a JSON body. */
export interface Answer {
  readonly status: number;
  /** The parsed body; its shape is not checked yet. */
  readonly body: unknown;
  /** The text of the body. It has digits that a parsed number loses. */
  readonly text: string;
  readonly requestId: string | undefined;
  /** The Date header, unparsed: few callers need it, and parsing takes time. */
  readonly date?: string | undefined;
}

/** Reads the response to the request that `name` names: one that reads, or one that creates something. */
export type AnswerReader = (response: HttpResponse, name: string, purpose: 'read' | 'creation') => Answer;

/** The only status of a complete answer to a read. Statuses such as 202, 203 and 206 do not promise one. */
const FULL = 200;

/**
 * Creates a reader of responses. It parses them and removes the key if the service repeats it. It throws {@link
 * RequestError} for a body that is not JSON, the error of a status that is not 2xx, and {@link UnitError} if a read is
 * answered with 2xx other than 200.
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

  return ({ status, headers: sent, body }, name, purpose) => {
    if (purpose === 'read' && status !== FULL && status >= 200 && status <= 299)
      throw partialError(status, name);
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
          unreached: 'not-json',
          hint: 'a proxy or a login page may stand between this machine and the service',
        },
      );
    }
    const text = decodeUtf8(body);
    release(body);
    if (text === undefined) throw malformedError(name, 'bytes that are not UTF-8');
    const requestId = headerOf(sent, 'x-request-id');
    const date = headerOf(sent, 'date');
    return { status, ...parseBody(redact(text), name), requestId: requestId && redact(requestId), date };
  };
}

function partialError(status: number, name: string): UnitError {
  return new UnitError(`${name} answered ${status}, which is not a full answer`, {
    reason: 'partial-status',
    hint: 'a proxy or cache may stand between this machine and the service; the unit is pulled again in the next run',
  });
}

function parseBody(text: string, name: string): { body: unknown; text: string } {
  try {
    return { body: JSON.parse(text), text };
  } catch (error) {
    throw malformedError(name, 'text that is not JSON', error);
  }
}

function malformedError(name: string, what: string, cause?: unknown): RequestError {
  // The network may break a response once; twice is the server's fault.
  return new RequestError(`${name} answered ${what}`, { target: name, attemptsMax: 2, cause });
}
