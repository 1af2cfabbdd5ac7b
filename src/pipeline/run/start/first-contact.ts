import { ApiError, RequestError, type Unreached } from '../../../api/errors.ts';
import { messageOf, RunError } from '../../../core/errors.ts';
import { EXIT } from '../../../core/exit-code.ts';

const NOT_FOUND = 404;

/** The remedy for each, and whether the problem may go away by itself. */
const UNREACHED: Readonly<Record<Unreached, { readonly remedy: string; readonly passes: boolean }>> = {
  refused: { remedy: 'nothing listens there', passes: true },
  'not-json': { remedy: 'a web page or another program answers there, not the API', passes: true },
  'not-tls': {
    remedy: 'write http:// where it is plain HTTP, which is for this machine only',
    passes: false,
  },
};

/**
 * Explains an error of the very first requests, which most likely means a wrong URL. An error that cannot go away by
 * itself gets exit code 2; others keep theirs, and the hint names the URL before it suggests another run. Unrelated
 * errors stay as they are.
 */
export function firstContactError(error: unknown, baseUrl: string): unknown {
  const url = `DAYWALK_BASE_URL, which is ${baseUrl}`;
  const message = `reach the service for the first time: ${messageOf(error)}`;
  if (error instanceof ApiError && error.status === NOT_FOUND) {
    return new RunError(message, {
      cause: error,
      exitCode: EXIT.usage,
      hint: `check ${url}: the API is not there. Write the scheme and the host alone, like https://api.example.com`,
    });
  }
  if (!(error instanceof RequestError) || error.unreached === undefined) return error;
  const { remedy, passes } = UNREACHED[error.unreached];
  return new RunError(message, {
    cause: error,
    exitCode: passes ? error.exitCode : EXIT.usage,
    hint: `check ${url}: ${remedy}${passes ? '. If it is right, run again later' : ''}`,
  });
}
