import type { Dispatcher } from 'undici';
import type { Clock } from '../../core/clock.ts';
import { BODY_BYTES_MAX, ERROR_BODY_BYTES_MAX } from '../limits.ts';
import { decodeUtf8, readBody } from './body.ts';
import { RequestError } from './errors.ts';
import { type Headers, headerOf } from './headers.ts';
import { keyRedactor } from './redact.ts';
import type { Answer } from './request.ts';
import { errorOfStatus } from './status.ts';

/** Reads the answer to the request that `name` names. */
export type AnswerReader = (response: Dispatcher.ResponseData, name: string) => Promise<Answer>;

/**
 * A reader of answers: decoded, within limits, parsed, and without the key wherever the service repeats it.
 * It throws {@link RequestError} for a body that is not JSON, and the error of the status where that is not 2xx.
 */
export function answerReader({
  apiKey,
  clock,
}: {
  readonly apiKey: string;
  readonly clock: Clock;
}): AnswerReader {
  const redact = keyRedactor(apiKey);

  function redactHeaders(headers: Headers): Headers {
    const redacted = (value: Headers[string]) =>
      Array.isArray(value) ? value.map(redact) : value && redact(value);
    return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, redacted(value)]));
  }

  return async (response, name) => {
    const { statusCode: status, body } = response;
    const headers = redactHeaders(response.headers);
    const encoding = headerOf(headers, 'content-encoding')?.toLowerCase();
    if (status < 200 || status > 299) {
      const bytes = await readBody(body, encoding, ERROR_BODY_BYTES_MAX).catch(() => Buffer.alloc(0));
      const text = redact(bytes.toString('utf8'));
      throw errorOfStatus({ target: name, status, headers, body: text, now: clock.now() });
    }
    const type = headerOf(headers, 'content-type') ?? '';
    if (!/^application\/([\w.+-]+\+)?json\b/i.test(type)) {
      // Read to its end, not destroyed: a body that is destroyed unread ends the process with an error nobody awaits.
      await body.dump();
      throw new RequestError(
        `${name} answered ${status} with ${type === '' ? 'no content type' : type}, not JSON`,
        {
          target: name,
          hint: 'a proxy or a login page may stand between this machine and the service',
        },
      );
    }
    const text = decodeUtf8(await readBody(body, encoding, BODY_BYTES_MAX));
    const requestId = headerOf(headers, 'x-request-id');
    if (text === undefined) throw malformed(name, 'bytes that are not UTF-8');
    return { status, ...parsed(redact(text), name), requestId };
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
