/** A path of this server, for a redirect; `/` for anything that leads, or could lead, elsewhere: `//evil`, `/\\evil`. */
export function ownPath(text: string | undefined): string {
  if (text === undefined || !OWN.test(text) || !URL.canParse(text, ORIGIN)) return '/';
  const { origin, pathname, search } = new URL(text, ORIGIN);
  // Dots in a path may hide two slashes at its start: `/.//evil`.
  return origin === ORIGIN && OWN.test(pathname) ? `${pathname}${search}` : '/';
}

/** One slash, then nothing that a browser would drop or read as a second slash. */
const OWN = /^\/(?![/\\])[\x21-\x7e]*$/;
/** Stands for the own address. */
const ORIGIN = 'http://own.invalid';
