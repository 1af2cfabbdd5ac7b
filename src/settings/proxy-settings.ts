import type { ProxyOptions } from '../api/http/connections.ts';
import { parseProxy } from '../api/proxy-address.ts';
import { maskUserInfo } from './mask-url.ts';
import { setting } from './setting.ts';
import type { SettingReader } from './setting-reader.ts';

/** The proxy settings, with the variable names that other programs use too. */
export const PROXY_SETTINGS = {
  httpsProxy: setting({
    env: 'HTTPS_PROXY',
    flag: null,
    placeholder: 'url',
    doc: 'the proxy for requests to other machines; loopback hosts are always reached directly',
    fallback: null,
    fallbackDoc: 'HTTP_PROXY',
    example: 'http://proxy.example.com:3128',
    parse: parseProxy,
    show: maskUserInfo,
  }),
  httpProxy: setting({
    env: 'HTTP_PROXY',
    flag: null,
    placeholder: 'url',
    doc: 'the same, used if HTTPS_PROXY is not set',
    fallback: null,
    fallbackDoc: 'none',
    example: 'http://proxy.example.com:3128',
    parse: parseProxy,
    show: maskUserInfo,
  }),
  noProxy: setting({
    env: 'NO_PROXY',
    flag: null,
    placeholder: 'hosts',
    doc: 'hosts that are reached without the proxy, with their subdomains; * for all',
    fallback: null,
    fallbackDoc: 'none',
    example: '.example.com,10.0.0.7',
    parse: String,
  }),
} as const;

const NAMES = Object.values(PROXY_SETTINGS).map(({ env }) => env);

/** Returns the environment with the lower-case names of the proxy variables preferred, as in other programs. */
export function withProxyNames<Env extends Readonly<Record<string, string | undefined>>>(
  env: Env,
): Readonly<Record<string, string | undefined>> {
  const lower = NAMES.flatMap((name) => {
    const value = env[name.toLowerCase()];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...env, ...Object.fromEntries(lower) };
}

/** Reads the proxy; null if there is none. */
export function readProxy(reader: SettingReader): ProxyOptions | null {
  const https = reader.read(PROXY_SETTINGS.httpsProxy);
  const http = reader.read(PROXY_SETTINGS.httpProxy);
  const noProxy = reader.read(PROXY_SETTINGS.noProxy) ?? '';
  const url = https ?? http;
  return url === null ? null : { url, noProxy };
}
