import { isIP } from 'node:net';
import { UsageError } from './errors.ts';

/** Where a server listens. */
export interface ListenAddress {
  /** A name or an IP address; IPv6 without brackets. */
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
}

const PORT_MAX = 65_535;
const SHAPE = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/;
const NAME = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i;

/**
 * Parses `HOST:PORT`; IPv6 addresses stand in brackets.
 * @throws {UsageError} if it is something else
 */
export function parseListenAddress(text: string): ListenAddress {
  const [, ipv6, name, digits = ''] = SHAPE.exec(text) ?? [];
  const host = ipv6 ?? name ?? '';
  const isHost = ipv6 === undefined ? isIP(host) === 4 || NAME.test(host) : isIP(ipv6) === 6;
  if (isHost && Number(digits) <= PORT_MAX) return { host, port: Number(digits) };
  throw new UsageError(`"${text}" is not an address to listen on`, {
    hint: 'write HOST:PORT, for example 127.0.0.1:4000 or [::1]:4000',
  });
}

/** The address as it stands in a URL: `[::1]:4000`. */
export function formatListenAddress({ host, port }: ListenAddress): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** True for IP addresses that only this machine can reach. */
export function isLoopback(ip: string): boolean {
  return /^(::ffff:)?127(\.\d{1,3}){3}$/i.test(ip) || ip === '::1';
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Matches a path that requests add to the URL by themselves. */
const API_PATH = /\/api\/(v0|v1|organization)(\/.*)?$/;

/** True for the name or address of this machine, as a URL has it. */
export function isLoopbackHost(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

/**
 * The origin (with a path prefix, if any) that `text` names, without a trailing slash. Only https is allowed, and http
 * on loopback: otherwise the key would cross the network in plain text.
 * @throws {UsageError} when it is not such a URL, or carries credentials, a query or a fragment.
 */
export function parseOrigin(text: string, name: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`${name} is not an http(s) URL`, { hint: 'write it like https://api.example.com' });
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError(`${name} has credentials in it`, {
      hint: 'remove them; set the API key with its own setting',
    });
  }
  if (url.search !== '' || url.hash !== '') {
    throw new UsageError(`${name} has a query or a fragment`, {
      hint: 'write only the scheme, the host and the port',
    });
  }
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname)) {
    throw new UsageError(`${name} is http, and ${url.hostname} is not this machine`, {
      hint: 'use https; http is for loopback addresses only, because the API key would be readable on the way',
    });
  }
  const api = API_PATH.exec(url.pathname);
  if (api !== null) {
    throw new UsageError(`${name} has a path of the API in it: ${api[0]}`, {
      hint: `write it without: ${url.origin}${url.pathname.slice(0, api.index)}`,
    });
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

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
