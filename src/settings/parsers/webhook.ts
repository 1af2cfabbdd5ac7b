import { UsageError } from '../../core/errors.ts';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Parses the address of a webhook, see {@link secretUrl}. */
export const parseWebhook = secretUrl('the webhook');

/** Parses the address that receives pings, see {@link secretUrl}. */
export const parsePingUrl = secretUrl('the ping URL');

/**
 * Creates a parser for an address that holds a secret: https, or http on this machine. It throws a {@link UsageError} for
 * any other address, which shows no part of it.
 */
function secretUrl(name: string): (text: string) => string {
  return (text) => parseSecretUrl(text, name);
}

function parseSecretUrl(text: string, name: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`${name} is not an http(s) URL`, {
      hint: 'copy the whole address, beginning with https://',
    });
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError(`${name} has credentials in it`, {
      hint: 'use an address without user and password',
    });
  }
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname)) {
    throw new UsageError(`${name} is http, and not on this machine`, {
      hint: 'use https; http is for loopback addresses only, because what is sent would be readable on the way',
    });
  }
  return url.href;
}
