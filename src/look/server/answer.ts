import { createHash } from 'node:crypto';
import { html } from 'hono/html';
import { styleSheet } from '../style.ts';

/** An answer of the server before it is sent. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** An HTML document. */
export function htmlAnswer(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return { status, body, headers: { 'content-type': 'text/html; charset=utf-8', ...headers } };
}

/** Sends the browser to another path, with a GET. */
export function redirect(path: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status: 303, body: '', headers: { location: path, ...headers } };
}

/** The answer as the server library takes it. */
export function responseOf({ status, body, headers }: Answer): Response {
  return new Response(status === 303 || status === 304 ? null : body, { status, headers: { ...headers } });
}

/**
 * The headers of every answer: nothing from other places is loaded, no other site may frame or read a page, and no address
 * of a page, which may name people, leaves the browser.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "img-src 'self' data:",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'x-robots-tag': 'noindex',
};

/** Numbers of people are not left in a cache on the way or on a disk. */
export const NOT_STORED = 'private, no-store';

import type { Markup } from '../html/text.ts';

/** A page that says one thing, where no page of the dashboard can be shown. */
interface Message {
  readonly heading: string;
  /** What happened, as a sentence. */
  readonly text: string;
  /** What to do, as a sentence. */
  readonly remedy?: string | undefined;
  /** Path of the style sheet. */
  readonly style: string;
}

/** A message as a document. */
export function messageHtml({ heading, text, remedy, style }: Message): Markup {
  return documentHtml({
    heading,
    style,
    body: html`<p class="sentence">${text}</p>${remedy === undefined ? '' : html`<p>${remedy}</p>`}`,
  });
}

/** The form that asks for the token. */
interface LoginForm {
  /** Where to go after it. */
  readonly next: string;
  /** Why the last attempt failed, as a sentence. */
  readonly problem?: string | undefined;
  readonly style: string;
}

/** The form of the login as a document. */
export function loginHtml({ next, problem, style }: LoginForm): Markup {
  const refused =
    problem === undefined ? '' : html`<p class="problem" id="problem" role="alert">${problem}</p>`;
  return documentHtml({
    heading: 'Log in',
    style,
    body: html`<p class="sentence">Whoever started this dashboard chose its token and can give it to you.</p>
${refused}<form class="login" method="post" action="/login">
<input type="hidden" name="next" value="${next}">
<p><label for="token">Token of this dashboard</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus${problem === undefined ? '' : html` aria-invalid="true" aria-describedby="problem"`}></p>
<p><button type="submit">Log in</button></p>
</form>`,
  });
}

function documentHtml({ heading, style, body }: { heading: string; style: string; body: Markup }): Markup {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">
<title>${heading} · Daywalk</title><link rel="stylesheet" href="${style}"></head>
<body><header class="top"><div class="wide"><nav aria-label="Pages"><a class="brand" href="/">Daywalk</a></nav></div></header>
<main id="content" class="wide message"><h1>${heading}</h1>
${body}</main></body></html>
`;
}

/**
 * Comfort for people whose browser runs scripts: the page's name is in view, filters apply at once, SQL can be copied, Escape closes the filters, and
 * tables are open on paper in older browsers too. Every page works without it.
 */
const SCRIPT = `'use strict';
for (const select of document.querySelectorAll('.panel select')) {
  select.addEventListener('change', () => select.form.requestSubmit());
}
const current = document.querySelector('.top nav [aria-current]');
if (current) current.scrollIntoView({ block: 'nearest', inline: 'nearest' });
const filters = document.querySelector('.filters');
if (filters) {
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !filters.open) return;
    filters.open = false;
    filters.querySelector('summary').focus();
  });
}
for (const pre of document.querySelectorAll('.query pre')) {
  if (!navigator.clipboard) break;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(pre.querySelector('code').textContent);
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Select and copy the text';
    }
  });
  button.addEventListener('blur', () => { button.textContent = 'Copy'; });
  pre.before(button);
}
let closed = [];
addEventListener('beforeprint', () => {
  closed = [...document.querySelectorAll('.folded:not([open])')];
  for (const details of closed) details.open = true;
});
addEventListener('afterprint', () => {
  for (const details of closed) details.open = false;
});
`;

/** Paths of the style sheet and the script. They hold nothing of the warehouse, so the login may show them. */
export const ASSETS = { style: '/assets/style.css', script: '/assets/script.js' } as const;

const CONTENT: ReadonlyMap<string, { readonly type: string; readonly text: string }> = new Map([
  [ASSETS.style, { type: 'text/css', text: styleSheet }],
  [ASSETS.script, { type: 'text/javascript', text: SCRIPT }],
]);

/** Answers a request for an asset; null if the path is none. */
export function assetAt(path: string, ifNoneMatch: string | undefined): Answer | null {
  const found = CONTENT.get(path);
  if (found === undefined) return null;
  const etag = `"${createHash('sha256').update(found.text).digest('base64url').slice(0, 22)}"`;
  const headers = { etag, 'cache-control': 'no-cache', 'content-type': `${found.type}; charset=utf-8` };
  const isKnown = ifNoneMatch?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag) ?? false;
  return isKnown ? { status: 304, body: '', headers } : { status: 200, body: found.text, headers };
}
