/**
 * The exit codes of the command line, in the order of precedence. Cron jobs and container schedulers depend on these numbers.
 *
 * When several causes meet in one run, the first one counts, see {@link worstExit}. A signal outranks the incomplete run that
 * it caused. With several organizations, the unreadable key file of one must not hide a warehouse that cannot be written, or a
 * key that the service refuses.
 */
export const EXIT = {
  /** A defect in this program. */
  defect: 1,
  /** The warehouse is not healthy. Health checks know only 0 and 1, so it shares the number of a defect. */
  unhealthy: 1,
  /** The warehouse could not be read or written. */
  storage: 6,
  /** The credential was refused (401, 403). */
  credential: 3,
  /** Wrong usage or configuration; nothing was sent or written. */
  usage: 2,
  /** Another run holds the warehouse. */
  busy: 75,
  /** Stopped by SIGTERM. */
  terminated: 143,
  /** Stopped by SIGINT. */
  interrupted: 130,
  /** Records were quarantined, the organization is not the expected one, or a verification found a difference. */
  quarantine: 5,
  /** A team is above its budget, or will be. */
  overBudget: 5,
  /** An invoice and the warehouse differ. */
  differs: 5,
  /** The service failed: some units failed or were left out. A rerun resumes. */
  upstream: 4,
  /** Everything requested is in the warehouse. */
  ok: 0,
} as const;

/** One of the numbers of {@link EXIT}. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Every exit code once, the highest-ranking first. */
export const PRECEDENCE: readonly ExitCode[] = [...new Set(Object.values(EXIT))];

/** The highest-ranking exit code; {@link EXIT.ok} if there is none. */
export function worstExit(codes: Iterable<ExitCode>): ExitCode {
  const given = new Set(codes);
  return PRECEDENCE.find((code) => given.has(code)) ?? EXIT.ok;
}

/** What a code says: of every command, and of a run, if that can be said more exactly. */
const MEANING: Readonly<Record<ExitCode, { readonly ofAny: string; readonly ofRun?: string }>> = {
  [EXIT.ok]: { ofAny: 'everything requested is in the warehouse' },
  [EXIT.defect]: { ofAny: 'a defect in daywalk' },
  [EXIT.usage]: {
    ofAny: 'wrong usage or configuration; nothing was sent or written',
    ofRun: 'wrong usage or configuration',
  },
  [EXIT.credential]: { ofAny: 'the service refused the credential' },
  [EXIT.upstream]: {
    ofAny: 'upstream failure: some units are missing; rerun to fetch them',
    ofRun: 'upstream failure; rerun to fetch what is missing',
  },
  [EXIT.quarantine]: {
    ofAny:
      'records were quarantined, the organization is not the expected one, a difference was found (also between an invoice and the warehouse), or a budget is exceeded',
    ofRun:
      'records were quarantined, a loss of stored rows is doubted, or the organization is not the expected one',
  },
  [EXIT.storage]: {
    ofAny: 'the warehouse could not be read or written, or it or the archive is not the one of the last run',
  },
  [EXIT.busy]: { ofAny: 'another run holds the warehouse' },
  [EXIT.interrupted]: { ofAny: 'stopped by SIGINT', ofRun: 'stopped by SIGINT; the next run resumes' },
  [EXIT.terminated]: { ofAny: 'stopped by SIGTERM', ofRun: 'stopped by SIGTERM; the next run resumes' },
};

/** Explains an exit code of a run, as the end of a sentence. */
export function describeExitCode(code: ExitCode): string {
  const { ofAny, ofRun = ofAny } = MEANING[code];
  return ofRun;
}

/** Explains an exit code of any command. */
export function explainExitCode(code: ExitCode): string {
  return MEANING[code].ofAny;
}

/** True for one of the exit codes of the command line. */
export function isExitCode(code: unknown): code is ExitCode {
  return PRECEDENCE.some((known) => known === code);
}

/** The exit codes of runs that were ended before they could succeed or fail: by a signal, or by another run. */
const UNDECIDED: ReadonlySet<unknown> = new Set<ExitCode>([EXIT.busy, EXIT.interrupted, EXIT.terminated]);

/** True if a run with this exit code neither succeeded nor failed. */
export function isUndecided(exitCode: unknown): boolean {
  return UNDECIDED.has(exitCode);
}

const NEEDS_PERSON: ReadonlySet<unknown> = new Set<ExitCode>([EXIT.usage, EXIT.credential, EXIT.storage]);

/** True if the next run will end with this exit code too, until a person changes something. */
export function needsPerson(exitCode: unknown): boolean {
  return NEEDS_PERSON.has(exitCode);
}
