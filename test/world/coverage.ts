import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Alarms, NO_ALARMS } from './alarms.ts';
import { drawWorld, KINDS } from './events.ts';
import type { LivedWorld } from './workers.ts';

/** Which kinds of events have met in one world, and how many nights were lived. */
export class Coverage {
  /** Nights of this and the former campaigns. */
  nights = 0;
  /** Nights of this campaign. */
  nightsNow = 0;
  nextSeed: number;
  /** What honest services caused in this and the former campaigns. */
  honest: Alarms = NO_ALARMS;
  readonly #pairs = new Map<string, number>();

  constructor(nextSeed: number) {
    this.nextSeed = nextSeed;
  }

  /** What a file remembers; nothing without one, or of another set of kinds. */
  static read(path: string): Coverage {
    const coverage = new Coverage(1);
    try {
      const kept: unknown = JSON.parse(readFileSync(path, 'utf8'));
      if (typeof kept !== 'object' || kept === null || Reflect.get(kept, 'kinds') !== KINDS.join())
        return coverage;
      coverage.nextSeed = Number(Reflect.get(kept, 'nextSeed'));
      coverage.nights = Number(Reflect.get(kept, 'nights'));
      const { nights, alarms } = Reflect.get(kept, 'honest') ?? NO_ALARMS;
      coverage.honest = { nights: Number(nights), alarms: Number(alarms) };
      for (const [pair, count] of Object.entries(Reflect.get(kept, 'pairs')))
        coverage.#pairs.set(pair, Number(count));
    } catch {
      // The first campaign begins with the first world.
    }
    return coverage;
  }

  write(path: string): void {
    mkdirSync(dirname(path), { recursive: true });
    const { nextSeed, nights, honest } = this;
    const kept = { kinds: KINDS.join(), nextSeed, nights, honest, pairs: Object.fromEntries(this.#pairs) };
    writeFileSync(path, `${JSON.stringify(kept)}\n`);
  }

  takeSeed(): number {
    this.nextSeed += 1;
    return this.nextSeed - 1;
  }

  add({ seed, nights, fault, honest }: LivedWorld): void {
    this.honest = {
      nights: this.honest.nights + honest.nights,
      alarms: this.honest.alarms + honest.alarms,
    };
    this.nights += nights;
    this.nightsNow += nights;
    if (fault !== null) return;
    const kinds = drawWorld(seed).events.map(({ kind }) => kind);
    for (const [index, kind] of kinds.entries())
      for (const other of kinds.slice(index + 1)) {
        const pair = pairOf(kind, other);
        this.#pairs.set(pair, (this.#pairs.get(pair) ?? 0) + 1);
      }
  }

  describe(): string {
    const all = KINDS.length * (KINDS.length + 1) * 0.5;
    const { nights, alarms } = this.honest;
    const pairs = `${this.#pairs.size} of ${all} pairs of kinds have met, in ${this.nights} nights of all campaigns`;
    return `${pairs}; ${alarms} alarms in ${nights} nights of honest services`;
  }

  /** Pairs that never met. */
  unseen(): string[] {
    return KINDS.flatMap((kind, index) => KINDS.slice(index).map((other) => pairOf(kind, other))).filter(
      (pair) => !this.#pairs.has(pair),
    );
  }
}

function pairOf(a: string, b: string): string {
  return [a, b].toSorted().join(' + ');
}
