import { REDACTED } from './redact.ts';

// A password may hold any character, also a slash or an @ that should have been encoded: mask up to the last @.
const PASSWORD = /(\/\/[^\s/@:]*):\S*@/g;
const USER_INFO = /\/\/\S*@/g;
const PASSWORD_PARAMETER = /([?&](?:ssl)?password=)[^&#\s]*/gi;

/** Replaces the password in a URL, or in a text that was meant to be one. Keeps the user name. */
export function maskUrlPassword(text: string): string {
  return text.replace(PASSWORD, `$1:${REDACTED}@`).replace(PASSWORD_PARAMETER, `$1${REDACTED}`);
}

/** Like {@link maskUrlPassword}, but also replaces the user name: in a URL of the service it may be the key. */
export function maskUserInfo(text: string): string {
  return maskUrlPassword(text.replace(USER_INFO, `//${REDACTED}@`));
}

/** Returns the passwords in a URL, as written and decoded; none if the text is not a URL. */
export function passwordsOf(text: string): string[] {
  if (!URL.canParse(text)) return [];
  const url = new URL(text);
  const parameters = ['password', 'sslpassword'].map((name) => url.searchParams.get(name) ?? '');
  const written = [...parameters, url.password];
  return [...new Set([...written, ...written.map(decode)])].filter((password) => password !== '');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
