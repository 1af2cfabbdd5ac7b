import { EXIT, type ExitCode, explainExitCode, PRECEDENCE } from '../src/core/exit-code.ts';

/** What to do about an exit code, for docs/operations.md, and its meaning where the page says more than the help. */
const ADVICE: Readonly<Record<ExitCode, { readonly meaning?: string; readonly remedy: string }>> = {
  [EXIT.ok]: { remedy: 'nothing' },
  [EXIT.defect]: {
    meaning: 'a defect in Daywalk; of `status --health`: unhealthy',
    remedy:
      'report a defect with its message; `DAYWALK_DEBUG=1` adds the stack trace. [Health](#health) explains the other',
  },
  [EXIT.usage]: { remedy: 'read the message' },
  [EXIT.credential]: {
    meaning: 'the service refused the credential (401, 403)',
    remedy:
      'check the key and the role of its user. If only readiness was refused, the analytics are stored; set `DAYWALK_APP_API_KEY`',
  },
  [EXIT.upstream]: {
    meaning:
      'upstream failure: some units failed or were left out; of `status --max-age`: the last complete run is older',
    remedy: 'run again later, it resumes; `daywalk status` lists what is missing',
  },
  [EXIT.quarantine]: {
    meaning:
      'something is in quarantine, a loss is doubted or another [state with this code](trust.md#what-is-open) is open; the organization is [not the expected one](trust.md#the-organization-must-be-the-expected-one); `verify`, `copy`, `archive verify` or `invoice check` found a difference or damage; or a budget is exceeded',
    remedy: 'see [When something is missing](#when-something-is-missing); other commands say what they found',
  },
  [EXIT.storage]: {
    meaning:
      'the warehouse cannot be read or written, or it or the archive is [not the one of the last run](identity.md)',
    remedy: 'free disk space, fix permissions, or put back what was there; then run again',
  },
  [EXIT.busy]: {
    meaning: 'another run, or a program that reads the file, holds the warehouse',
    remedy: 'of a run nothing; otherwise repeat the command, or use `--wait`',
  },
  [EXIT.interrupted]: { remedy: 'nothing, the next run resumes' },
  [EXIT.terminated]: { remedy: 'nothing, the next run resumes' },
};

/** The exit codes as a Markdown table, with their precedence. */
export function exitCodesMarkdown(): string {
  const rows = PRECEDENCE.toSorted((a, b) => a - b).map((code) => {
    const { meaning = explainExitCode(code), remedy } = ADVICE[code];
    return `| ${code} | ${meaning} | ${remedy} |`;
  });
  const ranked = PRECEDENCE.filter((code) => code !== EXIT.ok).join(', ');
  return [
    ...['| code | meaning | what to do |', '|---|---|---|', ...rows, ''],
    `If several apply, the order of precedence is ${ranked}.`,
    '',
  ].join('\n');
}
