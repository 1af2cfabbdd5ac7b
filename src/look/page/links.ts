import type { Cell } from './page.ts';

/** Longer addresses are refused by servers and proxies. */
const PATH_CHARACTERS_MAX = 2_000;

/** A link to the page of one thing, for example `/people/user_1`; plain text if no address can name the thing. */
export function linkTo(folder: '/people' | '/teams', subject: string, text: string): Cell {
  const path = pathOf(folder, subject);
  return path === undefined ? { kind: 'text', text } : { kind: 'link', text, path };
}

function pathOf(folder: string, subject: string): string | undefined {
  // Browsers resolve dots, and encoding them does not change that.
  if (subject === '' || subject === '.' || subject === '..' || !subject.isWellFormed()) return undefined;
  const path = `${folder}/${encodeURIComponent(subject)}`;
  return path.length > PATH_CHARACTERS_MAX ? undefined : path;
}
