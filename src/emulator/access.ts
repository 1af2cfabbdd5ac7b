import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Refusal } from './response.ts';

/** A Host header that means this machine, with any port. */
const LOOPBACK_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i;

/** Decides who may see and change the emulator itself. */
export interface Access {
  /** 403 for a foreign Host or Origin, 401 without the token, null for a request that may pass. */
  refusalOf(request: IncomingMessage): Refusal | null;
}

/**
 * Without a token, requests must use the name of this machine. A browser that was led here by another name, or by a page of
 * another origin, is refused, so that no web page can read the keys. With a token, any name is accepted, and the token is
 * needed: as a bearer credential, or as the password that a browser asks for.
 */
export function openAccess(token: string | null): Access {
  return {
    refusalOf({ headers }) {
      const { host = '', origin, authorization = '' } = headers;
      if ((token === null && !LOOPBACK_HOST.test(host)) || !isOwnOrigin(origin, host, token !== null)) {
        const detail = 'use 127.0.0.1, [::1] or localhost as the host, and no web page of another origin';
        return new Refusal(403, detail);
      }
      if (token === null || isSame(credentialOf(authorization), token)) return null;
      return new Refusal(401, 'send the token of the emulator: Authorization: Bearer <TOKEN>', {
        'www-authenticate': 'Basic realm="Daywalk emulator", charset="UTF-8"',
      });
    },
  };
}

/** Browsers send the Origin of a page that sends a form or a script's request. A proxy may serve this host by https. */
function isOwnOrigin(origin: string | undefined, host: string, mayBeHttps: boolean): boolean {
  const own = [`http://${host}`, ...(mayBeHttps ? [`https://${host}`] : [])];
  return origin === undefined || own.some((url) => url.toLowerCase() === origin.toLowerCase());
}

function credentialOf(authorization: string): string {
  const [, scheme = '', value = ''] = /^(\w+) +(.*)$/.exec(authorization) ?? [];
  if (scheme.toLowerCase() === 'bearer') return value.trim();
  if (scheme.toLowerCase() !== 'basic') return '';
  const pair = Buffer.from(value, 'base64').toString();
  return pair.slice(pair.indexOf(':') + 1);
}

/** Compares digests, which have one length, so that the time says nothing about the token. */
function isSame(given: string, token: string): boolean {
  const [first, second] = [given, token].map((text) => createHash('sha256').update(text).digest());
  return first !== undefined && second !== undefined && timingSafeEqual(first, second);
}
