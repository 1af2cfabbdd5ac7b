import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { html, raw } from 'hono/html';
import { UsageError } from '../core/errors.ts';
import { ADMIN_PATH, type Controls, readBody } from './admin.ts';
import type { JournalEntry } from './journal.ts';
import { checkToday } from './options.ts';
import { DEFAULT_QUIRKS, type Quirks } from './quirks.ts';
import type { Access } from './request.ts';

/** The path of the page that shows the emulator to people. */
export const PAGE_PATH = '/';

type Markup = ReturnType<typeof html>;

/** What the forms of the page do. */
const ACTIONS: ReadonlyMap<string, (controls: Controls, form: URLSearchParams) => void> = new Map([
  ['today', (controls, form) => controls.setToday(checkToday(form.get('today')))],
  ['forget-requests', (controls) => controls.resetJournal()],
  ['reset', (controls) => controls.reset()],
]);

/**
 * Responds with the page, or performs what one of its forms asks for and leads back to it. The same access is needed as
 * below `/__admin`.
 */
export async function answerPage(
  controls: Controls,
  access: Access,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const refusal = access.refusalOf(request);
  if (refusal !== null) return send(response, refusal.status, `${refusal.message}\n`, refusal.headers);
  if (request.method === 'POST') {
    const problem = await perform(controls, request);
    // A client that disconnects while it sends its body gets no response.
    if (request.destroyed && !request.complete) return;
    if (problem === null) return send(response, 303, '', { location: PAGE_PATH });
    return send(response, 400, await pageOf(controls, problem), HTML);
  }
  if (request.method === 'GET') return send(response, 200, await pageOf(controls, null), HTML);
  send(response, 405, 'see GET /\n', { allow: 'GET, POST' });
}

/** Performs a form. Returns what is wrong with it, or null. */
async function perform(controls: Controls, request: IncomingMessage): Promise<string | null> {
  try {
    const form = new URLSearchParams(await readBody(request));
    const action = ACTIONS.get(form.get('action') ?? '');
    if (action === undefined) return 'There is no such form.';
    action(controls, form);
    return null;
  } catch (error) {
    if (request.destroyed && !request.complete) return null;
    if (error instanceof UsageError) return `${error.message}; ${error.hint ?? ''}`;
    throw error;
  }
}

const STYLE = `
:root { color-scheme: light dark; --paper: #fff; --ink: #15181e; --ink-2: #5a6270; --ink-3: #9aa1ad; --hairline: #e7e9ed; --accent: #3b4cca; --failed: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --paper: #101318; --ink: #e9ebef; --ink-2: #a2a9b6; --ink-3: #6d7582; --hairline: #262b34; --accent: #97a3ff; --failed: #ff8a80; } }
*, *::before, *::after { box-sizing: border-box; }
html { text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 0.9375rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", Arial, sans-serif; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
main { max-width: 1120px; margin: 0 auto; padding: 32px 24px 48px; }
h1, h2, p, dl, dd, table, pre { margin: 0; }
h1 { font-size: 1.6875rem; line-height: 1.25; font-weight: 650; }
h2 { font-size: 1rem; font-weight: 650; margin-top: 34px; }
.sentence { margin-top: 6px; max-width: 40em; font-size: 1.0625rem; color: var(--ink-2); }
.sub { font-size: 0.8125rem; color: var(--ink-2); }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 4px 24px; margin-top: 8px; }
dt { color: var(--ink-2); }
dd > * { vertical-align: middle; }
code, pre { font: 0.8125rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre-wrap; }
.forms { display: flex; flex-wrap: wrap; gap: 12px 24px; align-items: end; margin-top: 18px; }
label { display: grid; gap: 2px; font-size: 0.8125rem; color: var(--ink-2); }
.forms form { display: flex; gap: 8px; align-items: end; }
button, input { font: inherit; font-size: 0.875rem; color: var(--ink); background: var(--paper); border: 1px solid var(--ink-3); border-radius: 4px; padding: 5px 10px; min-height: 36px; }
button { font-weight: 600; cursor: pointer; }
button:hover { border-color: var(--accent); color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
a { color: inherit; text-decoration-color: var(--ink-3); text-underline-offset: 3px; }
.problem { color: var(--failed); margin-top: 12px; }
.scroll { overflow-x: auto; margin-top: 8px; }
table { border-collapse: collapse; width: 100%; font-size: 0.8125rem; }
th { text-align: left; font-weight: 400; color: var(--ink-2); }
th, td { padding: 5px 16px 5px 0; border-bottom: 1px solid var(--hairline); vertical-align: top; }
td, th { overflow-wrap: normal; }
td.name { min-width: 7rem; overflow-wrap: anywhere; }
time { white-space: nowrap; }
td.wide { min-width: 16rem; overflow-wrap: anywhere; }
.number { text-align: right; white-space: nowrap; }
summary { cursor: pointer; }
summary:hover { color: var(--accent); }
@media (max-width: 600px) { main { padding: 24px 16px 32px; } dl { grid-template-columns: minmax(0, 1fr); gap: 0; } dd + dt { margin-top: 8px; } }
`;

