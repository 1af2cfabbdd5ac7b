import { UsageError } from '../../core/errors.ts';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Parses the address of a webhook: https, or http on this machine. Chat services put a secret into the address, so no
 * error shows any part of it.
 * @throws {UsageError} for any other address
 */
export function parseWebhook(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError('the webhook is not an http(s) URL', {
      hint: 'copy the whole address, beginning with https://',
    });
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError('the webhook has credentials in it', {
      hint: 'use an address without user and password',
    });
  }
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname)) {
    throw new UsageError('the webhook is http, and not on this machine', {
      hint: 'use https; http is for loopback addresses only, because what is sent would be readable on the way',
    });
  }
  return url.href;
}
