import { EXIT, type ExitCode } from './exit-code.ts';

const MEANING: Readonly<Record<ExitCode, string>> = {
  [EXIT.ok]: 'everything requested is in the warehouse',
  [EXIT.defect]: 'a defect in daywalk',
  [EXIT.usage]: 'wrong usage or configuration',
  [EXIT.credential]: 'the service refused the credential',
  [EXIT.upstream]: 'upstream failure; rerun to fetch what is missing',
  [EXIT.quarantine]: 'records were quarantined, or a loss of stored rows is doubted',
  [EXIT.storage]: 'the warehouse could not be read or written',
  [EXIT.busy]: 'another run holds the warehouse',
  [EXIT.interrupted]: 'stopped by SIGINT; the next run resumes',
  [EXIT.terminated]: 'stopped by SIGTERM; the next run resumes',
};

/** Explains an exit code of a run, as the end of a sentence. */
export function describeExitCode(code: ExitCode): string {
  return MEANING[code];
}

/** True for one of the exit codes of the command line. */
export function isExitCode(code: unknown): code is ExitCode {
  return Object.values(EXIT).some((known) => known === code);
}