const HTML: Readonly<Record<string, string>> = { 'content-type': 'text/html; charset=utf-8' };

/** Nothing is loaded, no other site may frame the page, and it has no script. */
const SECURITY: Readonly<Record<string, string>> = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  'x-content-type-options': 'nosniff',
  // Without a referrer, browsers would not name the origin of a form either.
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
};

function send(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>>,
): void {
  const bytes = Buffer.from(body);
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': bytes.length,
    ...SECURITY,
    ...headers,
  });
  response.end(bytes);
}

async function pageOf(controls: Controls, problem: string | null): Promise<string> {
  const journal = controls.journal();
  const failed = problem === null ? '' : html`<p class="problem" role="alert">${problem}</p>`;
  return String(
    await html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Daywalk emulator</title><link rel="icon" href="data:,">
<style>${raw(STYLE)}</style></head>
<body><main><h1>Daywalk emulator</h1>
<p class="sentence">The service on this machine, with ${controls.days().days.length === 0 ? 'an organization that is made up' : 'the given days below'}. It is <time>${controls.today()}</time>; ${count(journal.requests, 'request')} came since the start or the last reset.</p>
${failed}
${formsHtml(controls)}
${stateHtml(controls)}
${rulesHtml(controls)}
${journalHtml(controls)}
</main></body></html>
`,
  );
}

function formsHtml(controls: Controls): Markup {
  return html`<div class="forms">
<form method="post"><input type="hidden" name="action" value="today"><label>Current day<input type="date" name="today" value="${controls.today()}" required></label><button>Set the day</button></form>
<form method="post"><input type="hidden" name="action" value="forget-requests"><button>Forget the requests</button></form>
<form method="post"><input type="hidden" name="action" value="reset"><button>Reset everything</button></form>
</div>`;
}

/** Days that are listed one by one. */
const DAYS_MAX = 31;

function stateHtml(controls: Controls): Markup {
  const { days, removed } = controls.days();
  const sessions = controls.sessions();
  const shown = days.slice(-DAYS_MAX);
  const listed = shown.map(({ stream, date, rows }) => `${stream} ${date}: ${count(rows, 'row')}`.trim());
  const more = days.length - shown.length;
  return html`<h2>State</h2>
<dl><dt>Quirks that are not the default</dt><dd>${quirksHtml(controls.quirks())}</dd>
<dt>Days that are given</dt><dd>${days.length === 0 ? 'none: all rows are generated' : html`<details><summary>${count(days.length, 'day')} of a stream</summary>${more > 0 ? `${more} earlier, and ` : ''}${listed.join(', ')}</details>`}</dd>
${removed.length === 0 ? '' : html`<dt>Removed from them</dt><dd>${cut(removed.join('; '), CHARS_MAX.json)}</dd>`}
<dt>Sessions</dt><dd>${sessions.length === 0 ? 'none' : html`${sessions.length}, the last one ${sessions.at(-1)?.status} on ${cut(sessions.at(-1)?.computerId ?? '', CHARS_MAX.name)}`}</dd>
<dt>Also here</dt><dd><a href="/openapi.json">the OpenAPI document</a>, <a href="${ADMIN_PATH}">what can be controlled</a></dd></dl>`;
}

function quirksHtml(quirks: Quirks): Markup | string {
  const wanted = new Map<string, unknown>(Object.entries(DEFAULT_QUIRKS));
  const changed = Object.entries(quirks).filter(
    // The JWT is a key, and the page shows none.
    ([name, value]) => name !== 'sessionsJwt' && JSON.stringify(value) !== JSON.stringify(wanted.get(name)),
  );
  return changed.length === 0
    ? 'none'
    : html`<code>${cut(JSON.stringify(Object.fromEntries(changed)), CHARS_MAX.json)}</code>`;
}

function rulesHtml(controls: Controls): Markup {
  const rules = controls.rules();
  if (rules.length === 0) return html`<h2>Fault rules</h2><p class="sub">none</p>`;
  const counts = controls.journal().rules;
  return html`<h2>Fault rules</h2><div class="scroll" tabindex="0" role="region" aria-label="Fault rules"><table><thead><tr><th scope="col">Rule</th><th scope="col">What it does</th><th scope="col" class="number">Matches</th><th scope="col" class="number">Firings</th><th scope="col" class="number">Without effect</th></tr></thead>
<tbody>${rules.map((rule, index) => {
    const { id = '', matches = 0, firings = 0, missed = 0 } = counts[index] ?? {};
    return html`<tr><td class="name">${cut(id, CHARS_MAX.name)}</td><td class="wide"><code>${cut(JSON.stringify({ match: rule.match, when: rule.when, action: rule.action }), CHARS_MAX.json)}</code></td><td class="number">${matches}</td><td class="number">${firings}</td><td class="number">${missed}</td></tr>`;
  })}</tbody></table></div>`;
}

/** Requests that the page lists. */
const REQUESTS_MAX = 50;

function journalHtml(controls: Controls): Markup {
  const requests = controls.journal().recent.slice(-REQUESTS_MAX).reverse();
  if (requests.length === 0) return html`<h2>Requests</h2><p class="sub">none yet</p>`;
  return html`<h2>Requests</h2><p class="sub">the newest first, at most ${REQUESTS_MAX}; keys are hidden, long texts are cut</p>
<div class="scroll" tabindex="0" role="region" aria-label="Requests"><table><thead><tr><th scope="col">Status</th><th scope="col">Method</th><th scope="col">Address</th><th scope="col">Role</th><th scope="col" class="number">ms</th><th scope="col">Rule</th></tr></thead>
<tbody>${requests.map(requestHtml)}</tbody></table></div>`;
}

function requestHtml({ method, path, query, role, status, ms, rule, headers, body }: JournalEntry): Markup {
  const address = query === '' ? path : `${path}?${query}`;
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${cut(value, CHARS_MAX.header)}`);
  const sent = body === null ? head : [...head, '', cut(body.text, CHARS_MAX.body)];
  return html`<tr><td>${status ?? '–'}</td><td>${method}</td><td class="wide"><details><summary>${cut(address, CHARS_MAX.address)}</summary><pre>${sent.join('\n')}</pre></details></td><td>${role ?? '–'}</td><td class="number">${ms === null ? '–' : ms.toFixed(1)}</td><td class="name">${cut(rule ?? '', CHARS_MAX.name)}</td></tr>`;
}

/** Characters of a text that the page shows. */
const CHARS_MAX = { name: 80, header: 200, address: 300, json: 1_000, body: 1_000 } as const;

function cut(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax).toWellFormed()}…`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
