import { EXTENSIONS_OF_LANGUAGE, LANGUAGES } from './catalog.ts';
import { type Draws, hash } from './hash.ts';
import { type Habits, spread } from './spread.ts';
import type { UserDay } from './user-day.ts';

const ASPECT = { language: 40 } as const;
/** Maximum number of languages per user. */
const LANGUAGES_PER_USER = 4;

/** Draws files, commits, pull requests, languages and extensions. The tool calls must be set. */
export function drawFiles(draws: Draws, habits: Habits & { without: number }, into: UserDay): void {
  const calls = into.toolCalls;
  into.filesCreated = draws.below(1 + calls / 9);
  into.filesEdited = draws.below(1 + calls / 3);
  into.commits = draws.below(1 + calls / 14);
  into.pullRequests = into.commits === 0 ? 0 : draws.below(1 + Math.min(4, into.commits));
  const files = into.filesCreated + into.filesEdited;
  spread(draws, files, into.languages, 1 + draws.below(LANGUAGES_PER_USER), (source) =>
    chooseLanguage(habits, source.below(LANGUAGES_PER_USER)),
  );
  spreadExtensions(draws, into);
}

/**
 * Chooses the user's n-th language. The first languages of the catalog are more common. The next language replaces a
 * vanished one.
 */
function chooseLanguage({ seed, user, without }: Habits & { without: number }, choice: number): number {
  const habit = hash(seed, user, ASPECT.language, choice);
  let language = Math.min(habit % LANGUAGES.length, (habit >>> 8) % LANGUAGES.length);
  for (let tries = 0; tries < LANGUAGES.length && ((without >>> language) & 1) === 1; tries++) {
    language = (language + 1) % LANGUAGES.length;
  }
  return language;
}

function spreadExtensions(draws: Draws, into: UserDay): void {
  into.extensions.fill(0);
  for (let language = 0; language < LANGUAGES.length; language++) {
    const count = into.languages[language] ?? 0;
    if (count === 0) continue;
    const [first, second] = EXTENSIONS_OF_LANGUAGE[language] ?? [0, 0];
    const minor = draws.below(1 + count / 3);
    into.extensions[first] = (into.extensions[first] ?? 0) + count - minor;
    into.extensions[second] = (into.extensions[second] ?? 0) + minor;
  }
}
