import { DAILY_STREAMS, type DailyStream } from '../../src/core/stream.ts';
import { parseNotes } from '../../src/judge/notes.ts';
import { sequence } from '../support/seed.ts';
import { isActive, isSame } from './content.ts';
import { Killed, Memory } from './memory.ts';
import { ModelRun } from './nightly.ts';
import { RULES, type Rules } from './rules.ts';
import { dayAt, Truth, type World } from './world.ts';

/** All nights of a world, one after the other. Answers what is wrong in the end, and was on the way; `[]` is right. */
export function faultsOf(world: World, rules: Rules = RULES): string[] {
  const truth = new Truth(world);
  const memory = new Memory(rules);
  const random = sequence(world.seed + 1);
  const watched = new Set<string>();
  for (const run of world.runs) {
    const model = new ModelRun({ world, truth, memory, rules, random }, run);
    if (run.night >= world.quietFrom) for (const unit of model.lookedAt) watched.add(unit);
    try {
      model.perform();
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
    }
  }
  const night = world.runs.at(-1)?.night ?? 0;
  const end = { world, truth, memory, night, watched };
  return Array.from({ length: night }, (_, day) => day).flatMap((day) =>
    DAILY_STREAMS.flatMap((stream) => {
      const fault = faultOf(end, stream, day);
      const unit = memory.unit(stream, dayAt(day));
      const stored = memory.content(stream, dayAt(day)).text;
      const told = `"${stored}" for "${truth.of(stream, day, night).text}"`;
      const why = JSON.stringify([unit.state, unit.confirmed, unit.watch, unit.doubt, unit.doubtedAt]);
      return fault === null ? [] : [`${stream} ${day} (${dayAt(day)}): ${fault}: ${told} ${why}`];
    }),
  );
}

interface End {
  readonly world: World;
  readonly truth: Truth;
  readonly memory: Memory;
  readonly night: number;
  /** Units that were looked at, row by row, in the honest nights. */
  readonly watched: ReadonlySet<string>;
}

/** What is wrong about a unit after the honest nights; null where nothing is. */
function faultOf(end: End, stream: DailyStream, day: number): string | null {
  const { truth, memory, night } = end;
  const unit = memory.unit(stream, dayAt(day));
  const isRight = isSame(memory.content(stream, dayAt(day)), truth.of(stream, day, night));
  if (unit.settledAt !== null) return isRight || isHidden(end, stream, day) ? null : 'settled, and wrong';
  if (unit.state === 'empty') return 'empty without being settled';
  return isToBeOpen(end, stream, day) ? null : 'not settled, for no reason';
}

/** What stays believed: users, and tokens behind the same sums, of days that nothing looks at row by row any more. */
function isHidden({ world, truth, memory, night, watched }: End, stream: DailyStream, day: number): boolean {
  if (watched.has(`${stream} ${day}`)) return false;
  if (stream === 'users') return true;
  if (stream !== 'tokens') return false;
  const sums = [memory.content(stream, dayAt(day)), truth.of(stream, day, night)].map((content) =>
    JSON.stringify([...content.sums].toSorted()),
  );
  return world.sums !== 'by-model' || sums[0] === sums[1];
}

/** True for a day that is young, an empty stream beside active ones, and users who are fewer than the active ones. */
function isToBeOpen({ truth, memory, night }: End, stream: DailyStream, day: number): boolean {
  if (night - day <= 4) return true;
  const honest = truth.of(stream, day, night);
  const others = DAILY_STREAMS.some((other) => isActive(truth.of(other, day, night)));
  if (!isActive(honest) && others && night - day <= 31) return true;
  const active = truth.of('activity', day, night).activeUsers ?? 0;
  const { shortOn = [] } = parseNotes(memory.unit(stream, dayAt(day)).watch);
  return stream === 'users' && (honest.activeUsers ?? 0) < active && shortOn.length < 7;
}
