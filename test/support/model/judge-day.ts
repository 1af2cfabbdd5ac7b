import { parseDoubt, type StandingDoubt } from '../../../src/judge/doubt.ts';
import { equalLooks, LOOKS, withLook } from '../../../src/judge/looks.ts';
import { parseNotes } from '../../../src/judge/notes.ts';
import type { ModelCommit } from './memory.ts';
import type { Nightly } from './nightly.ts';

/** Decides whether a day may be stored as it was answered, as `judgeDay` does over the rows of a database. */
export function judged(
  { memory, rules }: Pick<Nightly, 'memory' | 'rules'>,
  commit: ModelCommit,
  { active: known, ...run }: { active: number | null; isActiveDue: boolean; acceptsLoss: boolean; now: Date },
): 'believe' | 'request-alone' | 'request-later' | StandingDoubt {
  const { stream, day, content, isOwn } = commit;
  const { isActiveDue, acceptsLoss, now } = run;
  const unit = memory.unit(stream, day);
  if (unit.rows === 0 || unit.contentSha256 === commit.contentSha256) return 'believe';
  const stored = memory.content(stream, day).keys;
  const present = new Set(content.keys);
  const missing = stored.flatMap((key, index) => (present.has(key) ? [] : [index]));
  const active = isActiveDue ? Number.POSITIVE_INFINITY : known;
  const added = present.size - (stored.length - missing.length);
  const users = { answered: commit.activeUsers ?? 0, added, active };
  const counts = { missing, stored: stored.length, setAside: 0 };
  const loss = rules.lossOf(stream === 'users' ? { ...counts, users } : counts);
  if (loss === null) return 'believe';
  if ((loss.rule === 'loss-of-users' || loss.rule === 'leaver') && isActiveDue) return 'request-later';
  const looks = withLook(parseNotes(unit.watch), commit.contentSha256, now);
  const isSeen = loss.rule === 'leaver' && equalLooks(looks, commit.contentSha256) >= LOOKS;
  const standing = parseDoubt(unit.doubt, unit.doubtedAt);
  const isDecisive = standing === null || acceptsLoss || isSeen || rules.isDue(standing, now);
  if (!isOwn && isDecisive) return 'request-alone';
  if (isSeen) return 'believe';
  const weighed = rules.weighLoss(standing, loss, { now, acceptsLoss });
  return weighed.verdict === 'accept' ? 'believe' : weighed.doubt;
}
