import { ApiError, RequestError, type Unreached } from '../../../api/errors.ts';
import { type DaywalkError, messageOf, RunError } from '../../../core/errors.ts';
import { EXIT, type ExitCode } from '../../../core/exit-code.ts';

const NOT_FOUND = 404;

/** What most likely happened, and whether it can pass by itself. */
const UNREACHED: Readonly<Record<Unreached, { readonly cause: string; readonly passes: boolean }>> = {
  refused: { cause: 'nothing listens there', passes: true },
  'not-json': { cause: 'a web page or another program answers there, not the API', passes: true },
  'not-tls': {
    cause: 'write http:// where it is plain HTTP, which is for this machine only',
    passes: false,
  },
};

const WITHOUT_API = 'the API is not there. Write the scheme and the host alone, like https://api.example.com';

/**
 * Explains an error of the very first requests as its most likely cause: a wrong URL. Exit code 2 where that cannot pass
 * by itself, else the error's own. Other errors stay as they are.
 */
export function firstContactError(error: unknown, baseUrl: string): unknown {
  if (error instanceof ApiError && error.status === NOT_FOUND) {
    return contactError(error, { baseUrl, cause: WITHOUT_API, exitCode: EXIT.usage });
  }
  if (!(error instanceof RequestError) || error.unreached === undefined) return error;
  const { cause, passes } = UNREACHED[error.unreached];
  return passes
    ? contactError(error, {
        baseUrl,
        cause: `${cause}. If it is right, run again later`,
        exitCode: error.exitCode,
      })
    : contactError(error, { baseUrl, cause, exitCode: EXIT.usage });
}

function contactError(
  error: DaywalkError,
  { baseUrl, cause, exitCode }: { baseUrl: string; cause: string; exitCode: ExitCode },
): RunError {
  return new RunError(`reach the service for the first time: ${messageOf(error)}`, {
    cause: error,
    exitCode,
    hint: `check the URL ${baseUrl}: ${cause}`,
    reason: 'first-contact',
    facts: { baseUrl, cause },
  });
}
