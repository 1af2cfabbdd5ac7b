import type { OrganizationOutcome, RoundReport } from '../../../jobs/run-round.ts';
import { messageOf } from '../../core/errors.ts';
import { describeExitCode } from '../../core/exit-meaning.ts';
import { publicName, publicText } from '../../privacy/public-text.ts';

/** Services keep about this much of a ping's body. */
const SUMMARY_BYTES_MAX = 10_000;
/** Problems of one organization in a summary. */
const PROBLEMS_MAX = 10;
const ORGANIZATIONS_MAX = 100;
const SHORTENED = '\n…\n';

/** A round in a few lines for people outside, without texts of the service, keys, email addresses and user IDs. */
export function summarizeRound(round: RoundReport): string {
  const { command, exitCode, organizations } = round;
  const head = `daywalk ${command} ended with exit code ${exitCode}: ${describeExitCode(exitCode)}`;
  const lines = organizations.slice(0, ORGANIZATIONS_MAX).flatMap(linesOf);
  const more = organizations.length - ORGANIZATIONS_MAX;
  return bounded([head, ...lines, ...(more > 0 ? [`and ${more} more organizations`] : []), ''].join('\n'));
}

/** The name of an organization in messages. */
export function nameOfOutcome({ name, orgId }: Pick<OrganizationOutcome, 'name' | 'orgId'>): string {
  return publicName(name ?? orgId ?? 'the organization');
}

function linesOf(outcome: OrganizationOutcome): string[] {
  const { exitCode, report, error } = outcome;
  const who = nameOfOutcome(outcome);
  if (report === null) {
    const why = error === null || error === undefined ? '' : `: ${publicText(messageOf(error))}`;
    return [`${who}: exit code ${exitCode}; the run could not begin${why}`];
  }
  const { unitsDone, unitsFailed, unitsLeftOut, unitsDoubted, quarantined, rowsWritten, requests } = report;
  const counts = [
    `${unitsDone} units stored`,
    `${unitsFailed} failed`,
    `${unitsLeftOut} left out`,
    `${unitsDoubted} doubted`,
    `${quarantined} records quarantined`,
    `${rowsWritten} rows written`,
    `${requests} requests`,
  ];
  const problems = report.problems.slice(0, PROBLEMS_MAX).map(({ message }) => `  ${publicText(message)}`);
  return [`${who}: exit code ${exitCode}; ${counts.join(', ')}`, ...problems];
}

function bounded(text: string): string {
  if (Buffer.byteLength(text) <= SUMMARY_BYTES_MAX) return text;
  const room = SUMMARY_BYTES_MAX - Buffer.byteLength(SHORTENED);
  // A character that is cut in half becomes a replacement character, which is removed.
  const start = Buffer.from(text)
    .subarray(0, room)
    .toString('utf8')
    .replace(/\ufffd+$/, '');
  return start + SHORTENED;
}
