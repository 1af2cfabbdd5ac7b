/** Characters of a name before the @ that are recognized at most, and of a domain after it. */
const LOCAL_CHARS_MAX = 128;
const DOMAIN_CHARS_MAX = 255;
/** Characters before an @ in which the user info of a URL is looked for. */
const URL_CHARS_MAX = 1024;

/** Ways to write the @ of an address; all but the first occur in texts that another program has encoded. */
const AT = /@|%(?:25)*40|\\u0040|&#(?:64|[xX]40);|&commat;|＠/g;
const LOCAL = /[\p{L}\p{M}\p{N}.!$%'*+_~-]+$/u;
/** What stands before a name and does not belong to it: quotes, signs of a flag, and an escape of a URL that is no plus or dot. */
const BEFORE_LOCAL = /^(?:.*%(?:[013][\da-f]|2[\dacf]|5[b-e]|7[b-d]))?[.!$%'*+~-]*/i;
const DOMAIN = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}-]*(?:\.[\p{L}\p{M}\p{N}-]+)+/u;
/** The end of a domain of a mailbox: letters, at least two. */
const TOP_LEVEL = /\.(?:xn--[\w-]+|\p{L}[\p{L}\p{M}\p{N}-]*[\p{L}\p{N}])$/u;

/** What stands after an @ and is no domain: a version, a size of an image file, a unit of systemd. */
const VERSION = /^v?\d+(?:\.\d+)+(?:$|-|\.(?:tgz|tar|zip|gz|whl|jar|x)\b)/i;
const IMAGE_SIZE = /^\d+(?:\.\d+)?x?\.(?:png|jpe?g|gif|webp|svg|avif|pdf)$/i;
const SYSTEMD_UNIT = /\.(?:service|socket|target|timer|mount|automount|slice|scope|path|device|swap)$/;
/** Users of version control, whom no person is: `git@github.com:acme/api.git`. */
const NO_PERSON = /^(?:git|hg|svn)$/i;

