import { createHash } from 'node:crypto';

/** Longer names do not fit into every file system once they have an ending. */
const CHARACTERS_MAX = 60;
const DIGEST_CHARACTERS = 8;
/** Names that Windows keeps for devices, and the one of the list of reports. */
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d|index)$/;

/**
 * A file name for each team, safe on every file system and the same on each run: of lower-case letters, digits and hyphens.
 * Names that would be equal, empty or reserved get a part of their digest.
 */
export function fileNamesOf(teams: readonly string[]): ReadonlyMap<string, string> {
  const slugs = teams.map(slugOf);
  return new Map(
    teams.map((team) => {
      const slug = slugOf(team);
      const isOwn = isFree(slug) && slugs.filter((other) => other === slug).length === 1;
      return [team, `${isOwn ? slug : `${slug === '' ? 'team' : slug}-${digestOf(team)}`}.html`];
    }),
  );
}

/** A name that looks like one with a digest gets one too, so that it never is another team's. */
function isFree(slug: string): boolean {
  return slug !== '' && !RESERVED.test(slug) && !/-[\da-f]{8}$/.test(slug);
}

function slugOf(team: string): string {
  return team
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, CHARACTERS_MAX)
    .replaceAll(/^-+|-+$/g, '');
}

function digestOf(team: string): string {
  return createHash('sha256').update(team).digest('hex').slice(0, DIGEST_CHARACTERS);
}
