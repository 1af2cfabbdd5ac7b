import type { Secrets } from './secrets.ts';

/** Shorter texts occur by chance. */
const CHARACTERS_MIN = 6;
/** A number of fewer digits can be a count of something. */
const DIGITS_MIN = 10;
/** Pages cut long texts; so much of one is enough to find it. */
const CHARACTERS_COMPARED = 60;

/**
 * Looks for texts that must not be in a document, whatever their case. Returns the first one's kind; null if there is none.
 *
 * Texts that are ordinary words are not looked for: they would stop reports in which nobody is named. So a text counts if it
 * has {@link CHARACTERS_MIN} characters and something besides letters; one of digits alone needs {@link DIGITS_MIN}.
 */
export function findSecret(html: string, secrets: readonly Secrets[]): { readonly kind: string } | null {
  const text = plainText(html);
  const byStart = new Map<string, { readonly wanted: string; readonly kind: string }[]>();
  for (const { kind, texts } of secrets) {
    for (const secret of texts) {
      if (!isTelling(secret)) continue;
      const wanted = secret.toLowerCase().trim().slice(0, CHARACTERS_COMPARED);
      const start = wanted.slice(0, CHARACTERS_MIN);
      const known = byStart.get(start);
      if (known === undefined) byStart.set(start, [{ wanted, kind }]);
      else known.push({ wanted, kind });
    }
  }
  for (let index = 0; index + CHARACTERS_MIN <= text.length; index += 1) {
    const candidates = byStart.get(text.slice(index, index + CHARACTERS_MIN));
    const found = candidates?.find(({ wanted }) => text.startsWith(wanted, index));
    if (found !== undefined) return { kind: found.kind };
  }
  return null;
}

/** True for a text that is no ordinary word. */
export function isTelling(secret: string): boolean {
  const text = secret.trim();
  if (/^\d+$/.test(text)) return text.length >= DIGITS_MIN;
  return text.length >= CHARACTERS_MIN && !/^\p{L}+$/u.test(text);
}

/** The text of a document as people and programs read it, in lower case: without character references, with single quotes. */
function plainText(html: string): string {
  return html
    .replaceAll(/&#(\d+);/g, (_, code: string) => characterOf(Number(code)))
    .replaceAll(/&#x([\da-f]+);/gi, (_, code: string) => characterOf(Number.parseInt(code, 16)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&nbsp;', '\u00a0')
    .replaceAll('&amp;', '&')
    .replaceAll("''", "'")
    .toLowerCase();
}

function characterOf(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : '';
}
