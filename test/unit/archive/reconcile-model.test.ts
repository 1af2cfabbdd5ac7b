// @module-tag campaign/answers

import { expect, test } from 'vitest';
import type { DayAnswer } from '../../../src/archive/answers.ts';
import { outcomeFrom } from '../../../src/archive/reconcile.ts';
import { type Random, SEED, sequence } from '../../support/random/seed.ts';
import { answersMax } from '../../support/suite/campaign-length.ts';

const WORLDS = answersMax(5_000, 1_000);
const NIGHTS = 12;

/** What a unit in the warehouse says. */
interface Unit {
  lastPulledAt: string | null;
  contentSha256: string | null;
  isCommitted: boolean;
}

/** A night: an answer is noted, committed, and its outcome noted, unless a kill comes between. */
interface Night {
  readonly answer: DayAnswer;
  readonly isCommitted: boolean;
  readonly said: 'committed' | 'dropped' | null;
}

const answerOf = (
  night: number,
  instant: number,
  { content, verdict }: Pick<DayAnswer, 'content' | 'verdict'>,
): DayAnswer => ({
  ...{
    kind: 'day',
    archive: '',
    id: night,
    org: 'org',
    run: `${night}`,
    writer: 'w',
    emails: 'keep',
    policy: '',
  },
  at: new Date(Date.UTC(2026, 0, 20 + instant)).toISOString(),
  ...{ unit: 'users 2026-01-18', outcome: 'undecided', verdict, object: null, rows: 0, content, own: true },
  ...{ requests: 1, today: '2026-01-20', settleDays: 3 },
});

/** Lives some nights. A night may be killed before its commit, or between the commit and the note of it. */
function live(random: Random): Night[] {
  const unit: Unit = { lastPulledAt: null, contentSha256: null, isCommitted: true };
  const nights: Night[] = [];
  let open: { answer: DayAnswer; isCommitted: boolean } | null = null;
  const pulls = new Set<number>();
  let version = 1;
  let instant = 0;
  let isAlone = true;
  for (let night = 0; night < NIGHTS; night += 1) {
    // Nothing can say what was committed after both an upgrade and a clock that stood still.
    if ((open === null || isAlone) && random() < 0.15) {
      // An upgrade adds a column: the same rows have another digest in the ledger, and in answers from now on.
      unit.contentSha256 &&= unit.contentSha256.replace(`version ${version}`, `version ${version + 1}`);
      version += 1;
    }
    // The next run decides first, before it changes the ledger.
    if (open !== null) {
      const view = unit.lastPulledAt === null ? undefined : { ...unit, cursor: null };
      const said = outcomeFrom(open.answer, view, isAlone);
      nights.push({ ...open, said });
      open = null;
    }
    const verdict = random() < 0.15 ? 'doubted' : 'believed';
    // Few contents, so that a later answer often has the content of an earlier one.
    const content = `content ${Math.floor(random() * 2)} version ${version}`;
    // A clock may stand still, but not where the content cannot show whose pull is the last.
    if (unit.contentSha256 === content || random() < 0.8) instant = night;
    isAlone = !pulls.has(instant);
    pulls.add(instant);
    const answer = answerOf(night, instant, { content, verdict });
    const isFailed = random() < 0.1;
    const isKilledEarly = random() < 0.3;
    const isCommitted = verdict === 'believed' && !isFailed && !isKilledEarly;
    if (isCommitted)
      Object.assign(unit, { lastPulledAt: answer.at, contentSha256: answer.content, isCommitted });
    const isKilledLate = isCommitted && random() < 0.3;
    if (isKilledEarly || isKilledLate) open = { answer, isCommitted };
    else nights.push({ answer, isCommitted, said: isCommitted ? 'committed' : 'dropped' });
    // A failure and a doubt are pulls too. They leave the content, and are recorded after the archive has noted the outcome.
    if (!isCommitted && !isKilledEarly) Object.assign(unit, { lastPulledAt: answer.at, isCommitted });
  }
  return nights;
}

test(`the ledger says what a kill kept from being noted, in ${WORLDS} worlds`, () => {
  process.stderr.write(`DAYWALK_SEED=${SEED} repeats the nights of the archive\n`);
  const seen = { committed: 0, dropped: 0 };
  for (let index = 0; index < WORLDS; index += 1) {
    for (const { answer, isCommitted, said } of live(sequence(SEED * 31 + index))) {
      expect({ index, at: answer.at, said }).toEqual({
        index,
        at: answer.at,
        said: isCommitted ? 'committed' : 'dropped',
      });
      seen[isCommitted ? 'committed' : 'dropped'] += 1;
    }
  }
  expect(Math.min(seen.committed, seen.dropped)).toBeGreaterThan(WORLDS);
});

test('what was replaced by a later pull stays undecided', () => {
  const answer = answerOf(1, 1, { content: 'content', verdict: 'believed' });
  const later = new Date(Date.UTC(2026, 1, 1)).toISOString();
  const unit = { lastPulledAt: later, contentSha256: 'content', cursor: null, isCommitted: true };
  expect(outcomeFrom(answer, unit, true)).toBeNull();
});