/** The user info of a URL, up to its last @. */
const USER_INFO = /([a-z][a-z\d+.-]{0,31}:\/\/)([^\s/?#"'<>]{1,1024})@/gi;
const USER_INFO_BEFORE = /:\/\/[^\s/?#"'<>]*$/;
const MORE_USER_INFO = /^[^\s/?#"'<>@]*@/;
/** Tokens that stand alone in the user info. */
const TOKEN = /^(?:gh[pousr]_|github_pat_|glpat-|xox[abp]-)/;
const SECRET = '[secret]';

/** Base64 of any text with an @ has one of these, whatever stands before it. */
const BASE64_AT = 'Q[A-P]|[EUk0][A-D]|[BFJNRVZdhlptx159]A';
const MAY_BE_BASE64 = new RegExp(BASE64_AT);
const BASE64_TOKEN = /[A-Za-z\d+/_-]{8,4096}={0,2}/g;
const PRINTABLE = /^[\p{L}\p{M}\p{N}\x20-\x7e]+$/u;

/**
 * What a JSON text has where it may hold an address: an @ in any form, the name of a field of addresses, or Base64. One pattern for
 * all of them would take twice the time.
 */
const HINTS: readonly RegExp[] = [AT.source, '[Ee]-?[Mm][Aa][Ii][Ll]', BASE64_AT].map(
  (source) => new RegExp(source, 'g'),
);

/** Finds where a text may hold an address. The positions grow. */
export class AddressHints {
  readonly #text: string;
  readonly #next: number[];

  constructor(text: string) {
    this.#text = text;
    this.#next = HINTS.map((hint) => positionOf(hint, text, 0));
  }

  /** The first position from another one on; -1 for none. */
  from(position: number): number {
    let first = -1;
    for (const [index, hint] of HINTS.entries()) {
      let next = this.#next[index] ?? -1;
      if (next >= 0 && next < position) {
        next = positionOf(hint, this.#text, position);
        this.#next[index] = next;
      }
      if (next >= 0 && (first < 0 || next < first)) first = next;
    }
    return first;
  }
}

function positionOf(hint: RegExp, text: string, from: number): number {
  hint.lastIndex = from;
  return hint.exec(text)?.index ?? -1;
}

/** What an address becomes; undefined if it stays as it is written. */
type Replace = (address: string) => string | undefined;

/**
 * Replaces the email addresses in a text. See docs/privacy.md for the forms that are recognized, and for the texts that only
 * look like an address and stay.
 */
export function replaceAddresses(text: string, replace: Replace): string {
  const plain = replaceWritten(text, replace);
  return MAY_BE_BASE64.test(plain) ? replaceEncoded(plain, replace) : plain;
}

/** Searches around each @ only: a pattern over the whole text would need quadratic time. */
function replaceWritten(text: string, replace: Replace): string {
  let done = '';
  let from = 0;
  AT.lastIndex = 0;
  for (let match = AT.exec(text); match !== null; match = AT.exec(text)) {
    const found = addressAt(text, { at: match.index, sign: match[0], from });
    const after = found === undefined ? undefined : replace(found.address);
    if (found === undefined || after === undefined) continue;
    done += text.slice(from, found.start) + after;
    from = found.end;
    AT.lastIndex = from;
  }
  return from === 0 ? text : done + text.slice(from);
}

/** The address around an @; undefined if it belongs to none. @param place.from where the text before it ends */
function addressAt(
  text: string,
  { at, sign, from }: { readonly at: number; readonly sign: string; readonly from: number },
): { readonly start: number; readonly end: number; readonly address: string } | undefined {
  const after = at + sign.length;
  const domain = domainIn(text.slice(after, after + DOMAIN_CHARS_MAX));
  if (domain === undefined) return undefined;
  const before = text.slice(Math.max(from, at - LOCAL_CHARS_MAX), at);
  // The backslash of an escaped @ belongs to the @.
  const written = LOCAL.exec(before.replace(/\\+$/, ''))?.[0] ?? '';
  const local = written.replace(BEFORE_LOCAL, '');
  if (local === '' || NO_PERSON.test(local)) return undefined;
  const isUserInfo = () =>
    USER_INFO_BEFORE.test(text.slice(Math.max(0, at - URL_CHARS_MAX), at)) &&
    !MORE_USER_INFO.test(text.slice(after, after + URL_CHARS_MAX));
  if (sign === '@' && isUserInfo()) return undefined;
  const start = at - (before.length - before.lastIndexOf(local));
  return { start, end: after + domain.length, address: `${decoded(local)}@${domain}` };
}

/** The domain at the beginning of a text; undefined if it is none of a mailbox. */
function domainIn(text: string): string | undefined {
  let domain = DOMAIN.exec(text)?.[0];
  if (domain === undefined || VERSION.test(domain) || IMAGE_SIZE.test(domain) || SYSTEMD_UNIT.test(domain))
    return undefined;
  while (!TOP_LEVEL.test(domain)) {
    const end = domain.lastIndexOf('.');
    if (end < 0) return undefined;
    domain = domain.slice(0, end);
  }
  return domain;
}

function decoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The text without the passwords, and the well-known tokens, in the user info of its URLs. */
export function withoutSecrets(text: string): string {
  if (!text.includes('://') || !text.includes('@')) return text;
  return text.replace(USER_INFO, (whole, scheme: string, info: string) => {
    const colon = info.indexOf(':');
    if (colon >= 0) return `${scheme}${info.slice(0, colon)}:${SECRET}@`;
    return TOKEN.test(info) ? `${scheme}${SECRET}@` : whole;
  });
}

/** Replaces whole words of Base64 whose text holds an address; a part of a path may be one too. */
function replaceEncoded(text: string, replace: Replace): string {
  const replaced = (word: string) => {
    if (!MAY_BE_BASE64.test(word)) return word;
    const plain = Buffer.from(word, 'base64').toString('utf8');
    if (!plain.includes('@') || !PRINTABLE.test(plain)) return word;
    let first: string | undefined;
    replaceWritten(plain, (address) => {
      first ??= replace(address);
      return undefined;
    });
    return first ?? word;
  };
  return text.replace(BASE64_TOKEN, (word) => {
    const whole = replaced(word);
    return whole === word && word.includes('/') ? word.split('/').map(replaced).join('/') : whole;
  });
}

/** Replaces an address that is dropped. */
export const DROPPED = '[dropped]';

/** Half of the digits of a SHA-256: nobody finds two values with the same. */
export const PSEUDONYM_DIGITS = 32;
const PSEUDONYM = new RegExp(`^erased-[0-9a-f]{${PSEUDONYM_DIGITS}}$`);

/** A pattern of SQL's LIKE for what replaces an erased value. */
export const PSEUDONYM_LIKE = `erased-${'_'.repeat(PSEUDONYM_DIGITS)}`;

/** True for what replaces an erased value. */
export function isPseudonym(text: string): boolean {
  return PSEUDONYM.test(text);
}
