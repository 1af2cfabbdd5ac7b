import { EXIT, type ExitCode } from '../../core/exit-code.ts';

/** What each exit code of a run means, as the end of a sentence. */
const MEANING: Readonly<Record<ExitCode, string>> = {
  [EXIT.ok]: 'everything asked for is in the warehouse',
  [EXIT.defect]: 'a defect in daywalk',
  [EXIT.usage]: 'wrong usage or configuration',
  [EXIT.credential]: 'the service refused the credential',
  [EXIT.upstream]: 'upstream trouble: what is missing comes with a rerun',
  [EXIT.quarantine]: 'records were set aside, or the loss of stored rows is doubted',
  [EXIT.storage]: 'the warehouse could not be read or written',
  [EXIT.busy]: 'another run holds the warehouse',
  [EXIT.interrupted]: 'stopped by SIGINT; the next run resumes',
  [EXIT.terminated]: 'stopped by SIGTERM; the next run resumes',
};

/** What an exit code of a run means. */
export function exitMeaning(code: ExitCode): string {
  return MEANING[code];
}
