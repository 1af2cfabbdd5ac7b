import { IDENTITIES } from '../schema/invariants.ts';
import { parseDay } from '../src/core/day.ts';
import { countIdentities } from '../src/judge/identities.ts';
import { withLook } from '../src/judge/looks.ts';
import { notesText } from '../src/judge/notes.ts';
import {
  applyCommit,
  applyDoubt,
  applyFailure,
  applyReopening,
  settleDay,
} from '../src/ledger/transitions.ts';
import { dayKey, type LedgerDay, pendingUnit, UNIT_STATES, type UnitState } from '../src/units/unit.ts';

const DAY = parseDay('2026-02-01');
const NIGHTS = ['2026-03-01', '2026-03-02', '2026-03-03'] as const;
const TODAY = parseDay(NIGHTS[2]);
const settling = { today: TODAY, settleDays: 3 };
const rule = { ...settling, identities: countIdentities(IDENTITIES, [], settling) };
const pulledAt = new Date(`${TODAY}T03:00:00Z`);
const unit = dayKey('org', { stream: 'tools', day: DAY });
const pull = { requests: 1, pulledAt, rule };

/** A unit in a state, which was seen on two nights. Answers with records in quarantine were no looks. */
function unitIn(state: UnitState): LedgerDay {
  const looks = NIGHTS.slice(0, 2).reduce(
    (known, night) => withLook(known, 'same', new Date(`${night}T03:00:00Z`)),
    {},
  );
  const watch = state === 'quarantined' ? null : notesText(looks);
  return { ...pendingUnit(unit), state, contentSha256: 'same', watch };
}

function answered(before: LedgerDay, state: 'loaded' | 'awaiting' | 'quarantined'): LedgerDay {
  const content = {
    tables: [],
    contentSha256: 'same',
    rows: 1,
    activeUsers: null,
    drift: [],
    quarantined: [],
  };
  return applyCommit(before, { ...unit, ...content, ...pull, state, isOwn: true, runId: 'run' });
}

function settled(after: LedgerDay, others: readonly LedgerDay[] = []): string {
  const [now = after] = settleDay([after], others, rule, new Set([after.stream]));
  return now.settledAt === null ? now.state : `${now.state}, settled (\`${now.confirmed}\`)`;
}

const active: LedgerDay = { ...unitIn('loaded'), stream: 'tokens' };

/** The third equal look at a unit that contradicts the users of its day; for the seventh day, or not yet. */
function oddUnit(before: LedgerDay, firstNight: string): string {
  const known = withLook({}, 'same', new Date(`${firstNight}T03:00:00Z`));
  const looks = withLook(known, 'same', new Date(`${NIGHTS[1]}T03:00:00Z`));
  const watch = before.state === 'quarantined' ? before.watch : notesText(looks);
  const seen = { ...before, stream: 'activity', watch } as const;
  const users: LedgerDay = { ...unitIn('loaded'), stream: 'users', activeUsers: 9 };
  return settled({ ...answered(seen, 'loaded'), activeUsers: 10 }, [users]);
}

/** What happens to a unit, by what a run finds out about it. */
const EVENTS: Readonly<Record<string, (before: LedgerDay) => string>> = {
  'third equal look with activity': (before) => settled(answered(before, 'loaded')),
  'the same without activity, all streams agree': (before) => settled(answered(before, 'awaiting')),
  'the same, another stream is active': (before) => settled(answered(before, 'awaiting'), [active]),
  'the same, against the numbers of another stream': (before) => oddUnit(before, NIGHTS[0]),
  'that for the seventh day': (before) => oddUnit(before, '2026-02-25'),
  'records in quarantine': (before) => settled(answered(before, 'quarantined')),
  'a loss': (before) =>
    applyDoubt(before, { unit, contentSha256: 'less', doubt: '{}', since: '', ...pull }).state,
  'a failure': (before) => applyFailure(before, { unit, state: 'failed', error: 'HTTP 500', ...pull }).state,
  'reopened by the watch': (before) => applyReopening(before).state,
};

/** Every state of a unit and what follows it, as a table of Markdown, from the functions that decide it. */
export function transitionsTable(): string {
  const names = Object.keys(EVENTS);
  const rows = UNIT_STATES.map((state) => {
    const cells = Object.values(EVENTS).map((apply) => apply(unitIn(state)));
    return `| \`${state}\` | ${cells.join(' | ')} |`;
  });
  const head = [`| before | ${names.join(' | ')} |`, `|---|${names.map(() => '---|').join('')}`];
  return `${[...head, ...rows].join('\n')}\n`;
}
