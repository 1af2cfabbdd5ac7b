/**
 * The exit codes of the command line. Cron jobs and container schedulers depend on these numbers.
 *
 * When several causes meet in one run, {@link worstExit} decides.
 */
export const EXIT = {
  /** Everything requested is in the warehouse. */
  ok: 0,
  /** A defect in this program. */
  defect: 1,
  /** The warehouse is not healthy. Health checks know only 0 and 1, so it shares the number of a defect. */
  unhealthy: 1,
  /** Wrong usage or configuration; nothing was sent or written. */
  usage: 2,
  /** The credential was refused (401, 403). */
  credential: 3,
  /** The service failed: some units failed or were left out. A rerun resumes. */
  upstream: 4,
  /** Records were quarantined, or a verification found a difference. */
  quarantine: 5,
  /** A team is above its budget, or will be. */
  overBudget: 5,
  /** The warehouse could not be read or written. */
  storage: 6,
  /** Another run holds the warehouse. */
  busy: 75,
  /** Stopped by SIGINT. */
  interrupted: 130,
  /** Stopped by SIGTERM. */
  terminated: 143,
} as const;

/** One of the numbers of {@link EXIT}. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/**
 * Highest rank first. A signal outranks the incomplete run that it caused. With several organizations, the unreadable key
 * file of one must not hide a warehouse that cannot be written, or a key that the service refuses.
 */
const RANK: readonly ExitCode[] = [
  EXIT.defect,
  EXIT.storage,
  EXIT.credential,
  EXIT.usage,
  EXIT.busy,
  EXIT.terminated,
  EXIT.interrupted,
  EXIT.quarantine,
  EXIT.upstream,
  EXIT.ok,
];

/** The highest-ranking exit code; {@link EXIT.ok} if there is none. */
export function worstExit(codes: Iterable<ExitCode>): ExitCode {
  let best = RANK.length - 1;
  for (const code of codes) best = Math.min(best, RANK.indexOf(code));
  return RANK[best] ?? EXIT.ok;
}

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
