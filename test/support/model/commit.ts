import type { UtcDay } from '../../../src/core/day.ts';
import type { SettleRule } from '../../../src/judge/agreement.ts';
import type { DayUnit } from '../../../src/units/unit.ts';
import { type Content, digestOf, isActive } from './content.ts';
import { type ModelCommit, ORG } from './memory.ts';

export interface Answered {
  readonly isOwn: boolean;
  /** A record of it was quarantined. */
  readonly isMalformed: boolean;
  /** The day on which the record first came that is held. */
  readonly heldSince?: UtcDay | undefined;
  readonly basedOn: string | null;
  readonly rule: SettleRule;
  readonly now: Date;
}

/** Builds the commit of a day. The content represents its rows; the tables stay empty. */
export function commitOf(
  { stream, day }: DayUnit,
  content: Content,
  { isOwn, isMalformed, heldSince, basedOn, rule, now }: Answered,
): ModelCommit {
  const state = isActive(content) ? 'loaded' : 'awaiting';
  return {
    kind: 'day',
    orgId: ORG,
    stream,
    day,
    content,
    tables: [],
    contentSha256: digestOf(content),
    state: isMalformed ? 'quarantined' : state,
    rule,
    isOwn,
    activeUsers: content.activeUsers,
    figures: isMalformed ? undefined : content.figures,
    runId: now.toISOString(),
    quarantined: [],
    heldSince,
    drift: [],
    requests: 1,
    pulledAt: now,
    basedOn,
  };
}
