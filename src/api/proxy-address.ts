import { UsageError } from '../core/errors.ts';

/**
 * The address of a proxy, http or https; without a scheme it is http, as in other programs.
 * @throws {UsageError} for any other text. The text may hold a password, so no error shows any part of it.
 */
export function parseProxy(text: string): string {
  const address = text.includes('://') ? text : `http://${text}`;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.hostname !== '') return url.href;
  throw new UsageError('the proxy is not an http(s) URL', {
    hint: 'write it like http://proxy.example.com:3128, or unset it for daywalk',
  });
}
