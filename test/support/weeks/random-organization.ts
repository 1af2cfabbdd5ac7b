import type { Groups, PersonWeek } from '../../../src/weeks/blocks.ts';
import { type Random, sequence } from '../random/seed.ts';

/** How large a random organization is. */
interface Size {
  readonly people: number;
  readonly teams: number;
  readonly models?: number;
  readonly languages?: number;
}

const LEVELS = ['auto-high', 'auto-low', 'manual', 'spec', 'auto-medium'];
const TIERS = ['standard', 'standard', 'thinking', 'standard', 'premium'];
const DAYS = 5;

/** A week of an organization that follows from a seed: few large groups and many small ones, and some people who move. */
export function randomWeek(
  seed: number,
  { people, teams, models = 8, languages = 12 }: Size,
): readonly PersonWeek[] {
  const random = sequence(seed);
  const one = (count: number, skew = 1.6) => Math.floor(count * random() ** skew);
  return Array.from({ length: people }, () => {
    const own = { team: `team ${one(teams, 1.3)}`, delegation_level: LEVELS[one(LEVELS.length, 2)] ?? '' };
    const later = random() < 0.01 ? { ...own, team: `team ${one(teams)}` } : own;
    const used = several(random, 2.5, () => one(models, 2));
    const written = several(random, 3, () => `language ${one(languages, 2)}`);
    const days = Array.from({ length: DAYS }, (_, day) => (day > 2 ? later : own)).filter(
      () => random() < 0.8,
    );
    const active = (days.length === 0 ? [own] : days).map((groups) =>
      random() < 0.85 ? groups : { ...groups, delegation_level: LEVELS[one(LEVELS.length, 1)] ?? '' },
    );
    return {
      days: distinct(active),
      credits: distinct(
        active.flatMap((groups) =>
          used
            .filter((_, index) => index === 0 || random() < 0.6)
            .map((model) => ({
              ...groups,
              tier: TIERS[model % TIERS.length] ?? '',
              model: `model ${model}`,
            })),
        ),
      ),
      files: distinct(active.flatMap((groups) => written.map((language) => ({ ...groups, language })))),
    };
  });
}

function several<Item>(random: Random, most: number, make: () => Item): Item[] {
  return Array.from({ length: 1 + Math.floor(random() * most) }, make);
}

function distinct(parts: readonly Groups[]): Groups[] {
  return [...new Map(parts.map((part) => [JSON.stringify(part), part])).values()];
}
