/** The most characters of a public text. */
const TEXT_CHARS_MAX = 600;
/** The most characters that are examined, so that a long text takes no time. */
const EXAMINED_CHARS_MAX = 20_000;
/** Replaces what is left out. */
const LEFT_OUT = '…';

/** Everything after a status may be a text of the service: its detail, its metadata, the type of its content. */
const ANSWERED = / answered (\d{3})(?!\d).*$/s;
/** Own words about an answer that is not an error. */
const OWN_ENDING = /(, not JSON|, which is not a full answer)$/;
/** The shape in which the service identifies a request. Whatever else it calls an ID is left out. */
const REQUEST_ID = /\(requestId (req_[A-Za-z0-9]{4,40})\)/;
const OTHER_REQUEST_ID = / ?\(requestId (?!req_[A-Za-z0-9]{4,40}\)).*$/s;

/** Own messages quote foreign texts, such as IDs, as JSON. The quotes around names of the API stay. */
const QUOTED = /"((?:[^"\\]|\\.)*)(?:"|$)/gs;
const API_FIELD = /^(?:data|meta|org_id|reports|pagination)$/;

/** The host of a URL may come from a redirect. */
const HOST =
  /(\bhttps?:\/\/)(?!(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?(?:[\s/?#,;)]|$))[^\s/?#,;)]*/gi;

/** A query, and the parameters that name no person. */
const QUERY = /\?[^\s"'()<>]*/g;
const SAFE_PARAMETER = /^(?:startDate|endDate|limit)=[\d-]{1,10}$/;

/** Characters between words. */
const SEPARATOR = /([\s"'“”‘’`,;()[\]{}<>=&?!]+)/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?Z$/;
/** Letters, or a number that is too short for an ID. */
const PLAIN_PART = /^(?:[A-Za-z]{1,20}|\d{1,6}|v\d)$/;
/** IDs of users without a digit. Names of columns begin in the same way. */
const USER_ID = /^(?:user|usr)[_-](?!(?:ids?|emails?|messages|daily|weekly|monthly|rows?)$)/i;

/** An email address, however it is encoded: no word with one of these signs is shown. */
const AT_SIGN = /@|%(?:25)*40|\\u0040|&#(?:64|x40);|&commat;/i;

/**
 * The part of a text that may leave the machine: no API key, email address or user ID, whatever the service wrote into the
 * text. Own words, days, statuses, paths and the IDs of requests stay. It does not search for known secrets or people, but
 * leaves out every place where a text of the service can be: after a status, in quotes, in parameters, in the host of a
 * URL; and words with digits in them. So a message must quote what the service wrote.
 */
export function publicText(text: string): string {
  const examined = text.slice(0, EXAMINED_CHARS_MAX);
  const own = examined.replace(ANSWERED, (_, status: string) => ` answered ${status}${endingOf(text)}`);
  const bare = own
    .replace(OTHER_REQUEST_ID, '')
    .replace(QUOTED, (quoted, text) => (API_FIELD.test(text) ? quoted : LEFT_OUT))
    .replace(HOST, `$1${LEFT_OUT}`);
  const words = bare.replace(QUERY, safeQuery).split(SEPARATOR);
  const shown = words.map((word) => (isPlain(word) ? word : LEFT_OUT)).join('');
  return shown.length <= TEXT_CHARS_MAX ? shown : `${shown.slice(0, TEXT_CHARS_MAX - 1)}${LEFT_OUT}`;
}

/** A name that a person gave, such as that of an organization or a team; without its email addresses. */
export function publicName(name: string): string {
  const words = name.slice(0, TEXT_CHARS_MAX).split(/(\s+)/);
  return words.map((word) => (AT_SIGN.test(word) ? LEFT_OUT : word)).join('');
}

/** What is kept of the text after a status. */
function endingOf(text: string): string {
  const end = text.slice(-EXAMINED_CHARS_MAX);
  const [, requestId] = REQUEST_ID.exec(end) ?? [];
  if (requestId !== undefined) return ` (requestId ${requestId})`;
  return OWN_ENDING.exec(end)?.[1] ?? '';
}

function safeQuery(query: string): string {
  const parameters = query.slice(1).split('&');
  return `?${parameters.map((parameter) => (SAFE_PARAMETER.test(parameter) ? parameter : LEFT_OUT)).join('&')}`;
}

function isPlain(word: string): boolean {
  if (SEPARATOR.test(word)) return true;
  if (/^[-*+./:|~^$]+$/.test(word)) return true;
  if (INSTANT.test(word) || /^req_[A-Za-z0-9]{4,40}$/.test(word)) return true;
  if (AT_SIGN.test(word) || USER_ID.test(word)) return false;
  return word.split(/[-/._:…]/).every((part) => part === '' || PLAIN_PART.test(part));
}
