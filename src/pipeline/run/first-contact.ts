import { type DaywalkError, messageOf, RunError } from '../../core/errors.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { ApiError, CredentialError, RequestError, type Unreached } from '../../http/index.ts';

/** Explains why the organization of a key is not known: the service has refused the key. Throws other errors unchanged. */
export function explainDenial(error: unknown): never {
  if (!(error instanceof CredentialError)) throw error;
  const { hint: refusal = 'check the key' } = error;
  throw new RunError(`look up the organization of the key: ${messageOf(error)}`, {
    cause: error,
    exitCode: error.exitCode,
    hint: `${refusal}; for a key that may not read analytics, name the organization`,
    reason: 'organization-unreadable',
    facts: { ...error.facts, status: String(error.status), refusal },
  });
}

const NOT_FOUND = 404;

/** The most likely cause, and whether it may be temporary. */
const UNREACHED: Readonly<Record<Unreached, { readonly cause: string; readonly isTemporary: boolean }>> = {
  refused: { cause: 'nothing listens there', isTemporary: true },
  'not-json': { cause: 'a web page or another program answers there, not the API', isTemporary: true },
  'not-tls': {
    cause: 'if it is plain HTTP, write http://, which is allowed on this machine only',
    isTemporary: false,
  },
};

const WITHOUT_API = 'the API is not there. Write the scheme and the host alone, like https://api.example.com';

/**
 * Explains an error of the very first requests by its most likely cause, a wrong URL. The exit code is 2 unless the cause
 * may be temporary; then the error keeps its exit code. Returns other errors unchanged.
 */
export function explainFirstContact(error: unknown, baseUrl: string): unknown {
  if (error instanceof ApiError && error.status === NOT_FOUND) {
    return contactError(error, { baseUrl, cause: WITHOUT_API, exitCode: EXIT.usage });
  }
  if (!(error instanceof RequestError) || error.unreached === undefined) return error;
  const { cause, isTemporary } = UNREACHED[error.unreached];
  return isTemporary
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
