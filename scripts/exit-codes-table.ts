import { EXIT, type ExitCode, explainExitCode, PRECEDENCE } from '../src/core/exit-code.ts';

/** What to do about an exit code, for docs/operations.md, and its meaning where the page says more than the help. */
const ADVICE: Readonly<Record<ExitCode, { readonly meaning?: string; readonly remedy: string }>> = {
  [EXIT.ok]: { remedy: 'nothing' },
  [EXIT.defect]: {
    meaning: 'a defect in Daywalk',
    remedy: 'report it with the message; `DAYWALK_DEBUG=1` adds the stack trace',
  },
  [EXIT.usage]: { remedy: 'read the message' },
  [EXIT.credential]: {
    meaning: 'the service refused the credential (401, 403)',
    remedy:
      'check the key and the role of its user. If only readiness was refused, the analytics are stored; set `DAYWALK_APP_API_KEY`',
  },
  [EXIT.upstream]: {
    meaning: 'upstream failure: some units failed or were left out',
    remedy: 'run again later, it resumes; `daywalk status` lists what is missing',
  },
  [EXIT.quarantine]: {
    meaning:
      'something is in quarantine, a loss is doubted, the organization is [not the expected one](trust.md#the-organization-must-be-the-expected-one), or `verify`, `copy` or `invoice check` found a difference',
    remedy: 'see [When something is missing](#when-something-is-missing)',
  },
  [EXIT.storage]: {
    meaning: 'the warehouse cannot be read or written',
    remedy: 'free disk space or fix permissions, then run again',
  },
  [EXIT.busy]: { remedy: 'nothing, or use `--wait`' },
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
