import type { UtcDay } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import type { Stream } from '../core/stream.ts';
import type { EmailPolicy } from '../privacy/index.ts';
import { type Contents, dayAnswers, reportsAfter, walkSteps } from './contents.ts';
import type { AnswerLine, DayLine, ObjectRef } from './lines.ts';

/** The names of units that a message lists at most. */
const NAMES_MAX = 5;
/** The less a policy stores of an email, the stronger it is. */
const STRENGTH: Readonly<Record<EmailPolicy['mode'], number>> = { keep: 0, hash: 1, drop: 2 };

/** Which answers to replay. */
export interface ReplayScope {
  readonly firstDay: UtcDay;
  readonly lastDay: UtcDay;
  readonly streams: readonly Stream[];
  /** What was committed by this instant; null for the newest. */
  readonly asOf: Date | null;
  /** The present email policy. */
  readonly emails: EmailPolicy['mode'];
  readonly policy: string;
}

/** The answers of one organization to replay. */
export interface ChosenAnswers {
  readonly orgId: string;
  /** In the order of their pulls. */
  readonly days: readonly DayLine[];
  /** The objects of the reports, with the last step of the walk; null if none were committed. */
  readonly readiness: {
    readonly last: AnswerLine & { cursor: string };
    readonly objects: readonly ObjectRef[];
  } | null;
}

/**
 * Chooses the newest committed answer of every unit. Doubted and dropped answers are never chosen.
 * @throws {UsageError} if the archive cannot say what was committed, or if answers were archived under a weaker email policy.
 */
export function chooseAnswers(contents: Contents, scope: ReplayScope): ChosenAnswers[] {
  const asOf = scope.asOf?.toISOString() ?? null;
  if (asOf !== null && contents.prunedBefore !== null && asOf < contents.prunedBefore) {
    throw new UsageError(
      `the archive was thinned out before ${contents.prunedBefore}, and cannot say what was there on ${asOf}`,
      { hint: `ask for an instant from ${contents.prunedBefore} on` },
    );
  }
  const wanted = contents.answers.filter((line) => isIn(line, scope) && (asOf === null || line.at <= asOf));
  const possible = wanted.filter(
    (line) => contents.outcomeOf(line) !== 'dropped' && !(line.kind === 'day' && line.verdict === 'doubted'),
  );
  const organizations = [...new Set(possible.map(({ org }) => org))].sort();
  const days = [...dayAnswers(possible).values()].flatMap((lines) => lines.at(-1) ?? []);
  const steps = walkSteps(possible);
  const used = [...days, ...[...steps.values()].flat()];
  expectDecided(used, contents);
  expectPolicy(used, scope);
  return organizations.map((orgId) => {
    const own = steps.get(orgId) ?? [];
    const last = own.at(-1);
    return {
      orgId,
      days: days
        .filter(({ org }) => org === orgId)
        .toSorted((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at))),
      readiness: last === undefined ? null : { last, objects: [...reportsAfter(own).values()] },
    };
  });
}

function isIn(line: AnswerLine, { firstDay, lastDay, streams }: ReplayScope): boolean {
  if (line.kind !== 'day') return streams.includes('readiness');
  return streams.some((stream) => stream === line.stream) && line.day >= firstDay && line.day <= lastDay;
}

function expectDecided(lines: readonly AnswerLine[], contents: Contents): void {
  const open = lines.filter((line) => contents.outcomeOf(line) === 'undecided');
  if (open.length === 0) return;
  throw new UsageError(`the archive does not know whether these answers were committed: ${namesOf(open)}`, {
    hint: 'a kill came between; the next run with this archive, on the warehouse that it belongs to, finds out',
  });
}

function expectPolicy(lines: readonly AnswerLine[], { emails, policy }: ReplayScope): void {
  const weaker = lines.filter((line) => STRENGTH[line.emails] < STRENGTH[emails]);
  if (weaker.length > 0) {
    throw new UsageError(
      `these answers were archived when emails were stored by the policy ${weaker[0]?.emails}, and it is ${emails} now: ${namesOf(weaker)}`,
      { reason: 'weaker-emails', facts: { policy: weaker[0]?.emails ?? '' } },
    );
  }
  const otherSalt = lines.filter(
    (line) => line.emails === 'hash' && emails === 'hash' && line.policy !== policy,
  );
  if (otherSalt.length > 0) {
    throw new UsageError(`the emails of these answers were hashed with another salt: ${namesOf(otherSalt)}`, {
      hint: 'give the salt with which the answers were archived',
    });
  }
}

/** Names the units of answers in a message. */
export function namesOf(lines: readonly AnswerLine[]): string {
  const names = [
    ...new Set(lines.map((line) => (line.kind === 'day' ? `${line.stream} ${line.day}` : 'readiness'))),
  ];
  const shown = names.slice(0, NAMES_MAX).join(', ');
  return names.length > NAMES_MAX ? `${shown} and ${names.length - NAMES_MAX} more` : shown;
}
